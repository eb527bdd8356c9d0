#include "tests/support/simulated_files.h"

#include <algorithm>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/storage/errors.h"

namespace cairn::test {

using Kind = DiskOperation::Kind;

namespace {

constexpr int64_t kWholeFile = -1;  // the key of LockWhole among the locks

class SimulatedMapping final : public Mapping {
 public:
  SimulatedMapping(std::shared_ptr<const PagePool::Pages> pages, Bytes bytes)
      : pages_(std::move(pages)), bytes_(bytes) {}
  Bytes bytes() const override { return bytes_; }

 private:
  const std::shared_ptr<const PagePool::Pages> pages_;
  const Bytes bytes_;
};

}  // namespace

SimulatedFile::~SimulatedFile() {
  std::erase_if(inode_->locks, [this](const auto& held) { return held.first.second == this; });
}

absl::Status SimulatedFile::ReadAt(int64_t offset, MutableBytes dst) const {
  if (!RangeFits(offset, std::ssize(dst), inode_->size())) {
    return storage::PastEnd(name_, offset, std::ssize(dst), inode_->size());
  }
  CopyBytes(inode_->bytes().subspan(static_cast<size_t>(offset), dst.size()), dst);
  return absl::OkStatus();
}

absl::StatusOr<size_t> SimulatedFile::ReadSome(int64_t offset, MutableBytes dst) const {
  if (offset < 0) return InvalidArgument("%s: offset %d", name_, offset);
  const int64_t there = std::max<int64_t>(inode_->size() - offset, 0);
  const auto count = static_cast<size_t>(std::min(there, std::ssize(dst)));
  if (count > 0) CAIRN_RETURN_IF_ERROR(ReadAt(offset, dst.first(count)));
  return count;
}

absl::Status SimulatedFile::CheckWritable(int64_t offset, int64_t size) const {
  if (!writable_) return FailedPrecondition("%s is open for reading only", name_);
  if (offset < 0 || size < 0) return InvalidArgument("%s: %d bytes at %d", name_, size, offset);
  if (RangeFits(offset, size, SimulatedInode::kCapacity)) return absl::OkStatus();
  return ResourceExhausted("%s: no room for %d bytes at %d", name_, size, offset);
}

absl::Status SimulatedFile::WriteAt(int64_t offset, Bytes src) {
  CAIRN_RETURN_IF_ERROR(CheckWritable(offset, std::ssize(src)));
  if (src.empty()) return absl::OkStatus();
  const auto bytes = std::make_shared<const std::vector<std::byte>>(ToVector(src));
  return disk_->Do(
      {.kind = Kind::kWrite,
       .name = name_,
       .inode = number_,
       .offset = offset,
       .bytes = *bytes,
       .cached = inode_->bytes()},
      [disk = disk_, inode = inode_, offset, bytes](int64_t time) {
        CAIRN_RETURN_IF_ERROR(disk->CheckSpace(*inode, offset, offset + std::ssize(*bytes)));
        inode->Write(time, offset, *bytes);
        return absl::OkStatus();
      },
      [&](int64_t time, const Fate& fate, Dice& /*dice*/) {
        inode_->Write(time, offset, Bytes(*bytes).first(fate.written));
      });
}

absl::Status SimulatedFile::Truncate(int64_t size) {
  CAIRN_RETURN_IF_ERROR(CheckWritable(size, 0));
  return disk_->Do({.kind = Kind::kTruncate, .name = name_, .offset = size},
                   [inode = inode_, size](int64_t time) {
                     inode->Resize(time, size);
                     return absl::OkStatus();
                   });
}

absl::Status SimulatedFile::Reserve(int64_t size) {
  CAIRN_RETURN_IF_ERROR(CheckWritable(size, 0));
  return disk_->Do({.kind = Kind::kReserve, .name = name_, .offset = size},
                   [disk = disk_, inode = inode_, size](int64_t time) {
                     const int64_t end = inode->size();
                     CAIRN_RETURN_IF_ERROR(disk->CheckSpace(*inode, end, size));
                     inode->Allocate(end, size);
                     if (size > end) inode->Resize(time, size);
                     return absl::OkStatus();
                   });
}

absl::Status SimulatedFile::Allocate(int64_t offset, int64_t size) {
  CAIRN_RETURN_IF_ERROR(CheckWritable(offset, size));
  return disk_->Do({.kind = Kind::kAllocate, .name = name_, .offset = offset},
                   [disk = disk_, inode = inode_, offset, size](int64_t /*time*/) {
                     CAIRN_RETURN_IF_ERROR(disk->CheckSpace(*inode, offset, offset + size));
                     inode->Allocate(offset, offset + size);
                     return absl::OkStatus();
                   });
}

absl::Status SimulatedFile::PunchHole(int64_t offset, int64_t size) {
  CAIRN_RETURN_IF_ERROR(CheckWritable(offset, size));
  return disk_->Do({.kind = Kind::kPunch, .name = name_, .offset = offset},
                   [inode = inode_, offset, size](int64_t time) {
                     inode->Punch(time, offset, size);
                     return absl::OkStatus();
                   });
}

absl::Status SimulatedFile::Sync(SyncMode mode) {
  return disk_->Do(
      {.kind = Kind::kSync, .name = name_, .cached = inode_->bytes(), .sync_mode = mode},
      [inode = inode_, mode](int64_t /*time*/) {
        inode->Sync(mode);
        return absl::OkStatus();
      },
      [&](int64_t /*time*/, const Fate& fate, Dice& dice) {
        if (fate.kind == Fate::Kind::kFail) inode_->FailSync(dice);
      });
}

absl::StatusOr<std::shared_ptr<const Mapping>> SimulatedFile::Map(int64_t offset, int64_t size,
                                                                  int64_t room) const {
  if (!RangeFits(offset, size, inode_->size())) {
    return storage::PastEnd(name_, offset, size, inode_->size());
  }
  const int64_t shown = size + std::min(room, SimulatedInode::kCapacity - offset - size);
  const std::shared_ptr<const PagePool::Pages> pages = inode_->pages();
  return std::make_shared<SimulatedMapping>(
      pages, Bytes(pages->start + offset, static_cast<size_t>(shown)));
}

absl::StatusOr<FileIdentity> SimulatedFile::Identity() const {
  return FileIdentity{.device = 1, .inode = number_};
}

absl::Status SimulatedFile::Lock(int64_t key, LockMode mode) {
  for (auto held = inode_->locks.lower_bound({key, nullptr});
       held != inode_->locks.end() && held->first.first == key; ++held) {
    const bool both_shared = mode == LockMode::kShared && held->second == LockMode::kShared;
    if (held->first.second != this && !both_shared) return storage::LockIsHeld(name_);
  }
  inode_->locks[{key, this}] = mode;
  return absl::OkStatus();
}

absl::Status SimulatedFile::LockByte(int64_t offset, LockMode mode) {
  if (offset < 0) return InvalidArgument("%s: cannot lock byte %d", name_, offset);
  if (mode == LockMode::kExclusive && !writable_) {
    return FailedPrecondition("%s is open for reading only", name_);
  }
  return Lock(offset, mode);
}

absl::Status SimulatedFile::UnlockByte(int64_t offset) {
  inode_->locks.erase({offset, this});
  return absl::OkStatus();
}

absl::StatusOr<bool> SimulatedFile::IsLocked(int64_t offset, int64_t count) const {
  if (!RangeFits(offset, count, INT64_MAX)) return InvalidArgument("%s: byte %d", name_, offset);
  return std::ranges::any_of(inode_->locks, [&](const auto& held) {
    const auto [byte, holder] = held.first;
    return holder != this && byte >= offset && byte - offset < count;
  });
}

absl::Status SimulatedFile::LockWhole() { return Lock(kWholeFile, LockMode::kExclusive); }

}  // namespace cairn::test
