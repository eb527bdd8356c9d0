#include "engine/collection/ledger_core.h"

#include <optional>
#include <string>
#include <utility>

#include "engine/base/deadline.h"
#include "engine/base/status.h"
#include "engine/collection/ledger/collection_locks.h"
#include "engine/collection/ledger/ledger_history.h"
#include "engine/collection/members/member_files.h"
#include "engine/collection/members/member_reader.h"
#include "engine/collection/write/gate.h"
#include "engine/collection/write/shared_writer.h"
#include "engine/collection/write/writer_core.h"
#include "engine/frame/files/frame_location.h"

namespace cairn::collection {

namespace {

// A new ledger would list none of the members that are there, and the next writer would put new
// ones in their place.
absl::Status CheckHasNoMembers(const Site& site) {
  CAIRN_ASSIGN_OR_RETURN(const std::optional<std::string> member, FindAnyMember(site));
  // The members of a collection that was made meanwhile have a ledger.
  if (!member.has_value() || site.files->Identity(site.LedgerPath()).ok()) return absl::OkStatus();
  return FailedPrecondition(
      "%s: members but no ledger; restore embed.b2e from a backup, recover the collection, or move "
      "the members elsewhere, such as %s",
      site.root, *member);
}

}  // namespace

absl::StatusOr<Snapshot> LedgerView::OpenMember(std::string_view name) const {
  std::string path;
  return FindMember(name, path);
}

// A writer that removes or replaces the member puts its file aside. So the file is there, or
// another one is that does not hold the state, or it is aside already.
absl::StatusOr<Snapshot> LedgerView::FindMember(std::string_view name, std::string& path) const {
  const auto member = table().members.find(name);
  if (member == table().members.end()) {
    return NotFound("%s: no member of the collection %s", name.substr(0, 256), site().root);
  }
  const MemberEntry& entry = member->second;
  const auto patches = [&](uint64_t after) { return ledger_->PatchesOf(name, after); };
  const OpenOptions options = site().MemberOptions();
  path = site().PathOf(name, entry.kind);
  absl::StatusOr<Snapshot> found = OpenMemberAt(path, options, entry.position, patches);
  if (found.ok()) return found;
  const std::string aside_path = site().AsidePath(name, entry.id);
  absl::StatusOr<Snapshot> aside = OpenMemberAt(aside_path, options, entry.position, patches);
  if (aside.ok()) {
    path = aside_path;
    return aside;
  }
  // A writer may just have given the file its name.
  if (absl::IsNotFound(aside.status())) {
    found = OpenMemberAt(path, options, entry.position, patches);
  }
  if (found.ok()) return found;
  if (!absl::IsNotFound(found.status())) return AtPath(path, found.status());
  return AtPath(path, DataLoss("member: the file is missing"));
}

absl::StatusOr<std::shared_ptr<LedgerCore>> LedgerCore::Open(std::shared_ptr<const Site> site,
                                                             Frame ledger) {
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<File> file,
                         site->files->Open(site->LedgerPath(), FileMode::kRead));
  const std::shared_ptr<LedgerCore> core(
      new LedgerCore(std::move(site), std::move(ledger), std::move(file)));
  CAIRN_RETURN_IF_ERROR(core->Refresh().status());
  return core;
}

absl::Status LedgerCore::Create(const Site& site) {
  const absl::Status made = site.files->MakeDirectory(site.root);
  if (!absl::IsAlreadyExists(made)) {
    CAIRN_RETURN_IF_ERROR(made);
    CAIRN_RETURN_IF_ERROR(site.files->SyncDirectoryOf(site.root));
  }
  CAIRN_RETURN_IF_ERROR(CheckHasNoMembers(site));
  return CreateLedger(site.LedgerPath(), site.files);
}

ViewPtr LedgerCore::newest() const {
  const MutexLock lock(mutex_);
  return newest_;
}

// The caller holds the entry until it has registered for the commit that it wants.
absl::StatusOr<std::shared_ptr<const Ledger>> LedgerCore::ReadNewest() {
  CAIRN_ASSIGN_OR_RETURN(const Snapshot snapshot, ledger_.Refresh());
  CAIRN_RETURN_IF_ERROR(CheckIsCurrent(*site_, *file_));
  absl::StatusOr<std::shared_ptr<const Ledger>> ledger =
      ReadLedger(snapshot, newest_ == nullptr ? nullptr : newest_->ledger());
  if (!ledger.ok()) return AtPath(site_->LedgerPath(), ledger.status());
  const uint64_t number = (*ledger)->table.number;
  if (number >= kMaxCommits) {
    return AtPath(site_->LedgerPath(), DataLoss("ledger: commit number %d", number));
  }
  return ledger;
}

absl::StatusOr<ViewPtr> LedgerCore::Refresh() {
  const MutexLock lock(mutex_);
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const void> entry,
                         frame::ReaderLocks::Hold(locks_, kEntryByte));
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const Ledger> ledger, ReadNewest());
  if (newest_ != nullptr && newest_->ledger() == ledger) return newest_;
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const void> registered,
                         frame::ReaderLocks::Hold(locks_, CommitByte(ledger->table.number)));
  newest_ = std::make_shared<const LedgerView>(site_, std::move(ledger), std::move(registered));
  return newest_;
}

absl::StatusOr<std::vector<CommitInfo>> LedgerCore::History() {
  const MutexLock lock(mutex_);
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const void> entry,
                         frame::ReaderLocks::Hold(locks_, kEntryByte));
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const Ledger> newest, ReadNewest());
  return ListCommits(newest->table);
}

// A writer uses the space of a commit again after it has written down that it keeps it no more, and
// not while a reader is in the entry.
absl::StatusOr<ViewPtr> LedgerCore::OpenCommit(uint64_t number) {
  const MutexLock lock(mutex_);
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const void> entry,
                         frame::ReaderLocks::Hold(locks_, kEntryByte));
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const Ledger> newest, ReadNewest());
  const uint64_t oldest = newest->table.oldest_kept();
  if (number < oldest || number > newest->table.number) {
    return NotFound("%s: commit %d is not kept; there are %d to %d", site_->root, number, oldest,
                    newest->table.number);
  }
  absl::StatusOr<std::shared_ptr<const Ledger>> ledger = LedgerAt(*newest, number);
  if (!ledger.ok()) return AtPath(site_->LedgerPath(), ledger.status());
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const void> registered,
                         frame::ReaderLocks::Hold(locks_, CommitByte((*ledger)->table.number)));
  return std::make_shared<const LedgerView>(site_, *std::move(ledger), std::move(registered));
}

absl::StatusOr<std::unique_ptr<MembersWriter>> LedgerCore::OpenWriter(
    const CollectionWriterOptions& options) const {
  if (options.shared) return SharedWriter::Open(site_, *file_, options);
  const Deadline deadline(options.wait);
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<Gate> gate, Gate::TakeAlone(*site_, options.wait));
  CollectionWriterOptions rest = options;
  rest.wait = deadline.left();
  return WriterCore::Open(site_, *file_, std::move(gate), rest);
}

}  // namespace cairn::collection
