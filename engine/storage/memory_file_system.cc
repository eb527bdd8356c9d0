#include "engine/storage/memory_file_system.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/mutex.h"
#include "engine/base/status.h"
#include "engine/storage/errors.h"

namespace cairn::storage {

namespace {

constexpr int64_t kMinCapacity = 4096;
constexpr int64_t kMaxCapacity = int64_t{1} << 40;

class MemoryMapping final : public Mapping {
 public:
  MemoryMapping(Bytes bytes, std::shared_ptr<const void> owner)
      : bytes_(bytes), owner_(std::move(owner)) {}
  Bytes bytes() const override { return bytes_; }
  bool follows_file() const override { return false; }

 private:
  const Bytes bytes_;
  const std::shared_ptr<const void> owner_;
};

}  // namespace

// State that all MemoryFiles over the same bytes share.
struct MemoryFile::Buffer {
  // A caller that writes to the result holds the mutex alone.
  MutableBytes Range(int64_t offset, int64_t length) ABSL_SHARED_LOCKS_REQUIRED(mutex) {
    return {bytes.get() + offset, static_cast<size_t>(length)};
  }
  absl::Status Resize(std::string_view name, int64_t new_size) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  bool CanLock(int64_t offset, LockMode mode, const MemoryFile* holder) const
      ABSL_SHARED_LOCKS_REQUIRED(mutex);

  SharedMutex mutex;
  std::shared_ptr<std::byte[]> bytes ABSL_GUARDED_BY(mutex);
  int64_t size ABSL_GUARDED_BY(mutex) = 0;
  int64_t capacity ABSL_GUARDED_BY(mutex) = 0;
  // Keyed by byte and holder.
  std::map<std::pair<int64_t, const MemoryFile*>, LockMode> locks ABSL_GUARDED_BY(mutex);
  const MemoryFile* whole_holder ABSL_GUARDED_BY(mutex) = nullptr;
  bool borrowed = false;  // set before any other thread sees it, then constant
};

// Makes new bytes zero, also where the file was larger before and had other bytes.
absl::Status MemoryFile::Buffer::Resize(std::string_view name, int64_t new_size) {
  if (new_size > capacity) {
    if (new_size > kMaxCapacity) {
      return AtPath(name,
                    ResourceExhausted("%d bytes in memory, at most %d", new_size, kMaxCapacity));
    }
    const int64_t wanted = std::max({new_size, 2 * capacity, kMinCapacity});
    const auto length = static_cast<size_t>(std::min(wanted, kMaxCapacity));
    std::shared_ptr<std::byte[]> moved(new (std::nothrow) std::byte[length]);
    if (moved == nullptr) return AtPath(name, ResourceExhausted("no memory for %d bytes", length));
    CopyBytes(Range(0, size), {moved.get(), length});
    bytes = std::move(moved);
    capacity = static_cast<int64_t>(length);
  }
  if (new_size > size) FillBytes(Range(size, new_size - size), std::byte{0});
  size = new_size;
  return absl::OkStatus();
}

bool MemoryFile::Buffer::CanLock(int64_t offset, LockMode mode, const MemoryFile* holder) const {
  for (auto held = locks.lower_bound({offset, nullptr});
       held != locks.end() && held->first.first == offset; ++held) {
    const bool both_shared = mode == LockMode::kShared && held->second == LockMode::kShared;
    if (held->first.second != holder && !both_shared) return false;
  }
  return true;
}

MemoryFile::MemoryFile(std::string name)
    : MemoryFile(std::move(name), true, std::make_shared<Buffer>()) {}

MemoryFile::MemoryFile(std::string name, Bytes bytes)
    : MemoryFile(std::move(name), false, std::make_shared<Buffer>()) {
  // The bytes are never written. NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
  buffer_->bytes = {std::shared_ptr<void>(), const_cast<std::byte*>(bytes.data())};
  buffer_->size = buffer_->capacity = std::ssize(bytes);
  buffer_->borrowed = true;
}

MemoryFile::MemoryFile(std::string name, bool writable, std::shared_ptr<Buffer> buffer)
    : name_(std::move(name)), writable_(writable), buffer_(std::move(buffer)) {}

MemoryFile::~MemoryFile() {
  const WriterLock lock(buffer_->mutex);
  std::erase_if(buffer_->locks, [this](const auto& held) { return held.first.second == this; });
  if (buffer_->whole_holder == this) buffer_->whole_holder = nullptr;
}

std::unique_ptr<MemoryFile> MemoryFile::Reopen(std::string name, bool writable) const {
  return std::unique_ptr<MemoryFile>(
      new MemoryFile(std::move(name), writable && !buffer_->borrowed, buffer_));
}

absl::StatusOr<int64_t> MemoryFile::Size() const {
  const ReaderLock lock(buffer_->mutex);
  return buffer_->size;
}

absl::StatusOr<int64_t> MemoryFile::AllocatedSize() const {
  const ReaderLock lock(buffer_->mutex);
  return buffer_->capacity;
}

absl::Status MemoryFile::ReadAt(int64_t offset, MutableBytes dst) const {
  CAIRN_ASSIGN_OR_RETURN(const size_t size, ReadSome(offset, dst));
  if (size == dst.size()) return absl::OkStatus();
  return PastEnd(name_, offset, std::ssize(dst), *Size());
}

absl::StatusOr<size_t> MemoryFile::ReadSome(int64_t offset, MutableBytes dst) const {
  const ReaderLock lock(buffer_->mutex);
  if (offset < 0) {
    return PastEnd(name_, offset, std::ssize(dst), buffer_->size);
  }
  const int64_t rest = std::max<int64_t>(buffer_->size - offset, 0);
  const int64_t size = std::min(rest, static_cast<int64_t>(dst.size()));
  if (size > 0) CopyBytes(buffer_->Range(offset, size), dst.first(static_cast<size_t>(size)));
  return static_cast<size_t>(size);
}

absl::Status MemoryFile::WriteAt(int64_t offset, Bytes src) {
  const auto size = static_cast<int64_t>(src.size());
  CAIRN_RETURN_IF_ERROR(CheckWritable(offset, size));
  if (src.empty()) return absl::OkStatus();
  const WriterLock lock(buffer_->mutex);
  if (offset + size > buffer_->size) CAIRN_RETURN_IF_ERROR(buffer_->Resize(name_, offset + size));
  const MutableBytes there = buffer_->Range(offset, size);
  // Writing equal bytes again is skipped, because other threads may read them through their
  // mappings.
  if (std::memcmp(there.data(), src.data(), src.size()) == 0) return absl::OkStatus();
  // `src` may be a mapping of this very file.
  std::memmove(there.data(), src.data(), src.size());
  return absl::OkStatus();
}

absl::Status MemoryFile::Truncate(int64_t size) {
  CAIRN_RETURN_IF_ERROR(CheckWritable(size, 0));
  const WriterLock lock(buffer_->mutex);
  return buffer_->Resize(name_, size);
}

absl::Status MemoryFile::Reserve(int64_t size) {
  CAIRN_RETURN_IF_ERROR(CheckWritable(size, 0));
  // Every commit calls this, so the message is not formatted.
  return absl::UnimplementedError("a file in memory takes no disk space");
}

absl::Status MemoryFile::PunchHole(int64_t /*offset*/, int64_t /*size*/) {
  return AtPath(name_, Unimplemented("a file in memory has no holes"));
}

absl::Status MemoryFile::Sync(SyncMode /*mode*/) { return absl::OkStatus(); }

absl::StatusOr<std::shared_ptr<const Mapping>> MemoryFile::Map(int64_t offset, int64_t size,
                                                               int64_t /*headroom*/) const {
  const ReaderLock lock(buffer_->mutex);
  if (!RangeFits(offset, size, buffer_->size)) {
    return PastEnd(name_, offset, size, buffer_->size);
  }
  return std::make_shared<MemoryMapping>(buffer_->Range(offset, size), buffer_->bytes);
}

absl::StatusOr<FileIdentity> MemoryFile::Identity() const {
  // No disk has this device number.
  return FileIdentity{.device = UINT64_MAX, .inode = reinterpret_cast<uintptr_t>(buffer_.get())};
}

absl::Status MemoryFile::LockByte(int64_t offset, LockMode mode) {
  CAIRN_RETURN_IF_ERROR(mode == LockMode::kExclusive ? CheckWritable(offset, 0)
                                                     : CheckWritableRange(name_, offset, 0));
  // nothing conflicts: borrowed bytes have only shared locks
  if (buffer_->borrowed) return absl::OkStatus();
  const WriterLock lock(buffer_->mutex);
  if (!buffer_->CanLock(offset, mode, this)) return LockIsHeld(name_);
  buffer_->locks[{offset, this}] = mode;
  return absl::OkStatus();
}

absl::Status MemoryFile::UnlockByte(int64_t offset) {
  CAIRN_RETURN_IF_ERROR(CheckWritableRange(name_, offset, 0));
  const WriterLock lock(buffer_->mutex);
  buffer_->locks.erase({offset, this});
  return absl::OkStatus();
}

absl::StatusOr<bool> MemoryFile::IsLocked(int64_t offset, int64_t count) const {
  CAIRN_RETURN_IF_ERROR(CheckLockRange(name_, offset, count));
  const ReaderLock lock(buffer_->mutex);
  for (auto held = buffer_->locks.lower_bound({offset, nullptr});
       held != buffer_->locks.end() && held->first.first - offset < count; ++held) {
    if (held->first.second != this) return true;
  }
  return false;
}

absl::Status MemoryFile::LockWhole() {
  const WriterLock lock(buffer_->mutex);
  const bool free = buffer_->whole_holder == nullptr || buffer_->whole_holder == this;
  if (!free) return FileIsLocked(name_);
  buffer_->whole_holder = this;
  return absl::OkStatus();
}

absl::Status MemoryFile::CheckWritable(int64_t offset, int64_t size) const {
  if (!writable_) return FailedPrecondition("%s is open for reading only", name_);
  return CheckWritableRange(name_, offset, size);
}

MemoryFileSystem::MemoryFileSystem(const std::string& name, Bytes bytes) {
  files_[name] = std::make_unique<MemoryFile>(name, bytes);
}

absl::StatusOr<std::unique_ptr<File>> MemoryFileSystem::Open(const std::string& path,
                                                             FileMode mode) {
  const MutexLock lock(mutex_);
  auto found = files_.find(path);
  if (mode == FileMode::kCreateNew) {
    if (found != files_.end()) return ErrnoStatus(EEXIST, path, "create");
    found = files_.emplace(path, std::make_unique<MemoryFile>(path)).first;
  }
  if (found == files_.end()) return ErrnoStatus(ENOENT, path, "open");
  std::unique_ptr<MemoryFile> file = found->second->Reopen(path, mode != FileMode::kRead);
  if (mode == FileMode::kRead || file->writable()) return file;
  return FailedPrecondition("%s is read-only", path);
}

absl::Status MemoryFileSystem::Rename(const std::string& from, const std::string& to,
                                      bool replace) {
  const MutexLock lock(mutex_);
  const auto found = files_.find(from);
  if (found == files_.end()) return ErrnoStatus(ENOENT, from, "rename");
  if (!replace && files_.contains(to)) return ErrnoStatus(EEXIST, to, "rename to");
  std::unique_ptr<MemoryFile> file = std::move(found->second);
  files_.erase(found);
  files_[to] = std::move(file);
  return absl::OkStatus();
}

absl::Status MemoryFileSystem::Remove(const std::string& path) {
  const MutexLock lock(mutex_);
  return files_.erase(path) > 0 ? absl::OkStatus() : ErrnoStatus(ENOENT, path, "remove");
}

absl::StatusOr<FileIdentity> MemoryFileSystem::Identity(const std::string& path) {
  const MutexLock lock(mutex_);
  const auto found = files_.find(path);
  if (found == files_.end()) return ErrnoStatus(ENOENT, path, "look up");
  return found->second->Identity();
}

}  // namespace cairn::storage

namespace cairn {

std::shared_ptr<FileSystem> MakeMemoryFileSystem() {
  return std::make_unique<storage::MemoryFileSystem>();
}

}  // namespace cairn
