#include "engine/collection/object_core.h"

#include <utility>

#include "cairn/object_store.h"
#include "engine/base/status.h"
#include "engine/collection/collection_verify.h"
#include "engine/collection/objects/object_member.h"
#include "engine/collection/objects/object_writer.h"
#include "engine/frame/api/handle_access.h"

namespace cairn::collection {

namespace {

// Returns what tells this ledger from any other: 0 if it has no journal that writers share.
uint64_t JournalBaseOf(const Snapshot& ledger) {
  const auto& journal = frame::HandleAccess::StateOf(ledger).journal;
  return journal.has_value() ? journal->base : 0;
}

// The slash at the end says that no object has the name, which saves a request.
absl::StatusOr<Frame> OpenObjectLedger(const Site& site) {
  return Frame::Open(site.LedgerPath() + "/", LedgerReading(site.files));
}

// Returns true if a writer of frames has given the member a commit of its own.
bool IsChangedAlone(const Site& site, std::string_view name, const MemberEntry& entry) {
  const std::string member = site.PathOf(name, entry.kind);
  const absl::StatusOr<ObjectListing> records =
      site.files->ObjectsIn(member).store->List("journal/", "", 1);
  return records.ok() && !records->objects.empty();  // a web server lists nothing
}

}  // namespace

absl::StatusOr<Snapshot> ObjectView::OpenMember(std::string_view name) const {
  if (!table().members.contains(name)) {
    return NotFound("%s: no member of the collection %s", name.substr(0, 256), site().root);
  }
  return OpenObjectMember(site(), name, *ledger_);
}

absl::StatusOr<VerifyReport> ObjectView::Verify(const VerifyOptions& options) const {
  WholeReport whole(options);
  absl::StatusOr<Frame> ledger = OpenObjectLedger(site());
  CAIRN_RETURN_IF_ERROR(whole.Add(
      "embed.b2e", ledger.ok() ? absl::StatusOr<Snapshot>(ledger->snapshot()) : ledger.status()));
  for (const auto& [name, entry] : table().members) {
    CAIRN_RETURN_IF_ERROR(whole.Add(name, OpenMember(name)));
    if (!IsChangedAlone(site(), name, entry)) continue;
    whole.AddFinding(name, {.section = {},
                            .reason = "commits were made to the member by itself; the collection "
                                      "does not have them"});
  }
  return std::move(whole).Take();
}

absl::StatusOr<std::shared_ptr<ObjectCore>> ObjectCore::Open(std::shared_ptr<const Site> site) {
  CAIRN_ASSIGN_OR_RETURN(Frame ledger, OpenObjectLedger(*site));
  const Snapshot snapshot = ledger.snapshot();
  const std::shared_ptr<ObjectCore> core(
      new ObjectCore(std::move(site), std::move(ledger), JournalBaseOf(snapshot)));
  CAIRN_RETURN_IF_ERROR(core->MoveTo(snapshot).status());
  return core;
}

absl::Status ObjectCore::Create(const Site& site) {
  CAIRN_RETURN_IF_ERROR(CheckIsEmpty(site));
  return CreateLedger(site.LedgerPath(), site.files);
}

ViewPtr ObjectCore::newest() const {
  const MutexLock lock(mutex_);
  return newest_;
}

absl::StatusOr<ViewPtr> ObjectCore::Refresh() {
  CAIRN_ASSIGN_OR_RETURN(const Snapshot snapshot, ledger_.Refresh());
  return MoveTo(snapshot);
}

absl::StatusOr<ViewPtr> ObjectCore::MoveTo(const Snapshot& snapshot) {
  if (JournalBaseOf(snapshot) != journal_base_) return IsAnother(*site_);
  const MutexLock lock(mutex_);
  absl::StatusOr<std::shared_ptr<const Ledger>> ledger =
      ReadLedger(snapshot, newest_ == nullptr ? nullptr : newest_->ledger());
  if (!ledger.ok()) return AtPath(site_->LedgerPath(), ledger.status());
  const bool is_older = newest_ != nullptr && (*ledger)->table.number < newest_->table().number;
  if (is_older || (newest_ != nullptr && newest_->ledger() == *ledger)) return newest_;
  auto moved = std::make_shared<Ledger>(**ledger);
  moved->DropIndexed();
  newest_ = std::make_shared<const ObjectView>(site_, std::move(moved));
  return newest_;
}

absl::StatusOr<std::unique_ptr<MembersWriter>> ObjectCore::OpenWriter(
    const CollectionWriterOptions& options) const {
  return ObjectWriter::Open(site_, journal_base_, options);
}

}  // namespace cairn::collection
