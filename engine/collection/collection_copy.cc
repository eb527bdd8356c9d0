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
#include "engine/collection/objects/own_objects.h"
#include "engine/collection/packed_store.h"
#include "engine/collection/write/new_directory.h"
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

// Makes the members and then the ledger. Names in `made` what must go if that fails.
absl::Status FillDirectory(const View& view, const Site& to, std::vector<std::string>& made) {
  CAIRN_ASSIGN_OR_RETURN(
      LedgerTable table,
      CopyMembers(view, [&](const std::string& name, const Snapshot& member, MemberEntry& entry) {
        std::string path = to.PathOf(name, entry.kind);
        absl::Status copied = MakeDirectories(to, DirectoryOf(path));
        if (copied.ok()) copied = CopyMember(member, path, to.MemberOptions(), entry.position);
        if (!absl::IsAlreadyExists(copied)) made.push_back(std::move(path));
        return copied;
      }));
  table.keep = view.table().keep;
  CAIRN_RETURN_IF_ERROR(CreateLedger(to.LedgerPath(), to.files, table));
  made.push_back(to.LedgerPath());
  return absl::OkStatus();
}

absl::Status CopyToDirectory(const View& view, const Site& to) {
  CAIRN_ASSIGN_OR_RETURN(NewDirectory directory, NewDirectory::Begin(to));
  std::vector<std::string> made;
  absl::Status copied = FillDirectory(view, directory.site(), made);
  if (copied.ok()) copied = directory.Publish();
  if (copied.ok()) return copied;
  for (auto file = made.rbegin(); file != made.rend(); ++file) {
    RemoveAside(directory.site(), *file).IgnoreError();
  }
  return directory.AboutTarget(copied);
}

// Whoever unpacks the file has a collection.
absl::Status CopyToZip(const View& view, const Site& to) {
  CAIRN_ASSIGN_OR_RETURN(PackedStore store, PackedStore::Create(to));
  const auto copy = [&](const std::string& name, const Snapshot& member,
                        MemberEntry& entry) -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(entry.position, store.Add(name, entry.kind, member));
    return absl::OkStatus();
  };
  CAIRN_ASSIGN_OR_RETURN(LedgerTable table, CopyMembers(view, copy));
  table.keep = view.table().keep;
  CAIRN_RETURN_IF_ERROR(store.AddLedger(kTableLayer, EncodeTable(table)));
  return store.Publish();
}

// The put of the ledger decides between copies that are made at the same time, whose objects have
// names of their own. Whoever opens members alone sees them only after it.
absl::Status CopyToObjects(const View& view, const Site& to) {
  CAIRN_RETURN_IF_ERROR(CheckIsFree(to));
  OwnObjects own(to);
  std::vector<NewObject> frames;
  const absl::StatusOr<LedgerTable> table =
      CopyMembers(view, [&](const std::string& name, const Snapshot& member, MemberEntry& entry) {
        return CopyToNewObjects(own.site(), name, member, entry, frames.emplace_back());
      });
  absl::Status copied = table.status();
  if (copied.ok()) copied = CreateLedger(to.LedgerPath(), own.site().files, *table);
  if (copied.ok()) {
    PutAll(frames).IgnoreError();  // nothing depends on them
    return copied;
  }
  // Nobody knows whether the ledger is there, or will be.
  const bool is_known = !absl::IsDeadlineExceeded(copied) && !absl::IsCancelled(copied);
  if (is_known || !table.ok()) own.Remove().IgnoreError();
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
