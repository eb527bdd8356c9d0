#include "engine/collection/member_files.h"

#include <memory>

#include "cairn/file_system.h"
#include "engine/base/status.h"

namespace cairn::collection {

namespace {

// Groups may be nested this deep; see kMaxNameSize.
constexpr int kMaxDepth = 512;

absl::Status IgnoreMissing(const absl::Status& status) {
  return absl::IsNotFound(status) ? absl::OkStatus() : status;
}

// Does nothing if something has the new name.
absl::Status RenameIfThere(const Site& site, const std::string& from, const std::string& to) {
  const absl::StatusOr<FileIdentity> there = site.files->Identity(from);
  if (!there.ok()) return IgnoreMissing(there.status());
  if (site.files->Identity(to).ok()) return absl::OkStatus();
  return site.files->Rename(from, to, false);
}

bool IsFileOfMember(std::string_view name) {
  return name.ends_with(".b2nd") || name.ends_with(".b2f") || name.ends_with(".b2e");
}

absl::Status FindIn(FileSystem& directory, const std::string& path, int depth,
                    std::vector<std::string>& found) {
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> names, directory.List("."));
  for (const std::string& name : names) {
    std::string inside = path + "/" + name;
    if (name.starts_with(kAsidePrefix)) {
      found.push_back(std::move(inside));
    } else if (!name.starts_with('.') && !IsFileOfMember(name) && depth < kMaxDepth) {
      // Anything but a group is not ours.
      const absl::StatusOr<std::shared_ptr<FileSystem>> group = directory.OpenDirectory(name);
      if (group.ok()) CAIRN_RETURN_IF_ERROR(FindIn(**group, inside, depth + 1, found));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status PutAside(const Site& site, std::string_view name, const MemberEntry& entry) {
  return RenameIfThere(site, site.PathOf(name, entry.kind), site.AsidePath(name, entry.id));
}

absl::Status PlaceFile(const Site& site, std::string_view name, const MemberEntry& entry) {
  return RenameIfThere(site, site.AsidePath(name, entry.id), site.PathOf(name, entry.kind));
}

absl::StatusOr<std::vector<std::string>> FindAside(const Site& site) {
  std::vector<std::string> found;
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<FileSystem> directory,
                         site.files->OpenDirectory(site.root));
  CAIRN_RETURN_IF_ERROR(FindIn(*directory, site.root, 0, found));
  return found;
}

absl::Status RemoveAside(const Site& site, const std::string& path) {
  CAIRN_RETURN_IF_ERROR(IgnoreMissing(site.files->Remove(path)));
  for (std::string_view group = DirectoryOf(path); group.size() > site.root.size();
       group = DirectoryOf(group)) {
    if (!site.files->RemoveDirectory(std::string(group)).ok()) break;
  }
  return absl::OkStatus();
}

}  // namespace cairn::collection
