#include "engine/frame/layout/contiguous_backend.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/status.h"
#include "engine/format/journal.h"
#include "engine/frame/checkpoint/live_copy.h"
#include "engine/frame/files/frame_locks.h"
#include "engine/frame/layout/space_reclaimer.h"
#include "engine/frame/space/disk_reserve.h"

namespace cairn::frame {

ContiguousBackend::ContiguousBackend(CommittedFrame frame, StagerOptions options,
                                     const JournalFootprint& journal)
    : CommitBackend(std::move(frame), std::move(options)),
      journal_(frame_, FrameSpace(base(), journal), journal),
      relocation_(frame_, journal_),
      placer_(frame_, journal_),
      scheduler_(frame_, journal_, placer_) {}

absl::StatusOr<std::unique_ptr<Stager>> ContiguousBackend::Stage() {
  // No stager reads the earlier states any more, so this is the time to free their bytes.
  CAIRN_RETURN_IF_ERROR(journal_.remains().TidyUp());
  relocation_.Begin();
  return std::make_unique<Stager>(frame_.state, journal_.tail().sink(), options_);
}

void ContiguousBackend::PinStaged(const StatePtr& snapshot) {
  pins_.Add(snapshot);
  pinned_end_ = journal_.tail().end();
  journal_.tail().sink().KeepPlaced();
}

absl::Status ContiguousBackend::Restart(bool failed) {
  const bool is_pinned = pins_.any();
  if (!is_pinned) pinned_end_ = 0;
  journal_.tail().ReturnStaged(is_pinned);
  failed = failed || is_prepared_;
  // A checkpoint that is being made would list bytes as free that the snapshot reads, or has
  // mirrored edits that are no longer prepared.
  if (is_pinned || is_prepared_) scheduler_.Drop();
  is_prepared_ = false;
  placed_.reset();
  if (journal_.tail().end() > scheduler_.JournalEnd() || failed) {
    // Readers that skipped these chunks must not take them for those of the next commit.
    CAIRN_RETURN_IF_ERROR(DropUncommitted());
    journal_.headroom().Forget();
  } else {
    HoldReserve();
  }
  journal_.tail().StageAt(StageEnd());
  return absl::OkStatus();
}

int64_t ContiguousBackend::StageEnd() const {
  return std::max(scheduler_.JournalEnd(), pinned_end_);
}

// Forgets the pinned bytes, which a commit has made part of the frame. A later checkpoint may let
// the frame end before them.
void ContiguousBackend::UnpinCommitted() {
  CAIRN_DCHECK(pinned_end_ <= CommittedEnd(base()));
  pinned_end_ = 0;
}

absl::Status ContiguousBackend::DropUnpinned() {
  const bool is_needed = pinned_end_ <= CommittedEnd(base()) || pins_.any();
  return is_needed ? absl::OkStatus() : Restart(false);
}

absl::Status ContiguousBackend::Suspend() {
  if (scheduler_.is_running()) {
    scheduler_.Drop();
    CAIRN_RETURN_IF_ERROR(DropUncommitted());
  }
  CAIRN_RETURN_IF_ERROR(journal_.receipts().WriteReceiptOfSyncs());
  return CommitBackend::Suspend();
}

absl::StatusOr<bool> ContiguousBackend::Resume(const WriterOptions& options) {
  // Without success it is given back: the frame may be opened anew, which takes it again.
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<File> peer_lock, TakePeerLock(frame_.location(), options));
  CAIRN_ASSIGN_OR_RETURN(const bool follows, journal_.CatchUp());
  if (!follows) return false;
  const bool may_owe = frame_.opening == Durability::kProcess;
  if (!journal_.receipts().IsDurable() && !may_owe) CAIRN_RETURN_IF_ERROR(PersistBase());
  if (journal_.receipts().needs_checkpoint()) return false;
  CAIRN_RETURN_IF_ERROR(journal_.Resume());
  frame_.peer_lock = std::move(peer_lock);
  return true;
}

// Leaves the sync to later if commits need not be durable: programs of that kind do not wait for
// the disk.
absl::Status ContiguousBackend::PersistBase() {
  CAIRN_ASSIGN_OR_RETURN(const bool may_owe, journal_.MayOwe());
  if (may_owe) {
    journal_.unsynced().Owe();
    return absl::OkStatus();
  }
  CAIRN_RETURN_IF_ERROR(journal_.Persist());
  CAIRN_RETURN_IF_ERROR(frame_.PersistHeader());
  return journal_.receipts().WriteReceipt();
}

void ContiguousBackend::Expect(Durability durability) {
  journal_.unsynced().AvoidSyncs(durability == Durability::kProcess);
}

// Does what may find the disk full before a commit. Returns false if there is no room for a record
// and the checkpoint after it, but perhaps for a checkpoint that makes the frame smaller.
absl::StatusOr<bool> ContiguousBackend::MakeRoom(Stager& stager) {
  scheduler_.DropRetired();
  CAIRN_RETURN_IF_ERROR(journal_.remains().TidyUpNowAndThen());
  if (absl::Status reused = journal_.tail().sink().FlushReused(); !reused.ok()) {
    if (absl::IsResourceExhausted(reused)) journal_.tail().NoteHoles();
    return RefuseIfFull(std::move(reused));
  }
  CAIRN_RETURN_IF_ERROR(journal_.headroom().CheckLimit(stager));
  const auto reserve = [&] { return journal_.headroom().Reserve(stager); };
  if (!reserve().ok()) {
    const absl::Status status = journal_.tail().ReserveWithFree(reserve);
    if (absl::IsResourceExhausted(status) && !Grows(stager.staged(), base())) return false;
    if (!status.ok()) return status;
  }
  // A commit that needs no room must not come to need some: the disk may be full.
  if (relocation_.is_due() && !journal_.headroom().HasRoomToMove(stager)) return true;
  const int64_t edits = stager.staged().chunk_edits.count();
  CAIRN_RETURN_IF_ERROR(relocation_.StageSome(stager));
  if (stager.staged().chunk_edits.count() > edits) CAIRN_RETURN_IF_ERROR(reserve());
  return true;
}

// Prepares a commit record, or a checkpoint if there is no room for a record. A checkpoint that is
// merely due waits for the next commit.
absl::Status ContiguousBackend::PrepareCommit(Stager& stager, Durability durability) {
  if (!is_prepared_) {
    CAIRN_ASSIGN_OR_RETURN(bool has_room, MakeRoom(stager));
    if (!has_room && !FitsInPlace(stager.staged())) {
      // The checkpoint would be a new file, which needs more room than a record.
      CAIRN_RETURN_IF_ERROR(journal_.headroom().Reserve(stager));
      has_room = true;
    }
    if (has_room && journal_.HasRoomForCommit(stager)) {
      CAIRN_RETURN_IF_ERROR(RefuseIfFull(journal_.tail().sink().Flush()));
      CAIRN_RETURN_IF_ERROR(journal_.HoldRecord(stager));
      CAIRN_RETURN_IF_ERROR(scheduler_.Mirror(stager));
    } else {
      journal_.tail().sink().SetLimit({});
      CAIRN_RETURN_IF_ERROR(Finish(stager));
      if (!FitsInPlace(stager.staged())) {
        return Refuse(Unimplemented("a commit to a new file cannot be prepared"));
      }
      CAIRN_RETURN_IF_ERROR(PlaceCheckpoint(stager.staged(), {}));
    }
    is_prepared_ = true;
  }
  // Syncs all bytes, but nothing new counts as durable, because the edits may yet be rolled back.
  return durability == Durability::kMachine ? frame_.sync->Sync(frame_.committed())
                                            : absl::OkStatus();
}

absl::Status ContiguousBackend::PublishCommit(Stager& stager, Durability durability) {
  using Step = CheckpointScheduler::Step;
  CAIRN_ASSIGN_OR_RETURN(const bool has_room, MakeRoom(stager));
  const StagedState& staged = stager.staged();
  const Step step = scheduler_.StepOf(staged, pinned_end_ > CommittedEnd(base()));
  if (!has_room || step == Step::kAtOnce) return WriteCheckpoint(stager, Follows::kCommits);
  if (step == Step::kBegin) {
    CAIRN_RETURN_IF_ERROR(journal_.tail().LeaveRoom(journal_.tail().ChunksToExpect(), staged));
    CAIRN_RETURN_IF_ERROR(Finish(stager));
  }
  CAIRN_RETURN_IF_ERROR(journal_.HoldRecord(stager));
  CAIRN_RETURN_IF_ERROR(scheduler_.Mirror(stager));
  const int64_t work = CheckpointScheduler::Work(staged);
  CAIRN_ASSIGN_OR_RETURN(const bool published, journal_.Publish(stager, durability));
  if (!published) {
    scheduler_.Drop();  // the edits that it mirrored were not committed
    return WriteCheckpoint(stager, Follows::kCommits);
  }
  UnpinCommitted();
  return AfterCommit(step == Step::kBegin ? scheduler_.Begin() : scheduler_.Advance(stager, work));
}

absl::Status ContiguousBackend::PublishPrepared(Stager& stager, Durability durability) {
  if (placed_.has_value()) return FlipToPlaced(stager.staged());
  const int64_t work = CheckpointScheduler::Work(stager.staged());
  CAIRN_ASSIGN_OR_RETURN(const bool published, journal_.Publish(stager, durability));
  if (!published) return FailedPrecondition("a commit that was prepared has no room");
  is_prepared_ = false;
  UnpinCommitted();
  return AfterCommit(scheduler_.Advance(stager, work));
}

absl::Status ContiguousBackend::PlaceCheckpoint(const StagedState& staged,
                                                const CheckpointPlacer::Options& options) {
  CAIRN_RETURN_IF_ERROR(PersistOwed(journal_));
  scheduler_.Stop();
  CAIRN_ASSIGN_OR_RETURN(placed_, placer_.Place(staged, options));
  return absl::OkStatus();
}

absl::Status ContiguousBackend::CommitInPlace(const StagedState& staged,
                                              const CheckpointPlacer::Options& options) {
  CAIRN_RETURN_IF_ERROR(PlaceCheckpoint(staged, options));
  return FlipToPlaced(staged);
}

absl::Status ContiguousBackend::FlipToPlaced(const StagedState& staged) {
  PlacedCheckpoint placed = *std::exchange(placed_, std::nullopt);
  CAIRN_RETURN_IF_ERROR(frame_.sync->Sync(frame_.committed()));
  CAIRN_RETURN_IF_ERROR(frame_.CheckNotReplaced());
  const auto changed = static_cast<size_t>(ChangedHeaderBytes(staged));
  const StatePtr before = frame_.state;
  CAIRN_RETURN_IF_ERROR(frame_.file->WriteAt(0, Bytes(placed.bytes.header).first(changed)));
  CAIRN_RETURN_IF_ERROR(frame_.sync->Sync(frame_.committed()));
  Chunk end;  // a map shows it already
  if (!base().region.in_place()) {
    const auto tail = std::make_shared<std::vector<std::byte>>(std::move(placed.bytes.tail));
    end = Chunk(*tail, tail);
  }
  CAIRN_RETURN_IF_ERROR(frame_.ReloadCheckpoint(std::move(placed.bytes.header), std::move(end)));
  const int64_t journal_end = journal_.tail().end();
  const int64_t remains_end = journal_.tail().EndWithMark();
  CAIRN_RETURN_IF_ERROR(AfterCommit(journal_.tail().MarkEnded(*before, journal_end)));
  const bool goes_on = placed.space.after().enabled() && base().checkpoint->seal_holds;
  BeginAfterCheckpoint(goes_on ? std::move(placed.space).Take() : FrameSpace(base(), {}),
                       std::max(journal_.remains().end(), remains_end));
  return absl::OkStatus();
}

// Copies the frame. If the disk is full, tries again with the reserve and the free space of the old
// file, except the bytes for the record that tells of the new file.
absl::StatusOr<AtomicFile> ContiguousBackend::CopyWithReserve(Stager& stager,
                                                              std::unique_ptr<LiveCopy> begun,
                                                              ChunkProgress progress) {
  absl::StatusOr<AtomicFile> file = begun == nullptr
                                        ? CopyContiguous(frame_, stager, progress)
                                        : std::move(*begun).Finish(frame_, stager, progress);
  if (!absl::IsResourceExhausted(file.status())) return file;
  begun.reset();
  CAIRN_RETURN_IF_ERROR(journal_.remains().CutAt(journal_.tail().end()));
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, frame_.file->Size());
  CAIRN_RETURN_IF_ERROR(frame_.file->Truncate(size));
  journal_.headroom().Forget();
  CAIRN_RETURN_IF_ERROR(journal_.tail().PunchFree().status());
  frame_.file->Allocate(journal_.tail().end(), format::kMinRecordSize).IgnoreError();
  file = CopyContiguous(frame_, stager, progress);
  if (!absl::IsResourceExhausted(file.status())) return file;
  HoldReserve();
  return Refuse(file.status());
}

absl::Status ContiguousBackend::CommitToNewFile(Stager& stager, std::unique_ptr<LiveCopy> begun,
                                                ChunkProgress progress) {
  scheduler_.Stop();
  CAIRN_ASSIGN_OR_RETURN(AtomicFile file, CopyWithReserve(stager, std::move(begun), progress));
  CAIRN_RETURN_IF_ERROR(frame_.CheckNotReplaced());
  // Readers of the old file that find this record poll the name, so it comes first: whenever this
  // process dies, they miss nothing.
  CAIRN_RETURN_IF_ERROR(journal_.tail().sink().Flush());
  CAIRN_RETURN_IF_ERROR(frame_.file->WriteAt(journal_.tail().end(), format::EncodeReplaced()));
  CAIRN_RETURN_IF_ERROR(file.Persist());
  CAIRN_RETURN_IF_ERROR(file.Publish(true));
  CAIRN_RETURN_IF_ERROR(frame_.InstallFile(file.file()));
  journal_.headroom().Forget();
  BeginAfterCheckpoint(FrameSpace(base(), {}), 0);
  return absl::OkStatus();
}

// Begins again after a durable checkpoint, which may be in a new file.
void ContiguousBackend::BeginAfterCheckpoint(FrameSpace space, int64_t remains_end) {
  // The pinned bytes lie before the end of the frame, are listed as dead, or lie in another file.
  pinned_end_ = 0;
  scheduler_.Restart();
  is_prepared_ = false;
  placed_.reset();
  journal_.BeginAfterCheckpoint(std::move(space), remains_end);
}

absl::Status ContiguousBackend::WriteCheckpoint(Stager& stager, Follows follows) {
  CAIRN_RETURN_IF_ERROR(journal_.headroom().CheckLimit(stager));
  journal_.tail().sink().SetLimit({});
  const PlacedChunks next_chunks =
      follows == Follows::kCommits ? journal_.tail().ChunksToExpect() : PlacedChunks();
  CAIRN_RETURN_IF_ERROR(journal_.tail().LeaveRoom(next_chunks, stager.staged()));
  CAIRN_RETURN_IF_ERROR(Finish(stager));
  return FitsInPlace(stager.staged())
             ? CommitInPlace(stager.staged(), {.room_for_chunks = next_chunks.bytes})
             : CommitToNewFile(stager, nullptr, NeverStop);
}

absl::StatusOr<ReclaimReport> ContiguousBackend::ReclaimSpace(const ReclaimOptions& options) {
  scheduler_.Stop();
  CAIRN_RETURN_IF_ERROR(PersistOwed(journal_));
  const auto commit = [this](const StagedState& staged, uint64_t oldest_generation) {
    return CommitInPlace(staged, {.oldest_generation = oldest_generation});
  };
  const auto hold_reserve = [this] { HoldReserve(); };
  return SpaceReclaimer(*this, journal_, relocation_, placer_, commit, hold_reserve)
      .Reclaim(options);
}

absl::StatusOr<int64_t> ContiguousBackend::Rewrite(std::unique_ptr<LiveCopy> begun,
                                                   ChunkProgress progress) {
  CAIRN_ASSIGN_OR_RETURN(const int64_t before, frame_.file->Size());
  if (begun != nullptr) {
    CAIRN_ASSIGN_OR_RETURN(const bool fits, begun->Fits(frame_));
    if (!fits) begun.reset();
  }
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<Stager> stager, Stage());
  CAIRN_RETURN_IF_ERROR(Finish(*stager));
  CAIRN_RETURN_IF_ERROR(CommitToNewFile(*stager, std::move(begun), progress));
  return before;
}

absl::Status ContiguousBackend::DropUncommitted() {
  // This also drops bytes of an earlier writer that could not clean up.
  CAIRN_RETURN_IF_ERROR(journal_.remains().DropAfter(StageEnd()));
  HoldReserve();
  return absl::OkStatus();
}

void ContiguousBackend::HoldReserve() { journal_.tail().HoldReserve(StageEnd()); }

}  // namespace cairn::frame
