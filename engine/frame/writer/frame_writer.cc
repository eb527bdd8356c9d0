#include "engine/frame/writer/frame_writer.h"

#include <utility>

#include "engine/base/check.h"
#include "engine/base/status.h"
#include "engine/frame/checkpoint/live_copy.h"
#include "engine/frame/files/frame_locks.h"
#include "engine/frame/stage/increment_applier.h"
#include "engine/frame/state/staged_source.h"

namespace cairn::frame {

namespace {

// Returns true if a state is the next one after a generation.
bool IsNextOf(uint64_t generation, const State& committed, bool is_shared) {
  // A checkpoint without a seal begins to count from the start.
  if (!committed.checkpoint->seal.has_value()) return true;
  const uint64_t now = committed.generation();
  // If writers share the frame, commits of others may come between.
  return is_shared ? now > generation : now == generation + 1;
}

}  // namespace

FrameWriter::~FrameWriter() {
  // Gives back space that was reserved ahead, unless another writer has the frame now.
  if (suspended_) Regain({}, false).IgnoreError();
  // After a failed commit it is not known what the header on the disk says.
  if (usable()) backend_->DropUncommitted().IgnoreError();
}

absl::Status FrameWriter::CheckUsable() const {
  CAIRN_RETURN_IF_ERROR(CheckIsHere());
  CAIRN_RETURN_IF_ERROR(unusable_);
  CAIRN_RETURN_IF_ERROR(CheckSyncs());
  if (suspended_) return FailedPrecondition("the writer is suspended");
  if (stager_->failure().ok()) return absl::OkStatus();
  return FailedPrecondition("an earlier write failed: %s", stager_->failure().message());
}

absl::Status FrameWriter::CheckIsHere() const {
  if (owner_.is_here()) return absl::OkStatus();
  return FailedPrecondition("the writer belongs to the process that this one was forked from");
}

absl::Status FrameWriter::CheckSyncs() const {
  if (!sync_->has_failed()) return absl::OkStatus();
  return FailedPrecondition("an earlier sync failed: %s", sync_->failure().message());
}

absl::Status FrameWriter::CheckUnedited() const {
  if (!stager_->staged().edited) return absl::OkStatus();
  return FailedPrecondition("there are staged edits: commit them or roll them back first");
}

absl::StatusOr<Stager*> FrameWriter::GetStager() {
  CAIRN_RETURN_IF_ERROR(CheckUsable());
  if (!stager_->staged().edited) CAIRN_RETURN_IF_ERROR(backend_->DropUnpinned());
  return stager_.get();
}

absl::StatusOr<Stager*> FrameWriter::GetStagerToEdit() {
  if (!prepared_) return GetStager();
  return FailedPrecondition("the staged edits are prepared: commit them or roll them back first");
}

absl::StatusOr<StatePtr> FrameWriter::Staged() {
  CAIRN_RETURN_IF_ERROR(CheckUsable());
  if (!stager_->staged().edited) return backend_->frame().state;
  CAIRN_ASSIGN_OR_RETURN(const StatePtr view, stager_->View());
  auto state = std::make_shared<State>(*view);
  state->writers_file = backend_->frame().file;
  state->chunk_source = std::make_shared<StagedSource>(std::move(state->chunk_source));
  backend_->PinStaged(state);
  return state;
}

void FrameWriter::Rollback() {
  if (!usable()) return;
  bool failed = true;  // perhaps, of a step that had a stager of its own
  if (stager_ != nullptr) {
    const absl::Status& failure = stager_->failure();
    // Chunks that are staged in an object store are not part of the frame, so any failure can be
    // rolled back there.
    if (!failure.ok() && !absl::IsResourceExhausted(failure) && !backend_->is_shared()) return;
    failed = !failure.ok();
  }
  prepared_ = false;
  stager_.reset();
  absl::Status status = backend_->Restart(failed);
  if (status.ok()) status = Restage();
  if (!status.ok()) unusable_ = FailedPrecondition("rolling back failed: %s", status.message());
}

absl::Status FrameWriter::Restage() {
  const bool goes_on = stager_ != nullptr && stager_->base() == backend_->frame().state &&
                       stager_->failure().ok() && !stager_->staged().edited;
  if (goes_on) return absl::OkStatus();
  stager_.reset();  // it reads the state before
  if (auto successor = backend_->Successor()) backend_ = std::move(successor);
  CAIRN_ASSIGN_OR_RETURN(stager_, backend_->Stage());
  return absl::OkStatus();
}

// Runs a step that writes. If it fails, the state on the disk is unknown and the writer becomes
// unusable, unless the step was refused. A failure after the commit stops the writer, but is not
// returned, because the commit stands: a caller who gets a failure takes the commit for undone.
absl::Status FrameWriter::Run(absl::FunctionRef<absl::Status()> step) {
  const bool was_edited = stager_->staged().edited;
  absl::Status status = step();
  const bool is_committed = status.ok() || status.ErasePayload(kCommitted);
  if (status.ok()) status = Restage();
  if (status.ok()) return status;
  if (is_committed) {
    unusable_ = FailedPrecondition("a step after an earlier commit failed: %s", status.message());
    return absl::OkStatus();
  }
  if (!status.ErasePayload(kRefusal)) {
    unusable_ = FailedPrecondition("an earlier commit failed: %s", status.message());
  } else if (!was_edited) {
    Rollback();  // drops a chunk that was made of pending items
  }
  return status;
}

absl::Status FrameWriter::Prepare(Durability durability) {
  CAIRN_RETURN_IF_ERROR(CheckUsable());
  if (!stager_->staged().edited) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(CheckNotLast(committed()));
  backend_->Expect(durability);
  absl::Status status = RefuseIfFull(stager_->EncodeDirty());
  if (status.ok()) status = backend_->PrepareCommit(*stager_, durability);
  prepared_ = status.ok();
  if (!status.ok() && !status.ErasePayload(kRefusal)) {
    unusable_ = FailedPrecondition("preparing a commit failed: %s", status.message());
  }
  return status;
}

absl::StatusOr<StatePtr> FrameWriter::Commit(Durability durability) {
  CAIRN_RETURN_IF_ERROR(CheckUsable());
  if (stager_->staged().edited) {
    const uint64_t before = committed().generation();
    CAIRN_RETURN_IF_ERROR(CheckNotLast(committed()));
    backend_->Expect(durability);
    CAIRN_RETURN_IF_ERROR(Run([&]() -> absl::Status {
      if (std::exchange(prepared_, false)) return backend_->PublishPrepared(*stager_, durability);
      CAIRN_RETURN_IF_ERROR(RefuseIfFull(stager_->EncodeDirty()));
      return backend_->PublishCommit(*stager_, durability);
    }));
    CAIRN_DCHECK(IsNextOf(before, committed(), backend_->is_shared()));
    CAIRN_DCHECK(sync_->durable().generation <= committed().generation());
  } else if (durability == Durability::kMachine) {
    CAIRN_RETURN_IF_ERROR(Run([&] { return backend_->SyncCommitted(); }));
  }
  return backend_->frame().state;
}

absl::Status FrameWriter::Checkpoint(Follows follows) {
  CAIRN_RETURN_IF_ERROR(CheckUsable());
  const bool journaled = committed().journal.has_value() && !committed().journal->empty();
  if (!stager_->staged().edited && !journaled) {
    return sync_->owes() ? Run([&] { return backend_->SyncCommitted(); }) : absl::OkStatus();
  }
  CAIRN_RETURN_IF_ERROR(CheckNotLast(committed()));
  prepared_ = false;
  return Run([&]() -> absl::Status {
    CAIRN_RETURN_IF_ERROR(RefuseIfFull(stager_->EncodeDirty()));
    absl::Status status = backend_->WriteCheckpoint(*stager_, follows);
    // A failure is returned even if the commit stands: writers end like this, and no later call
    // would tell.
    status.ErasePayload(kCommitted);
    return status;
  });
}

absl::Status FrameWriter::Flush(Follows follows) {
  CAIRN_RETURN_IF_ERROR(CheckUsable());
  if (const absl::Status coded = RefuseIfFull(stager_->EncodeDirty()); !coded.ok()) {
    return Run([&] { return coded; });
  }
  if (backend_->IsWorthClosing(*stager_)) {
    const absl::Status status = Checkpoint(follows);
    // The checkpoint of an empty frame needs a new file, which this user may not be allowed to
    // make. A commit needs none.
    if (!absl::IsFailedPrecondition(status) || !usable()) return status;
  }
  return Commit(Durability::kMachine).status();
}

absl::Status FrameWriter::ApplyIncrement(const State& increment) {
  CAIRN_RETURN_IF_ERROR(CheckUsable());
  CAIRN_RETURN_IF_ERROR(CheckUnedited());
  const absl::Status status = IncrementApplier(*stager_).Apply(increment);
  if (!status.ok() && stager_->staged().edited) Rollback();
  return status;
}

absl::StatusOr<CompactReport> FrameWriter::Compact(std::unique_ptr<LiveCopy> begun,
                                                   ChunkProgress progress) {
  CAIRN_RETURN_IF_ERROR(CheckUsable());
  CAIRN_RETURN_IF_ERROR(CheckNotLast(committed()));
  CompactReport report;
  CAIRN_RETURN_IF_ERROR(Run([&]() -> absl::Status {
    stager_.reset();
    CAIRN_ASSIGN_OR_RETURN(report.size_before, backend_->Rewrite(std::move(begun), progress));
    return absl::OkStatus();
  }));
  report.size_after = committed().header().frame_size;
  if (committed().header().layout == Layout::kSparse)
    report.size_after += committed().info().cbytes;
  return report;
}

absl::StatusOr<ReclaimReport> FrameWriter::Reclaim(const ReclaimOptions& options) {
  CAIRN_RETURN_IF_ERROR(CheckUsable());
  CAIRN_RETURN_IF_ERROR(CheckUnedited());
  CAIRN_RETURN_IF_ERROR(CheckNotLast(committed()));
  absl::StatusOr<ReclaimReport> report;
  CAIRN_RETURN_IF_ERROR(Run([&]() -> absl::Status {
    stager_.reset();  // would count as a reader
    report = backend_->ReclaimSpace(options);
    return absl::IsUnimplemented(report.status()) ? absl::OkStatus() : report.status();
  }));
  return report;
}

absl::Status FrameWriter::Suspend() {
  CAIRN_RETURN_IF_ERROR(CheckUsable());
  CAIRN_RETURN_IF_ERROR(CheckUnedited());
  if (backend_->IsPinned()) {
    return FailedPrecondition("a snapshot of staged edits is still there");
  }
  CAIRN_RETURN_IF_ERROR(backend_->Suspend());
  suspended_ = true;
  return absl::OkStatus();
}

absl::Status FrameWriter::Sync(const State& committed) const {
  CAIRN_RETURN_IF_ERROR(CheckIsHere());
  if (committed.staged) return FailedPrecondition("the snapshot has edits that are not committed");
  return sync_->Await(committed.generation());
}

absl::StatusOr<bool> FrameWriter::HasWaiters() const {
  CAIRN_RETURN_IF_ERROR(CheckUsable());
  return backend_->frame().file->HasWaiters(kWriterLockByte);
}

absl::Status FrameWriter::Close() {
  CAIRN_RETURN_IF_ERROR(Flush(Follows::kNothing));
  const absl::Status status = usable() ? backend_->DropUncommitted() : absl::OkStatus();
  unusable_ = FailedPrecondition("the writer is closed");
  stager_.reset();
  backend_.reset();
  sync_->End();
  return status;
}

}  // namespace cairn::frame
