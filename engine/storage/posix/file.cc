#include "engine/storage/posix/file.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <optional>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "engine/base/checked.h"
#include "engine/base/extent.h"
#include "engine/base/status.h"
#include "engine/storage/errors.h"
#include "engine/storage/posix/allocation.h"
#include "engine/storage/posix/file_locks.h"
#include "engine/storage/posix/lock_holders.h"
#include "engine/storage/posix/lock_queue.h"
#include "engine/storage/posix/watch.h"

namespace cairn::storage {

namespace {

// This is far below what the kernel reads in one call, so a shorter read means the file's end.
constexpr size_t kMaxRead = size_t{1} << 30;
// C-Blosc2 uses 16 bytes of its lock file. A large file of that name holds somebody's data.
constexpr int64_t kMaxLockFile = 4096;

// A mapping of full pages of the kernel, or of none. It shows `bytes` of them.
class PosixMapping final : public Mapping {
 public:
  PosixMapping(MutableBytes pages, Bytes bytes) : pages_(pages), bytes_(bytes) {}
  PosixMapping(const PosixMapping&) = delete;
  PosixMapping& operator=(const PosixMapping&) = delete;
  ~PosixMapping() override {
    if (!pages_.empty()) ::munmap(pages_.data(), pages_.size());
  }
  Bytes bytes() const override { return bytes_; }

 private:
  const MutableBytes pages_;
  const Bytes bytes_;
};

class PosixFile final : public File {
 public:
  PosixFile(GuardedFd fd, std::string path, bool of_frames)
      : fd_(std::move(fd)), path_(std::move(path)), of_frames_(of_frames), locks_(fd_, path_) {}
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;

  ~PosixFile() override {
    // A file that was locked is a frame in use, or its lock file. For these it is enough to ask for
    // the locks of others, who have little reason to take any. A file that was not locked may be
    // any file, except the chunk files of a sparse frame, which are read without locks.
    const bool is_locked = locks_.were_taken();
    const bool is_chunk = of_frames_ && !is_locked && !fd_.writable();
    UnsharedFd& of_locks = locks_.End();
    if (is_chunk || (is_locked && !IsLockedByOthers(fd_.get()))) {
      fd_.CloseNow();
    } else {
      fd_.CloseAlso(of_locks);
    }
  }

  absl::StatusOr<int64_t> Size() const override {
    CAIRN_ASSIGN_OR_RETURN(const PosixStat info, StatOf(fd_.get(), path_, "ask for the size"));
    return info.size;
  }

  absl::StatusOr<int64_t> AllocatedSize() const override {
    CAIRN_ASSIGN_OR_RETURN(const PosixStat info,
                           StatOf(fd_.get(), path_, "ask for the disk space"));
    return info.allocated;
  }

  absl::Status ReadAt(int64_t offset, MutableBytes dst) const override {
    const int64_t size = std::ssize(dst);
    if (!RangeFits(offset, size, INT64_MAX)) return PastEnd(offset, size);
    for (int64_t at = offset; !dst.empty();) {
      CAIRN_ASSIGN_OR_RETURN(const size_t n, ReadPiece(at, dst));
      if (n == 0) return PastEnd(offset, size);
      at += static_cast<int64_t>(n);
      dst = dst.subspan(n);
    }
    return absl::OkStatus();
  }

  // Makes one system call for each GiB.
  absl::StatusOr<size_t> ReadSome(int64_t offset, MutableBytes dst) const override {
    if (offset < 0) return PastEnd(offset, std::ssize(dst));
    dst = dst.first(std::min(dst.size(), static_cast<size_t>(INT64_MAX - offset)));
    size_t done = 0;
    while (done < dst.size()) {
      const MutableBytes part = dst.subspan(done, std::min(dst.size() - done, kMaxRead));
      CAIRN_ASSIGN_OR_RETURN(const size_t n, ReadPiece(offset + static_cast<int64_t>(done), part));
      done += n;
      if (n < part.size()) break;
    }
    return done;
  }

  absl::Status WriteAt(int64_t offset, Bytes src) override {
    CAIRN_RETURN_IF_ERROR(CheckWritable(offset, std::ssize(src)));
    while (!src.empty()) {
      const ssize_t n =
          RetryInterrupted([&] { return ::pwrite(fd_.get(), src.data(), src.size(), offset); });
      if (n <= 0) {
        // A write of nothing without an error means a broken disk as well. Trying again would never
        // end.
        return ErrnoStatus(n < 0 ? errno : EIO, path_,
                           absl::StrFormat("write %d bytes at %d", src.size(), offset));
      }
      offset += n;
      src = src.subspan(static_cast<size_t>(n));
    }
    return absl::OkStatus();
  }

  absl::Status Truncate(int64_t size) override {
    CAIRN_RETURN_IF_ERROR(CheckWritable(size, 0));
    return Try([&] { return ::ftruncate(fd_.get(), size); }, "set the size to %d", size);
  }

  // Reserves space only for the bytes after the present end, so that holes stay holes. If the file
  // system cannot reserve space, the file grows all the same.
  absl::Status Reserve(int64_t size) override {
    CAIRN_RETURN_IF_ERROR(CheckWritable(size, 0));
    CAIRN_ASSIGN_OR_RETURN(const int64_t end, Size());
    if (size <= end) return absl::OkStatus();
    absl::Status status =
        Try([&] { return ::fallocate(fd_.get(), 0, end, size - end); }, "grow to %d bytes", size);
    if (status.ok()) return status;
    const bool has_space =
        absl::IsUnimplemented(status) || storage::Allocate(fd_.get(), end, size - end) == 0;
    return has_space ? Truncate(size) : status;
  }

  absl::Status Allocate(int64_t offset, int64_t size) override {
    CAIRN_RETURN_IF_ERROR(CheckWritable(offset, size));
    if (size == 0) return absl::OkStatus();
    return Try([&] { return storage::Allocate(fd_.get(), offset, size); }, "reserve %d bytes at %d",
               size, offset);
  }

  absl::Status PunchHole(int64_t offset, int64_t size) override {
    CAIRN_RETURN_IF_ERROR(CheckWritable(offset, size));
    if (size == 0) return absl::OkStatus();
    constexpr int kMode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    return Try([&] { return ::fallocate(fd_.get(), kMode, offset, size); }, "free %d bytes at %d",
               size, offset);
  }

  absl::Status Sync(SyncMode mode) override {
    return Try([&] { return (mode == SyncMode::kData ? ::fdatasync : ::fsync)(fd_.get()); },
               "sync");
  }

  // An error shows in the next Sync.
  void SyncSoon(int64_t offset, int64_t size) override {
    if (size > 0) ::sync_file_range(fd_.get(), offset, size, SYNC_FILE_RANGE_WRITE);
  }

  // Maps all of the headroom, unless there is no address space for it.
  absl::StatusOr<std::shared_ptr<const Mapping>> Map(int64_t offset, int64_t size,
                                                     int64_t headroom) const override {
    CAIRN_ASSIGN_OR_RETURN(const int64_t file_size, Size());
    if (!RangeFits(offset, size, file_size)) return PastEnd(offset, size);
    if (headroom < 0)
      return AtPath(path_, InvalidArgument("negative headroom %d of a mapping", headroom));
    const int64_t lead = offset % ::sysconf(_SC_PAGESIZE);  // the kernel maps from a page's start
    const int64_t shown = size + std::min(headroom, INT64_MAX - offset - size);
    if (shown == 0) return std::make_shared<PosixMapping>(MutableBytes(), Bytes());
    const auto length = static_cast<size_t>(lead + shown);
    void* const start = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, fd_.get(), offset - lead);
    if (start == MAP_FAILED) {
      if (headroom > 0) return Map(offset, size, 0);
      return ErrnoStatus(errno, path_, absl::StrFormat("map %d bytes at %d", size, offset));
    }
    // Mappings with headroom follow a live writer. Readahead is turned off for them, because its
    // large folios slow the writer's small writes.
    if (headroom > 0) ::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_RANDOM);
    const MutableBytes pages(static_cast<std::byte*>(start), length);
    return std::make_shared<PosixMapping>(pages, pages.subspan(static_cast<size_t>(lead)));
  }

  // The File that holds a lock may take it again, also in the other mode.
  absl::Status LockByte(int64_t offset, LockMode mode) override {
    const bool exclusive = mode == LockMode::kExclusive;
    CAIRN_RETURN_IF_ERROR(exclusive ? CheckWritable(offset, 0)
                                    : CheckWritableRange(path_, offset, 0));
    const int error = locks_.Lock(offset, mode);
    return error == 0 ? absl::OkStatus() : LockStatus(error, offset);
  }

  absl::Status WaitForByte(int64_t offset, std::chrono::milliseconds timeout) override {
    CAIRN_RETURN_IF_ERROR(CheckWritable(offset, 0));
    // The queue needs room before the byte. Without that room waiters poll.
    if (offset < kQueueSize) return File::WaitForByte(offset, timeout);
    const int error = locks_.WaitFor(offset, timeout);
    return error == 0 ? absl::OkStatus() : LockStatus(error, offset);
  }

  absl::StatusOr<bool> HasWaiters(int64_t offset) const override {
    if (offset < kQueueSize) return false;
    return IsLocked(offset - kQueueSize, kQueueSize);
  }

  absl::Status UnlockByte(int64_t offset) override {
    CAIRN_RETURN_IF_ERROR(CheckWritableRange(path_, offset, 0));
    const int error = locks_.Unlock(offset);
    if (error == 0) return absl::OkStatus();
    return ErrnoStatus(error, path_, absl::StrFormat("unlock byte %d", offset));
  }

  absl::StatusOr<bool> IsLocked(int64_t offset, int64_t count) const override {
    CAIRN_ASSIGN_OR_RETURN(const std::optional<int64_t> byte, FindLocked(offset, count));
    return byte.has_value();
  }

  absl::StatusOr<std::vector<LockHolder>> LockHolders(int64_t offset,
                                                      int64_t count) const override {
    CAIRN_ASSIGN_OR_RETURN(const bool is_locked, IsLocked(offset, count));
    // To look at all processes takes longer than everything else that shows a frame to people.
    if (!is_locked && !locks_.Holds(offset, offset + count - 1)) return std::vector<LockHolder>();
    std::vector<LockHolder> holders = FindLockHolders(fd_.file(), offset, count);
    // These bytes may also be locked by processes that this one may not look at.
    std::vector<Extent> unknown = {{offset, offset + count}};
    while (!unknown.empty()) {
      const Extent bytes = unknown.back();
      unknown.pop_back();
      CAIRN_ASSIGN_OR_RETURN(const std::optional<int64_t> byte,
                             FindLocked(bytes.begin, bytes.size()));
      if (!byte.has_value()) continue;
      unknown.push_back({bytes.begin, *byte});
      unknown.push_back({*byte + 1, bytes.end});
      if (std::ranges::find(holders, *byte, &LockHolder::offset) != holders.end()) continue;
      holders.push_back({.offset = *byte});
    }
    return holders;
  }

  absl::StatusOr<std::unique_ptr<FileWatch>> Watch() const override {
    return WatchFile(fd_.get(), path_);
  }

  absl::Status LockWhole() override {
    CAIRN_ASSIGN_OR_RETURN(const PosixStat info, StatOf(fd_.get(), path_, "look at"));
    if (info.names > 1 || info.size > kMaxLockFile) {
      return AtPath(path_,
                    FailedPrecondition("expected a lock file of at most %d bytes with one "
                                       "name, got one of %d bytes with %d names; it is %s",
                                       kMaxLockFile, info.size, info.names, Described(info)));
    }
    const int error = locks_.LockWhole();
    if (error == 0) return absl::OkStatus();
    return error == EWOULDBLOCK ? FileIsLocked(path_) : ErrnoStatus(error, path_, "lock");
  }

  absl::StatusOr<FileIdentity> Identity() const override { return fd_.file(); }
  absl::StatusOr<int64_t> ModifiedAt() const override {
    CAIRN_ASSIGN_OR_RETURN(const PosixStat info, StatOf(fd_.get(), path_, "ask for the time of"));
    return info.modified;
  }

 private:
  // Repeats a system call that returns 0 on success. `action` names for messages what the call
  // does.
  template <typename Call, typename... Args>
  absl::Status Try(Call call, const absl::FormatSpec<Args...>& action, const Args&... args) const {
    if (RetryInterrupted(call) == 0) return absl::OkStatus();
    return ErrnoStatus(errno, path_, absl::StrFormat(action, args...));
  }

  // Tells why a byte could not be locked.
  absl::Status LockStatus(int error, int64_t offset) const {
    if (error == EAGAIN) return LockIsHeld(path_);
    return ErrnoStatus(error, path_, absl::StrFormat("lock byte %d", offset));
  }

  // Returns one of these bytes that another open file has locked, or nothing.
  absl::StatusOr<std::optional<int64_t>> FindLocked(int64_t offset, int64_t count) const {
    CAIRN_RETURN_IF_ERROR(CheckLockRange(path_, offset, count));
    std::optional<int64_t> byte;
    if (count == 0) return byte;
    const int error = locks_.FindLocked(offset, offset + (count - 1), byte);
    if (error == 0) return byte;
    return ErrnoStatus(error, path_,
                       absl::StrFormat("ask for locks on %d bytes at %d", count, offset));
  }

  // Makes one system call.
  absl::StatusOr<size_t> ReadPiece(int64_t offset, MutableBytes dst) const {
    const ssize_t n =
        RetryInterrupted([&] { return ::pread(fd_.get(), dst.data(), dst.size(), offset); });
    if (n >= 0) return static_cast<size_t>(n);
    return ErrnoStatus(errno, path_, absl::StrFormat("read %d bytes at %d", dst.size(), offset));
  }

  absl::Status CheckWritable(int64_t offset, int64_t size) const {
    if (!fd_.writable()) return FailedPrecondition("%s is open for reading only", path_);
    return CheckWritableRange(path_, offset, size);
  }

  absl::Status PastEnd(int64_t offset, int64_t size) const {
    CAIRN_ASSIGN_OR_RETURN(const int64_t file_size, Size());
    return storage::PastEnd(path_, offset, size, file_size);
  }

  GuardedFd fd_;
  const std::string path_;
  const bool of_frames_;
  FileLocks locks_;
};

}  // namespace

std::unique_ptr<File> MakePosixFile(GuardedFd fd, std::string path, bool of_frames) {
  return std::make_unique<PosixFile>(std::move(fd), std::move(path), of_frames);
}

}  // namespace cairn::storage
