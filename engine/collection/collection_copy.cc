// Copies of whole collections.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_format.h"

#include "cairn/frame.h"
#include "engine/base/random.h"
#include "engine/base/status.h"
#include "engine/collection/collection_core.h"
#include "engine/collection/ledger/ledger.h"
#include "engine/collection/ledger/member_name.h"
#include "engine/collection/members/member_files.h"
#include "engine/collection/members/member_reader.h"
#include "engine/collection/objects/object_member.h"
#include "engine/collection/packed_store.h"
#include "engine/frame/files/atomic_file.h"
#include "engine/frame/files/copy_files.h"

namespace cairn::collection {

namespace {

// Copies a member to `path`, and finds its position there.
absl::Status CopyMember(const Snapshot& member, const std::string& path, const OpenOptions& options,
                        Position& position) {
  CopyOptions copying;
  copying.file_system = options.file_system;
  copying.layout = Layout::kContiguous;
  CAIRN_RETURN_IF_ERROR(member.CopyTo(path, copying));
  CAIRN_ASSIGN_OR_RETURN(const Frame copy, Frame::Open(path, options));
  position = PositionOf(copy.snapshot());
  return absl::OkStatus();
}

// Makes the copy of a member, and completes the entry that it is to have.
using MakeCopy = absl::FunctionRef<absl::Status(const std::string& name, const Snapshot& member,
                                                MemberEntry& entry)>;

// Makes the copies of all members. A store says neither ids nor, of a value, whether it is an
// array, and it may have names that no member can have.
absl::StatusOr<LedgerTable> CopyMembers(const View& view, MakeCopy make) {
  LedgerTable table{.number = view.table().number, .members = {}};
  for (const auto& [name, entry] : view.table().members) {
    CAIRN_RETURN_IF_ERROR(CheckMemberName(name));
    CAIRN_ASSIGN_OR_RETURN(const Snapshot member, view.OpenMember(name));
    MemberEntry copy = {.id = entry.id, .kind = entry.kind};
    if (copy.id == 0) copy.id = RandomNumber();
    if (member.array().has_value()) copy.kind = MemberKind::kArray;
    CAIRN_RETURN_IF_ERROR(make(name, member, copy));
    table.members.emplace(name, copy);
  }
  return table;
}

// Makes the directory. Errors: kAlreadyExists if it holds anything.
absl::Status MakeRoot(const Site& to) {
  const absl::Status made = to.files->MakeDirectory(to.root);
  if (made.ok()) return to.files->SyncDirectoryOf(to.root);
  if (!absl::IsAlreadyExists(made)) return made;
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<FileSystem> directory,
                         to.files->OpenDirectory(to.root));
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> names, directory->List("."));
  return names.empty() ? absl::OkStatus() : made;
}

// The ledger comes last.
absl::Status CopyToDirectory(const View& view, const Site& to) {
  CAIRN_RETURN_IF_ERROR(MakeRoot(to));
  std::vector<std::string> made;
  const absl::StatusOr<LedgerTable> table =
      CopyMembers(view, [&](const std::string& name, const Snapshot& member, MemberEntry& entry) {
        const std::string& path = made.emplace_back(to.PathOf(name, entry.kind));
        CAIRN_RETURN_IF_ERROR(MakeDirectories(to, DirectoryOf(path)));
        return CopyMember(member, path, to.MemberOptions(), entry.position);
      });
  absl::Status copied = table.status();
  if (copied.ok()) copied = CreateLedger(to.LedgerPath(), to.files, *table);
  if (copied.ok()) return copied;
  for (const std::string& file : made) RemoveAside(to, file).IgnoreError();
  to.files->RemoveDirectory(to.root).IgnoreError();
  return copied;
}

// Whoever unpacks the file has a collection.
absl::Status CopyToZip(const View& view, const Site& to) {
  CAIRN_ASSIGN_OR_RETURN(PackedStore store, PackedStore::Create(to));
  const auto copy = [&](const std::string& name, const Snapshot& member,
                        MemberEntry& entry) -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(entry.position, store.Add(name, entry.kind, member));
    return absl::OkStatus();
  };
  CAIRN_ASSIGN_OR_RETURN(const LedgerTable table, CopyMembers(view, copy));
  CAIRN_RETURN_IF_ERROR(store.AddLedger(kTableLayer, EncodeTable(table)));
  return store.Publish();
}

// Removes the objects of a copy without a ledger.
absl::Status RemoveObjects(ObjectStore& store) {
  for (bool more = true; more;) {
    CAIRN_ASSIGN_OR_RETURN(const ObjectListing listing, store.List("", "", 1000));
    std::vector<std::string> names;
    for (const ObjectInfo& object : listing.objects) names.push_back(object.name);
    CAIRN_RETURN_IF_ERROR(store.Delete(names));
    more = listing.more && !names.empty();
  }
  return absl::OkStatus();
}

// The ledger comes last here, too.
absl::Status CopyToObjects(const View& view, const Site& to) {
  CAIRN_RETURN_IF_ERROR(CheckIsEmpty(to));
  const absl::StatusOr<LedgerTable> table =
      CopyMembers(view, [&](const std::string& name, const Snapshot& member, MemberEntry& entry) {
        return CopyToNewObjects(to, name, member, entry);
      });
  absl::Status copied = table.status();
  if (copied.ok()) copied = CreateLedger(to.LedgerPath(), to.files, *table);
  // Another program may have made a collection there.
  if (!copied.ok() && !absl::IsAlreadyExists(copied)) {
    RemoveObjects(*to.files->ObjectsIn(to.root).store).IgnoreError();
  }
  return copied;
}

}  // namespace

absl::StatusOr<Site> View::SiteOfCopy(const std::string& path) const {
  CAIRN_ASSIGN_OR_RETURN(Site to, MakeSite(path, site_->options));
  std::vector<std::string> sources = {site_->root, site_->LedgerPath()};
  for (const auto& [name, entry] : table().members) {
    sources.push_back(site_->PathOf(name, entry.kind));
  }
  if (!IsInObjects(to)) to.files = frame::FilesForCopyOf(sources, to.files);
  return to;
}

absl::Status View::CopyTo(const std::string& path) const {
  CAIRN_ASSIGN_OR_RETURN(const Site to, SiteOfCopy(path));
  if (IsInObjects(to)) return CopyToObjects(*this, to);
  return path.ends_with(".b2z") ? CopyToZip(*this, to) : CopyToDirectory(*this, to);
}

}  // namespace cairn::collection
