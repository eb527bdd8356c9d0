#include "engine/collection/members/member_files.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/functional/function_ref.h"

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
  return KindOfFile(name).has_value() || name.ends_with(".b2e");
}

// Looks for files below a directory.
struct Search {
  absl::FunctionRef<bool(FileSystem& directory, const std::string& name)> is_wanted;
  size_t most = SIZE_MAX;
  std::vector<std::string> found = {};
};

absl::Status FindIn(FileSystem& directory, const std::string& path, int depth, Search& search) {
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> names, directory.List("."));
  // Another collection, or a TreeStore, sees to its own files.
  if (depth > 0 && std::ranges::find(names, kLedgerName) != names.end()) return absl::OkStatus();
  for (const std::string& name : names) {
    if (search.found.size() >= search.most) break;
    std::string inside = path + "/" + name;
    if (search.is_wanted(directory, name)) {
      search.found.push_back(std::move(inside));
    } else if (!name.starts_with('.') && !IsFileOfMember(name) && depth < kMaxDepth) {
      // Anything but a group is not ours.
      const absl::StatusOr<std::shared_ptr<FileSystem>> group = directory.OpenDirectory(name);
      if (group.ok()) CAIRN_RETURN_IF_ERROR(FindIn(**group, inside, depth + 1, search));
    }
  }
  return absl::OkStatus();
}

absl::Status FindFiles(const Site& site, Search& search) {
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<FileSystem> directory,
                         site.files->OpenDirectory(site.root));
  return FindIn(*directory, site.root, 0, search);
}

}  // namespace

absl::Status CheckHasNoFile(const Site& site, std::string_view name, const MemberTable& removed) {
  const auto goes = removed.find(name);
  for (const MemberKind kind : {MemberKind::kArray, MemberKind::kOther, MemberKind::kBatches}) {
    if (goes != removed.end() && goes->second.kind == kind) continue;
    const std::string path = site.PathOf(name, kind);
    const absl::Status there = site.files->Identity(path).status();
    if (there.ok()) {
      return absl::AlreadyExistsError(
          path +
          ": another program has put a file there; recover the collection to make it a "
          "member, or remove it");
    }
    CAIRN_RETURN_IF_ERROR(IgnoreMissing(there));
  }
  return absl::OkStatus();
}

absl::Status PutAside(const Site& site, std::string_view name, const MemberEntry& entry) {
  return RenameIfThere(site, site.PathOf(name, entry.kind), site.AsidePath(name, entry.id));
}

absl::Status PlaceFile(const Site& site, std::string_view name, const MemberEntry& entry) {
  return RenameIfThere(site, site.AsidePath(name, entry.id), site.PathOf(name, entry.kind));
}

absl::StatusOr<std::vector<std::string>> FindAside(const Site& site) {
  Search search = {.is_wanted = [](FileSystem& directory, const std::string& name) {
    return IsAsideName(name) && !directory.OpenDirectory(name).ok();
  }};
  CAIRN_RETURN_IF_ERROR(FindFiles(site, search));
  return std::move(search.found);
}

absl::StatusOr<std::vector<std::string>> FindMembers(const Site& site) {
  Search search = {
      .is_wanted = [](FileSystem&, const std::string& name) { return IsFileOfMember(name); }};
  CAIRN_RETURN_IF_ERROR(FindFiles(site, search));
  return std::move(search.found);
}

absl::StatusOr<std::optional<std::string>> FindAnyMember(const Site& site) {
  Search search = {.is_wanted =
                       [](FileSystem&, const std::string& name) {
                         return IsFileOfMember(name) || IsAsideName(name);
                       },
                   .most = 1};
  CAIRN_RETURN_IF_ERROR(FindFiles(site, search));
  if (search.found.empty()) return std::nullopt;
  return std::move(search.found.front());
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
