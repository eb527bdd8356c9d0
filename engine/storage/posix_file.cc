#include "engine/storage/posix_file.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/storage/errors.h"
#include "engine/storage/posix_stat.h"

namespace cairn::storage {

namespace {

// Far below what the kernel reads in one call, so that less than asked for means the file's end.
constexpr size_t kMaxRead = size_t{1} << 30;

// Full pages from the kernel, or none, of which `bytes` are shown.
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

struct flock ByteRange(short type, int64_t offset, int64_t count) {
  struct flock range = {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(offset);
  range.l_len = static_cast<off_t>(count);
  return range;
}

}  // namespace

PosixFile::~PosixFile() {
  if (!owner_.is_here()) return;
  if (locked_) {
    struct flock all = ByteRange(F_UNLCK, 0, 0);
    ::fcntl(fd_.get(), F_OFD_SETLK, &all);
  }
  if (locked_whole_) ::flock(fd_.get(), LOCK_UN);
}

absl::StatusOr<int64_t> PosixFile::Size() const {
  const std::optional<PosixStat> info = StatOf(fd_.get());
  if (!info.has_value()) return ErrnoStatus(errno, path_, "ask for the size");
  return info->size;
}

absl::StatusOr<int64_t> PosixFile::AllocatedSize() const {
  const std::optional<PosixStat> info = StatOf(fd_.get());
  if (!info.has_value()) return ErrnoStatus(errno, path_, "ask for the disk space");
  return info->allocated;
}

absl::Status PosixFile::ReadAt(int64_t offset, MutableBytes dst) const {
  const auto size = static_cast<int64_t>(dst.size());
  if (!RangeFits(offset, size, INT64_MAX)) return PastEnd(offset, size);
  for (size_t done = 0; done < dst.size();) {
    const MutableBytes rest = dst.subspan(done);
    const auto at = static_cast<off_t>(offset + static_cast<int64_t>(done));
    const ssize_t n =
        RetryInterrupted([&] { return ::pread(fd_.get(), rest.data(), rest.size(), at); });
    if (n < 0) {
      return ErrnoStatus(errno, path_, absl::StrFormat("read %d bytes at %d", rest.size(), at));
    }
    if (n == 0) return PastEnd(offset, size);
    done += static_cast<size_t>(n);
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> PosixFile::ReadSome(int64_t offset, MutableBytes dst) const {
  if (offset < 0) return PastEnd(offset, static_cast<int64_t>(dst.size()));
  dst = dst.first(std::min(dst.size(), static_cast<size_t>(INT64_MAX - offset)));
  size_t done = 0;
  while (done < dst.size()) {
    const MutableBytes part = dst.subspan(done, std::min(dst.size() - done, kMaxRead));
    const auto at = static_cast<off_t>(offset + static_cast<int64_t>(done));
    const ssize_t n =
        RetryInterrupted([&] { return ::pread(fd_.get(), part.data(), part.size(), at); });
    if (n < 0) {
      return ErrnoStatus(errno, path_, absl::StrFormat("read %d bytes at %d", part.size(), at));
    }
    done += static_cast<size_t>(n);
    if (static_cast<size_t>(n) < part.size()) break;
  }
  return done;
}

absl::Status PosixFile::WriteAt(int64_t offset, Bytes src) {
  CAIRN_RETURN_IF_ERROR(CheckWritable(offset, static_cast<int64_t>(src.size())));
  for (size_t done = 0; done < src.size();) {
    const Bytes rest = src.subspan(done);
    const auto at = static_cast<off_t>(offset + static_cast<int64_t>(done));
    const ssize_t n =
        RetryInterrupted([&] { return ::pwrite(fd_.get(), rest.data(), rest.size(), at); });
    if (n <= 0) {
      // Nothing written without an error is a broken disk as well; trying again would never end.
      return ErrnoStatus(n < 0 ? errno : EIO, path_,
                         absl::StrFormat("write %d bytes at %d", rest.size(), at));
    }
    done += static_cast<size_t>(n);
  }
  return absl::OkStatus();
}

absl::Status PosixFile::Truncate(int64_t size) {
  CAIRN_RETURN_IF_ERROR(CheckWritable(size, 0));
  if (RetryInterrupted([&] { return ::ftruncate(fd_.get(), static_cast<off_t>(size)); }) != 0) {
    return ErrnoStatus(errno, path_, absl::StrFormat("set the size to %d", size));
  }
  return absl::OkStatus();
}

absl::Status PosixFile::AllocateFromEnd(int64_t size, int mode) {
  CAIRN_RETURN_IF_ERROR(CheckWritable(size, 0));
  CAIRN_ASSIGN_OR_RETURN(const int64_t old_size, Size());
  if (size <= old_size) return absl::OkStatus();
  const auto start = static_cast<off_t>(old_size);
  const auto length = static_cast<off_t>(size - old_size);
  if (RetryInterrupted([&] { return ::fallocate(fd_.get(), mode, start, length); }) == 0) {
    return absl::OkStatus();
  }
  return ErrnoStatus(errno, path_, absl::StrFormat("reserve space for %d bytes", size));
}

absl::Status PosixFile::Reserve(int64_t size) {
  const absl::Status status = AllocateFromEnd(size, 0);
  return absl::IsUnimplemented(status) ? Truncate(size) : status;
}

absl::Status PosixFile::ReservePastEnd(int64_t size) {
  return AllocateFromEnd(size, FALLOC_FL_KEEP_SIZE);
}

absl::Status PosixFile::PunchHole(int64_t offset, int64_t size) {
  CAIRN_RETURN_IF_ERROR(CheckWritable(offset, size));
  if (size == 0) return absl::OkStatus();
  constexpr int kMode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  if (RetryInterrupted([&] { return ::fallocate(fd_.get(), kMode, offset, size); }) == 0) {
    return absl::OkStatus();
  }
  return ErrnoStatus(errno, path_, absl::StrFormat("free %d bytes at %d", size, offset));
}

absl::Status PosixFile::Sync(SyncMode mode) {
  const int result = RetryInterrupted(
      [&] { return mode == SyncMode::kData ? ::fdatasync(fd_.get()) : ::fsync(fd_.get()); });
  return result == 0 ? absl::OkStatus() : ErrnoStatus(errno, path_, "sync");
}

// An error shows in the Sync that follows.
void PosixFile::SyncSoon(int64_t offset, int64_t size) {
  if (size > 0) ::sync_file_range(fd_.get(), offset, size, SYNC_FILE_RANGE_WRITE);
}

absl::StatusOr<std::shared_ptr<const Mapping>> PosixFile::Map(int64_t offset, int64_t size,
                                                              int64_t headroom) const {
  CAIRN_ASSIGN_OR_RETURN(const int64_t file_size, Size());
  if (!RangeFits(offset, size, file_size)) return PastEnd(offset, size);
  if (headroom < 0)
    return InvalidArgument("%s: negative headroom %d of a mapping", path_, headroom);
  const int64_t lead = offset % ::sysconf(_SC_PAGESIZE);  // the kernel maps from a page's start
  const int64_t shown = size + std::min(headroom, INT64_MAX - offset - size);
  if (shown == 0) return std::make_shared<PosixMapping>(MutableBytes(), Bytes());
  const auto length = static_cast<size_t>(lead + shown);
  void* const start =
      ::mmap(nullptr, length, PROT_READ, MAP_SHARED, fd_.get(), static_cast<off_t>(offset - lead));
  if (start == MAP_FAILED) {
    if (headroom > 0) return Map(offset, size, 0);
    return ErrnoStatus(errno, path_, absl::StrFormat("map %d bytes at %d", size, offset));
  }
  // Mappings with headroom follow a live writer; disable readahead, for large folios slow its small
  // writes.
  if (headroom > 0) ::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_RANDOM);
  const MutableBytes pages(static_cast<std::byte*>(start), length);
  return std::make_shared<PosixMapping>(pages, pages.subspan(static_cast<size_t>(lead)));
}

absl::Status PosixFile::LockByte(int64_t offset, LockMode mode) {
  const bool exclusive = mode == LockMode::kExclusive;
  CAIRN_RETURN_IF_ERROR(exclusive ? CheckWritable(offset, 0)
                                  : CheckWritableRange(path_, offset, 0));
  struct flock lock = ByteRange(exclusive ? F_WRLCK : F_RDLCK, offset, 1);
  if (RetryInterrupted([&] { return ::fcntl(fd_.get(), F_OFD_SETLK, &lock); }) == 0) {
    locked_ = true;
    return absl::OkStatus();
  }
  if (errno == EAGAIN || errno == EACCES) return LockIsHeld(path_);
  return ErrnoStatus(errno, path_, absl::StrFormat("lock byte %d", offset));
}

absl::Status PosixFile::UnlockByte(int64_t offset) {
  CAIRN_RETURN_IF_ERROR(CheckWritableRange(path_, offset, 0));
  if (!owner_.is_here()) return absl::OkStatus();
  struct flock lock = ByteRange(F_UNLCK, offset, 1);
  if (RetryInterrupted([&] { return ::fcntl(fd_.get(), F_OFD_SETLK, &lock); }) == 0) {
    return absl::OkStatus();
  }
  return ErrnoStatus(errno, path_, absl::StrFormat("unlock byte %d", offset));
}

absl::StatusOr<bool> PosixFile::IsLocked(int64_t offset, int64_t count) const {
  CAIRN_RETURN_IF_ERROR(CheckLockRange(path_, offset, count));
  if (count == 0) return false;  // which the kernel takes for all that follow
  struct flock lock = ByteRange(F_WRLCK, offset, count);
  if (RetryInterrupted([&] { return ::fcntl(fd_.get(), F_OFD_GETLK, &lock); }) == 0) {
    return lock.l_type != F_UNLCK;
  }
  return ErrnoStatus(errno, path_,
                     absl::StrFormat("ask for locks on %d bytes at %d", count, offset));
}

absl::Status PosixFile::LockWhole() {
  if (RetryInterrupted([&] { return ::flock(fd_.get(), LOCK_EX | LOCK_NB); }) == 0) {
    locked_whole_ = true;
    return absl::OkStatus();
  }
  return errno == EWOULDBLOCK ? FileIsLocked(path_) : ErrnoStatus(errno, path_, "lock");
}

absl::Status PosixFile::CheckWritable(int64_t offset, int64_t size) const {
  if (!writable_) return FailedPrecondition("%s is open for reading only", path_);
  return CheckWritableRange(path_, offset, size);
}

absl::Status PosixFile::PastEnd(int64_t offset, int64_t size) const {
  CAIRN_ASSIGN_OR_RETURN(const int64_t file_size, Size());
  return storage::PastEnd(path_, offset, size, file_size);
}

}  // namespace cairn::storage
