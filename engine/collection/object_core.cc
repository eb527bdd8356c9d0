#include "engine/collection/object_core.h"

#include <utility>

#include "cairn/frame.h"
#include "cairn/object_store.h"
#include "engine/base/status.h"
#include "engine/collection/collection_verify.h"
#include "engine/collection/objects/object_member.h"
#include "engine/collection/objects/object_writer.h"
#include "engine/collection/objects/own_objects.h"

namespace cairn::collection {

namespace {

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
  const absl::StatusOr<Frame> ledger =
      Frame::Open(ObjectLedgerPath(site()), LedgerReading(site().files));
  CAIRN_RETURN_IF_ERROR(whole.Add(
      "embed.b2e", ledger.ok() ? absl::StatusOr<Snapshot>(ledger->snapshot()) : ledger.status()));
  Site unknown = site();
  unknown.known = nullptr;  // all that the store has is read
  for (const auto& [name, entry] : table().members) {
    CAIRN_RETURN_IF_ERROR(whole.Add(name, OpenObjectMember(unknown, name, *ledger_)));
    if (!IsChangedAlone(site(), name, entry)) continue;
    whole.AddFinding(name, {.section = {},
                            .reason = "commits were made to the member by itself; the collection "
                                      "does not have them"});
  }
  return std::move(whole).Take();
}

absl::StatusOr<std::shared_ptr<ObjectCore>> ObjectCore::Open(std::shared_ptr<const Site> site) {
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<ObjectLedger> ledger, ObjectLedger::Open(site));
  return std::shared_ptr<ObjectCore>(new ObjectCore(std::move(site), std::move(ledger)));
}

absl::Status ObjectCore::Create(const Site& site) {
  CAIRN_RETURN_IF_ERROR(CheckIsFree(site));
  return CreateLedger(site.LedgerPath(), site.files);
}

ViewPtr ObjectCore::newest() const {
  const MutexLock lock(mutex_);
  std::shared_ptr<const Ledger> newest = ledger_->newest();
  if (newest_ == nullptr || newest_->ledger() != newest) {
    newest_ = std::make_shared<const ObjectView>(site_, std::move(newest));
  }
  return newest_;
}

absl::StatusOr<ViewPtr> ObjectCore::Refresh() {
  CAIRN_RETURN_IF_ERROR(ledger_->Refresh());
  return newest();
}

absl::StatusOr<std::vector<CommitInfo>> ObjectCore::History() {
  return Unimplemented("%s: a collection in an object store lists no older commits", site_->root);
}

absl::StatusOr<ViewPtr> ObjectCore::OpenCommit(uint64_t number) {
  return Unimplemented("%s: a collection in an object store does not open commit %d again",
                       site_->root, number);
}

absl::StatusOr<std::unique_ptr<MembersWriter>> ObjectCore::OpenWriter(
    const CollectionWriterOptions& options) const {
  if (options.keep_commits.value_or(0) > 0) {
    return Unimplemented("%s: a collection in an object store keeps no commits", site_->root);
  }
  return ObjectWriter::Open(site_, ledger_, options);
}

}  // namespace cairn::collection
