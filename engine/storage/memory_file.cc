#include "engine/storage/memory_file.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/storage/buffer_mapping.h"
#include "engine/storage/errors.h"

namespace cairn::storage {

namespace {

constexpr int64_t kMinCapacity = 4096;
constexpr int64_t kMaxCapacity = int64_t{1} << 40;

}  // namespace

// What all MemoryFiles over the same bytes share.
struct MemoryFile::Buffer {
  explicit Buffer(std::string file_name) : name(std::move(file_name)) {}

  // These need the mutex held.
  MutableBytes Range(int64_t offset, int64_t length) {
    return {bytes.get() + offset, static_cast<size_t>(length)};
  }
  absl::Status Resize(int64_t new_size);
  bool CanLock(int64_t offset, LockMode mode, const MemoryFile* holder) const;

  const std::string name;
  std::shared_mutex mutex;
  std::shared_ptr<std::byte[]> bytes;
  int64_t size = 0;
  int64_t capacity = 0;
  // By byte and holder.
  std::map<std::pair<int64_t, const MemoryFile*>, LockMode> locks;
  const MemoryFile* whole_holder = nullptr;
};

// New bytes are zero, also where a larger file once had others.
absl::Status MemoryFile::Buffer::Resize(int64_t new_size) {
  if (new_size > capacity) {
    if (new_size > kMaxCapacity) {
      return ResourceExhausted("%s: %d bytes in memory, at most %d", name, new_size, kMaxCapacity);
    }
    const int64_t room = std::min(std::max({new_size, 2 * capacity, kMinCapacity}), kMaxCapacity);
    std::shared_ptr<std::byte[]> moved(new (std::nothrow) std::byte[static_cast<size_t>(room)]);
    if (moved == nullptr) return ResourceExhausted("%s: no memory for %d bytes", name, room);
    CopyBytes(Range(0, size), {moved.get(), static_cast<size_t>(room)});
    bytes = std::move(moved);
    capacity = room;
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

MemoryFile::MemoryFile(std::string name) : buffer_(std::make_shared<Buffer>(std::move(name))) {}

MemoryFile::MemoryFile(std::shared_ptr<Buffer> buffer) : buffer_(std::move(buffer)) {}

MemoryFile::~MemoryFile() {
  const std::unique_lock lock(buffer_->mutex);
  std::erase_if(buffer_->locks, [this](const auto& held) { return held.first.second == this; });
  if (buffer_->whole_holder == this) buffer_->whole_holder = nullptr;
}

std::unique_ptr<MemoryFile> MemoryFile::Reopen() const {
  return std::unique_ptr<MemoryFile>(new MemoryFile(buffer_));
}

absl::StatusOr<int64_t> MemoryFile::Size() const {
  const std::shared_lock lock(buffer_->mutex);
  return buffer_->size;
}

absl::StatusOr<int64_t> MemoryFile::AllocatedSize() const {
  const std::shared_lock lock(buffer_->mutex);
  return buffer_->capacity;
}

absl::Status MemoryFile::ReadAt(int64_t offset, MutableBytes dst) const {
  const std::shared_lock lock(buffer_->mutex);
  const auto size = static_cast<int64_t>(dst.size());
  if (offset >= 0 && size == 0) return absl::OkStatus();
  if (!RangeFits(offset, size, buffer_->size)) {
    return PastEnd(buffer_->name, offset, size, buffer_->size);
  }
  CopyBytes(buffer_->Range(offset, size), dst);
  return absl::OkStatus();
}

absl::StatusOr<size_t> MemoryFile::ReadSome(int64_t offset, MutableBytes dst) const {
  const std::shared_lock lock(buffer_->mutex);
  if (offset < 0) {
    return PastEnd(buffer_->name, offset, static_cast<int64_t>(dst.size()), buffer_->size);
  }
  const int64_t rest = std::max<int64_t>(buffer_->size - offset, 0);
  const int64_t size = std::min(rest, static_cast<int64_t>(dst.size()));
  if (size > 0) CopyBytes(buffer_->Range(offset, size), dst.first(static_cast<size_t>(size)));
  return static_cast<size_t>(size);
}

absl::Status MemoryFile::WriteAt(int64_t offset, Bytes src) {
  const auto size = static_cast<int64_t>(src.size());
  CAIRN_RETURN_IF_ERROR(CheckWritableRange(buffer_->name, offset, size));
  if (src.empty()) return absl::OkStatus();
  const std::unique_lock lock(buffer_->mutex);
  if (offset + size > buffer_->size) CAIRN_RETURN_IF_ERROR(buffer_->Resize(offset + size));
  const MutableBytes there = buffer_->Range(offset, size);
  // Other threads may be reading what is written a second time, through their mappings.
  if (std::memcmp(there.data(), src.data(), src.size()) == 0) return absl::OkStatus();
  // `src` may be a mapping of this very file.
  std::memmove(there.data(), src.data(), src.size());
  return absl::OkStatus();
}

absl::Status MemoryFile::Truncate(int64_t size) {
  CAIRN_RETURN_IF_ERROR(CheckWritableRange(buffer_->name, size, 0));
  const std::unique_lock lock(buffer_->mutex);
  return buffer_->Resize(size);
}

absl::Status MemoryFile::Reserve(int64_t size) {
  return CheckWritableRange(buffer_->name, size, 0);
}

absl::Status MemoryFile::PunchHole(int64_t /*offset*/, int64_t /*size*/) {
  return Unimplemented("%s: a file in memory has no holes", buffer_->name);
}

absl::Status MemoryFile::Sync(SyncMode /*mode*/) { return absl::OkStatus(); }

absl::StatusOr<std::shared_ptr<const Mapping>> MemoryFile::Map(int64_t offset, int64_t size,
                                                               int64_t /*room*/) const {
  const std::shared_lock lock(buffer_->mutex);
  if (!RangeFits(offset, size, buffer_->size)) {
    return PastEnd(buffer_->name, offset, size, buffer_->size);
  }
  return ShareBytes(buffer_->Range(offset, size), buffer_->bytes);
}

absl::StatusOr<FileIdentity> MemoryFile::Identity() const {
  // No disk has this device number.
  return FileIdentity{.device = UINT64_MAX, .inode = reinterpret_cast<uintptr_t>(buffer_.get())};
}

absl::Status MemoryFile::LockByte(int64_t offset, LockMode mode) {
  CAIRN_RETURN_IF_ERROR(CheckWritableRange(buffer_->name, offset, 0));
  const std::unique_lock lock(buffer_->mutex);
  if (!buffer_->CanLock(offset, mode, this)) return LockIsHeld(buffer_->name);
  buffer_->locks[{offset, this}] = mode;
  return absl::OkStatus();
}

absl::Status MemoryFile::UnlockByte(int64_t offset) {
  CAIRN_RETURN_IF_ERROR(CheckWritableRange(buffer_->name, offset, 0));
  const std::unique_lock lock(buffer_->mutex);
  buffer_->locks.erase({offset, this});
  return absl::OkStatus();
}

absl::StatusOr<bool> MemoryFile::IsLocked(int64_t offset, int64_t count) const {
  CAIRN_RETURN_IF_ERROR(CheckLockRange(buffer_->name, offset, count));
  const std::shared_lock lock(buffer_->mutex);
  for (auto held = buffer_->locks.lower_bound({offset, nullptr});
       held != buffer_->locks.end() && held->first.first - offset < count; ++held) {
    if (held->first.second != this) return true;
  }
  return false;
}

absl::Status MemoryFile::LockWhole() {
  const std::unique_lock lock(buffer_->mutex);
  const bool free = buffer_->whole_holder == nullptr || buffer_->whole_holder == this;
  if (!free) return WholeIsLocked(buffer_->name);
  buffer_->whole_holder = this;
  return absl::OkStatus();
}

}  // namespace cairn::storage
