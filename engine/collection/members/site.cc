#include "engine/collection/members/site.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "cairn/object_store.h"
#include "engine/base/status.h"
#include "engine/collection/ledger/member_name.h"
#include "engine/frame/files/frame_location.h"

namespace cairn::collection {

namespace {

// Names of members have no part that begins with a dot.
constexpr std::string_view kAsidePrefix(".cairn-");
constexpr size_t kIdDigits = 16;

absl::Status MakeOne(FileSystem& files, const std::string& path) {
  const absl::Status made = files.MakeDirectory(path);
  if (!absl::IsAlreadyExists(made)) {
    CAIRN_RETURN_IF_ERROR(made);
    return files.SyncDirectoryOf(path);
  }
  if (!files.Identity(absl::StrCat(path, "/", std::string(kLedgerName))).ok()) {
    return absl::OkStatus();
  }
  return IsOfInner(path);
}

}  // namespace

std::string Site::PathOf(std::string_view member, MemberKind kind) const {
  return absl::StrCat(root, std::string(member), std::string(SuffixOf(kind)));
}

std::string Site::AsidePath(std::string_view member, uint64_t id) const {
  return absl::StrFormat("%s%s/%s%016x", root, DirectoryOf(member), kAsidePrefix, id);
}

bool IsAsideName(std::string_view name) {
  const auto takes_id = [&name](std::string_view before) {
    if (!name.starts_with(before)) return false;
    name.remove_prefix(before.size());
    const std::string_view id = name.substr(0, kIdDigits);
    name.remove_prefix(id.size());
    return id.size() == kIdDigits &&
           id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  };
  if (!takes_id(kAsidePrefix)) return false;
  return name.empty() || (takes_id(".") && name == ".tmp");
}

OpenOptions Site::MemberOptions() const {
  OpenOptions open = options.members;
  open.offset = 0;
  open.durable_only = false;
  open.generation.reset();
  open.file_system = files;
  return open;
}

bool IsInObjects(const Site& site) { return site.files->ObjectsIn(site.root).store != nullptr; }

absl::Status CheckIsNew(const Site& site, std::string_view name, bool is_there) {
  CAIRN_RETURN_IF_ERROR(CheckMemberName(name));
  if (!is_there) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrFormat("%s: there is such a member of the collection %s", name, site.root));
}

absl::Status IsOfInner(std::string_view directory) {
  return FailedPrecondition(
      "%s: belongs to another collection or TreeStore, which lies inside this one", directory);
}

MemberKind KindOf(const CreateOptions& options) {
  const bool is_array = options.array.has_value() ||
                        std::ranges::any_of(options.metalayers, [](const Metalayer& layer) {
                          return layer.name == "b2nd";
                        });
  return is_array ? MemberKind::kArray : MemberKind::kOther;
}

absl::StatusOr<Site> MakeSite(const std::string& path, const CollectionOptions& options) {
  Site site{
      .files = frame::FilesOrPosix(options.members.file_system), .root = {}, .options = options};
  CAIRN_ASSIGN_OR_RETURN(site.root, site.files->Absolute(path));
  while (site.root.size() > 1 && site.root.ends_with('/')) site.root.pop_back();
  const ObjectDirectoryInfo objects = site.files->ObjectsIn(site.root);
  if (objects.store != nullptr) site.known = std::make_shared<KnownObjects>(objects.grace);
  return site;
}

absl::Status CheckIsCurrent(const Site& site, const File& ledger) {
  CAIRN_ASSIGN_OR_RETURN(const FileIdentity opened, ledger.Identity());
  const absl::StatusOr<FileIdentity> there = site.files->Identity(site.LedgerPath());
  if (absl::IsNotFound(there.status())) {
    return FailedPrecondition("%s: the ledger was removed since the collection was opened",
                              site.LedgerPath());
  }
  CAIRN_RETURN_IF_ERROR(there.status());
  return *there == opened ? absl::OkStatus() : IsAnother(site);
}

absl::Status IsAnother(const Site& site) {
  return FailedPrecondition("%s: is another collection than the one that was opened; open it again",
                            site.root);
}

absl::Status MakeDirectories(const Site& site, std::string_view directory) {
  for (size_t end = site.root.size(); end != std::string_view::npos && end < directory.size();) {
    end = directory.find('/', end + 1);
    CAIRN_RETURN_IF_ERROR(MakeOne(*site.files, std::string(directory.substr(0, end))));
  }
  return absl::OkStatus();
}

}  // namespace cairn::collection
