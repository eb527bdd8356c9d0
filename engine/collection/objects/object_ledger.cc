#include "engine/collection/objects/object_ledger.h"

#include <cstdint>
#include <string>

#include "engine/base/status.h"
#include "engine/collection/objects/known_copies.h"
#include "engine/frame/api/handle_access.h"

namespace cairn::collection {

namespace {

// Returns what tells this ledger from any other: 0 if it has no journal that writers share.
uint64_t JournalBaseOf(const frame::State& ledger) {
  return ledger.journal.has_value() ? ledger.journal->base : 0;
}

}  // namespace

// The slash at the end says that no object has the name, which saves a request.
std::string ObjectLedgerPath(const Site& site) { return site.LedgerPath() + "/"; }

absl::StatusOr<std::shared_ptr<ObjectLedger>> ObjectLedger::Open(std::shared_ptr<const Site> site) {
  // The collection decides when its ledger gets a checkpoint.
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<frame::FrameCore> core,
                         frame::FrameCore::Open(ObjectLedgerPath(*site), LedgerReading(site->files),
                                                {.after_commits = false}));
  const frame::StatePtr state = core->newest();
  const std::shared_ptr<ObjectLedger> ledger(new ObjectLedger(std::move(site), std::move(core)));
  CAIRN_RETURN_IF_ERROR(ledger->MoveTo(state));
  return ledger;
}

std::shared_ptr<const Ledger> ObjectLedger::newest() const {
  const MutexLock lock(mutex_);
  return newest_;
}

ObjectLedger::Copy ObjectLedger::CopyNewest() const {
  const MutexLock lock(mutex_);
  const frame::FrameFile& source = state_->checkpoint->source;
  auto core = std::make_shared<frame::FrameCore>(core_->location(), source, core_->env());
  core->InstallFile(source, state_);
  return {.core = std::move(core), .ledger = newest_};
}

absl::Status ObjectLedger::Refresh() {
  frame::StatePtr known;
  {
    const MutexLock lock(mutex_);
    known = state_;
  }
  // The commits of this process are not read.
  if (core_->newest()->generation() < known->generation()) {
    core_->InstallFile(known->checkpoint->source, known);
  }
  CAIRN_ASSIGN_OR_RETURN(const frame::StatePtr state, core_->Refresh());
  return MoveTo(state);
}

absl::Status ObjectLedger::MoveTo(const frame::StatePtr& state) {
  const MutexLock lock(mutex_);
  if (state_ != nullptr && JournalBaseOf(*state) != JournalBaseOf(*state_)) {
    return IsAnother(*site_);
  }
  absl::StatusOr<std::shared_ptr<const Ledger>> ledger =
      ReadLedger(frame::HandleAccess::Make(state), newest_);
  if (!ledger.ok()) return AtPath(site_->LedgerPath(), ledger.status());
  KnowCopies(*site_, frame::HandleAccess::Make(state), **ledger, newest_.get());
  Show(state, *ledger);
  return absl::OkStatus();
}

void ObjectLedger::Take(frame::StatePtr state, const Ledger& ledger) {
  const MutexLock lock(mutex_);
  const bool is_known =
      ledger.end == newest_->end && ledger.checkpoint_id == newest_->checkpoint_id;
  if (!is_known) Show(std::move(state), std::make_shared<const Ledger>(ledger));
}

// Another thread may have seen a later state.
void ObjectLedger::Show(frame::StatePtr state, const std::shared_ptr<const Ledger>& ledger) {
  if (newest_ != nullptr && ledger->table.number < newest_->table.number) return;
  state_ = std::move(state);
  if (ledger == newest_) return;
  auto moved = std::make_shared<Ledger>(*ledger);
  moved->DropIndexed();
  newest_ = std::move(moved);
}

}  // namespace cairn::collection
