#include <algorithm>
#include <string_view>

#include "engine/base/status.h"
#include "tests/support/simulated_files.h"

namespace cairn::test {

using Kind = DiskOperation::Kind;

namespace {

absl::Status NotThere(const std::string& name) {
  return absl::NotFoundError(name + " is not there");
}

absl::Status IsThere(const std::string& name) {
  return absl::AlreadyExistsError(name + " is there already");
}

}  // namespace

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
