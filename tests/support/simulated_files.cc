#include "tests/support/simulated_files.h"

#include <algorithm>
#include <string_view>

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

absl::Status NotThere(const std::string& name) {
  return absl::NotFoundError(name + " is not there");
}

absl::Status IsThere(const std::string& name) {
  return absl::AlreadyExistsError(name + " is there already");
}

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
       .offset = offset,
       .bytes = *bytes,
       .cached = inode_->bytes()},
      [inode = inode_, offset, bytes](int64_t time) {
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
                   [inode = inode_, size](int64_t time) {
                     inode->Reserve(time, size);
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

absl::StatusOr<SimulatedDirectory::Place> SimulatedDirectory::Find(const std::string& path) const {
  if (!path_.empty() && path.find('/') != std::string::npos) {
    return InvalidArgument("\"%s\" is not a plain name in %s", path, path_);
  }
  Place place = {.names = names_, .name = ".", .shown = path_.empty() ? path : path_ + "/" + path};
  std::string_view rest = path;
  while (!rest.empty()) {
    const size_t slash = std::min(rest.find('/'), rest.size());
    const std::string name(rest.substr(0, slash));
    rest.remove_prefix(std::min(slash + 1, rest.size()));
    if (name.empty() || name == ".") continue;
    if (place.name != ".") {
      place.names = disk_->directory(place.inode);
      if (place.names == nullptr) return NotThere(place.shown);
    }
    place.name = name;
    place.inode = place.names->Find(name);
  }
  return place;
}

absl::StatusOr<SimulatedDirectory::Place> SimulatedDirectory::FindThere(
    const std::string& path) const {
  CAIRN_ASSIGN_OR_RETURN(Place place, Find(path));
  if (place.inode == 0) return NotThere(place.shown);
  return place;
}

absl::StatusOr<std::unique_ptr<File>> SimulatedDirectory::Open(const std::string& path,
                                                               FileMode mode) {
  CAIRN_ASSIGN_OR_RETURN(Place place, Find(path));
  if (mode == FileMode::kCreateNew) {
    if (place.inode != 0 || place.name == ".") return IsThere(place.shown);
    place.inode = disk_->AddFile();
    CAIRN_RETURN_IF_ERROR(
        disk_->Do({.kind = Kind::kCreate, .name = place.shown}, [place](int64_t time) {
          place.names->Do({time, {{place.name, place.inode}}});
          return absl::OkStatus();
        }));
  } else if (place.name == "." || disk_->directory(place.inode) != nullptr) {
    return FailedPrecondition("%s is a directory", place.shown);
  } else if (place.inode == 0) {
    return NotThere(place.shown);
  }
  return std::make_unique<SimulatedFile>(disk_, place.shown, place.inode, mode != FileMode::kRead);
}

absl::Status SimulatedDirectory::Rename(const std::string& from, const std::string& to,
                                        bool replace) {
  CAIRN_ASSIGN_OR_RETURN(const Place old, FindThere(from));
  CAIRN_ASSIGN_OR_RETURN(const Place place, Find(to));
  if (old.names != place.names) return Unimplemented("%s: cannot move to %s", from, to);
  if (place.inode != 0 && !replace) return IsThere(place.shown);
  if (place.inode != 0 && disk_->directory(place.inode) != disk_->directory(old.inode)) {
    return FailedPrecondition("%s: cannot replace %s", from, to);
  }
  return disk_->Do({.kind = Kind::kRename, .name = place.shown}, [old, place](int64_t time) {
    place.names->Do({time, {{old.name, 0}, {place.name, old.inode}}});
    return absl::OkStatus();
  });
}

absl::Status SimulatedDirectory::Remove(const std::string& path) {
  CAIRN_ASSIGN_OR_RETURN(const Place place, FindThere(path));
  if (disk_->directory(place.inode) != nullptr) {
    return FailedPrecondition("%s is a directory", place.shown);
  }
  return disk_->Do({.kind = Kind::kRemove, .name = place.shown}, [place](int64_t time) {
    place.names->Do({time, {{place.name, 0}}});
    return absl::OkStatus();
  });
}

absl::Status SimulatedDirectory::SyncDirectoryOf(const std::string& path) {
  CAIRN_ASSIGN_OR_RETURN(const Place place, Find(path));
  return disk_->Do({.kind = Kind::kSyncDirectory, .name = place.shown}, [place](int64_t /*time*/) {
    place.names->Sync();
    return absl::OkStatus();
  });
}

absl::StatusOr<std::shared_ptr<FileSystem>> SimulatedDirectory::OpenDirectory(
    const std::string& path) {
  CAIRN_ASSIGN_OR_RETURN(const Place place, Find(path));
  if (place.name == ".") return std::make_shared<SimulatedDirectory>(disk_, path_, names_);
  if (place.inode == 0) return NotThere(place.shown);
  std::shared_ptr<SimulatedNames> names = disk_->directory(place.inode);
  if (names == nullptr) return FailedPrecondition("%s is a file", place.shown);
  return std::make_shared<SimulatedDirectory>(disk_, place.shown, std::move(names));
}

absl::Status SimulatedDirectory::MakeDirectory(const std::string& path) {
  CAIRN_ASSIGN_OR_RETURN(Place place, Find(path));
  if (place.inode != 0 || place.name == ".") return IsThere(place.shown);
  place.inode = disk_->AddDirectory();
  return disk_->Do({.kind = Kind::kMakeDirectory, .name = place.shown}, [place](int64_t time) {
    place.names->Do({time, {{place.name, place.inode}}});
    return absl::OkStatus();
  });
}

absl::Status SimulatedDirectory::RemoveDirectory(const std::string& path) {
  CAIRN_ASSIGN_OR_RETURN(const Place place, FindThere(path));
  const std::shared_ptr<SimulatedNames> names = disk_->directory(place.inode);
  if (names == nullptr) return FailedPrecondition("%s is a file", place.shown);
  if (!names->now.empty()) return FailedPrecondition("%s is not empty", place.shown);
  return disk_->Do({.kind = Kind::kRemoveDirectory, .name = place.shown}, [place](int64_t time) {
    place.names->Do({time, {{place.name, 0}}});
    return absl::OkStatus();
  });
}

absl::StatusOr<std::vector<std::string>> SimulatedDirectory::List(const std::string& path) {
  CAIRN_ASSIGN_OR_RETURN(const Place place, Find(path));
  const auto there = place.name == "." ? names_ : disk_->directory(place.inode);
  if (there == nullptr) return NotThere(place.shown);
  std::vector<std::string> names;
  for (const auto& [name, inode] : there->now) names.push_back(name);
  return names;
}

absl::Status SimulatedDirectory::Exchange(const std::string& a, const std::string& b) {
  CAIRN_ASSIGN_OR_RETURN(const Place one, FindThere(a));
  CAIRN_ASSIGN_OR_RETURN(const Place other, FindThere(b));
  if (one.names != other.names) return Unimplemented("%s: cannot exchange with %s", a, b);
  return disk_->Do({.kind = Kind::kExchange, .name = one.shown}, [one, other](int64_t time) {
    one.names->Do({time, {{one.name, other.inode}, {other.name, one.inode}}});
    return absl::OkStatus();
  });
}

absl::StatusOr<FileIdentity> SimulatedDirectory::Identity(const std::string& path) {
  CAIRN_ASSIGN_OR_RETURN(const Place place, FindThere(path));
  return FileIdentity{.device = 1, .inode = place.inode};
}

}  // namespace cairn::test
