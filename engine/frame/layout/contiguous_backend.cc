#include "engine/frame/layout/contiguous_backend.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "engine/format/journal.h"
#include "engine/frame/checkpoint/live_copy.h"
#include "engine/frame/files/frame_locks.h"

namespace cairn::frame {

namespace {

// How much longer than it should be the journal gets while a gradual checkpoint is made; and of how
// many edits a commit does one more step of it.
constexpr int64_t kPatience = 8;
constexpr int64_t kEditsOfStep = 8;

// A frame that takes so many times what lives is to get shorter: beside commits, or at once where
// that cannot be.
constexpr int64_t kMostTimes = 2;
constexpr int64_t kMostTimesAtAll = 4;

}  // namespace

ContiguousBackend::ContiguousBackend(CommittedFrame frame, StagerOptions options,
                                     const JournalFootprint& journal)
    : CommitBackend(std::move(frame), std::move(options)),
      journal_(frame_, FrameSpace(base(), journal), journal),
      relocation_(frame_, journal_) {}

absl::StatusOr<std::unique_ptr<Stager>> ContiguousBackend::Stage() {
  // No stager reads the state before any more.
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
  // A gradual checkpoint takes for free what the snapshot reads, or has followed what is no commit.
  if (is_pinned || is_prepared_) DropGradual();
  is_prepared_ = false;
  placed_.reset();
  if (journal_.tail().end() > JournalEnd() || failed) {
    // Readers that skipped these chunks must not take them for those of the next commit.
    CAIRN_RETURN_IF_ERROR(DropUncommitted());
    journal_.headroom().Forget();
  } else {
    HoldReserve();
  }
  journal_.tail().StageAt(std::max(JournalEnd(), pinned_end_));
  return absl::OkStatus();
}

absl::Status ContiguousBackend::DropUnpinned() {
  const bool is_needed = pinned_end_ <= CommittedEnd(base()) || pins_.any();
  return is_needed ? absl::OkStatus() : Restart(false);
}

absl::Status ContiguousBackend::Suspend() {
  if (gradual_ != nullptr) {
    DropGradual();
    CAIRN_RETURN_IF_ERROR(DropUncommitted());
  }
  CAIRN_RETURN_IF_ERROR(journal_.receipts().WriteReceiptOfSyncs());
  return CommitBackend::Suspend();
}

absl::StatusOr<bool> ContiguousBackend::Resume(const WriterOptions& options) {
  CAIRN_ASSIGN_OR_RETURN(frame_.peer_lock, TakePeerLock(frame_.location(), options));
  CAIRN_ASSIGN_OR_RETURN(const bool follows, journal_.CatchUp());
  if (!follows) return false;
  const bool may_owe = frame_.opening == Durability::kProcess;
  if (!journal_.receipts().IsDurable() && !may_owe) CAIRN_RETURN_IF_ERROR(PersistBase());
  if (journal_.receipts().needs_checkpoint()) return false;
  CAIRN_RETURN_IF_ERROR(journal_.Resume());
  return true;
}

// Programs whose commits are not durable do not wait for the disk.
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

// Before bytes change that another header on the disk may need.
absl::Status ContiguousBackend::PersistOwed() {
  journal_.unsynced().AvoidSyncs(false);
  return journal_.unsynced().MayReuse().status();
}

void ContiguousBackend::Expect(Durability durability) {
  journal_.unsynced().AvoidSyncs(durability == Durability::kProcess);
}

bool ContiguousBackend::FitsInPlace(const StagedState& staged) const {
  return staged.nbytes() > 0 && ChangedHeaderBytes(staged) <= kSectorSize;
}

bool ContiguousBackend::MayBeGradual(const StagedState& staged) const {
  const CheckpointPolicy& policy = frame_.core->env()->checkpoints;
  const bool is_large = staged.nchunks() >= policy.least_gradual;
  const bool is_sealed = base().checkpoint->seal_holds && !frame_.plain &&
                         frame_.fingerprint != FingerprintType::kNone && HasRoomForSeal(staged);
  const bool may_be = is_large && is_sealed && !must_be_whole_ && !frame_.keeps_history() &&
                      frame_.limit.bytes == INT64_MAX && pinned_end_ <= CommittedEnd(base()) &&
                      journal_.tail().space().enabled() && !journal_.tail().sink().left_journal() &&
                      FitsInPlace(staged);
  if (!may_be) return false;
  if (RoomBelow().has_value()) return true;
  const bool must_shrink =
      journal_.tail().space().free().TakesTimes(kMostTimesAtAll, policy.least_free);
  return MayBeAbove() && !(must_shrink && CanShrink());
}

// After the journal, which ends the file.
bool ContiguousBackend::MayBeAbove() const {
  const int64_t end = journal_.tail().end();
  return journal_.remains().end() <= end && journal_.tail().space().LimitFrom(end) == INT64_MAX;
}

// For a checkpoint that makes the frame shorter, where that is due.
std::optional<Extent> ContiguousBackend::RoomBelow() const {
  const FrameSpace& space = journal_.tail().space();
  if (!space.free().TakesTimes(kMostTimes, frame_.core->env()->checkpoints.least_free)) {
    return std::nullopt;
  }
  return space.RoomBelow(BackgroundCheckpoint::LeastRoom(base(), space));
}

// Trees of a million edits take long to go.
void ContiguousBackend::DropRetired() {
  if (retired_ == nullptr || (dropping_.is_running() && !dropping_.Poll().has_value())) return;
  dropping_.Start(
      [retired = std::exchange(retired_, nullptr)]() mutable {
        retired.reset();
        return absl::OkStatus();
      },
      frame_.core->env()->checkpoints.use_thread);
}

int64_t ContiguousBackend::StepsFor(const StagedState& staged) {
  return 1 + staged.chunk_edits.count() / kEditsOfStep;
}

absl::Status ContiguousBackend::FollowGradually(const Stager& stager) {
  CAIRN_ASSIGN_OR_RETURN(const bool follows, gradual_->Mirror(stager, journal_.tail().sink()));
  if (!follows) DropGradual();
  return absl::OkStatus();
}

absl::Status ContiguousBackend::PublishCommit(Stager& stager, Durability durability) {
  CAIRN_RETURN_IF_ERROR(MakeRoom(stager));
  const StagedState& staged = stager.staged();
  const bool is_long = journal_.IsLong(staged);
  const bool begins = is_long && gradual_ == nullptr && MayBeGradual(staged);
  const int64_t set_aside =
      gradual_ == nullptr || gradual_->is_shrinking() ? 0 : gradual_->region().size();
  const bool goes_on = gradual_ != nullptr && !journal_.IsLong(staged, kPatience, set_aside);
  if (is_long && !begins && !goes_on) return WriteCheckpoint(stager);
  if (begins) CAIRN_RETURN_IF_ERROR(Finish(stager));
  if (goes_on) CAIRN_RETURN_IF_ERROR(FollowGradually(stager));
  const int64_t steps = StepsFor(staged);
  CAIRN_ASSIGN_OR_RETURN(const bool published, journal_.Publish(stager, durability));
  if (!published) {
    DropGradual();  // what it followed is no commit
    return WriteCheckpoint(stager);
  }
  return AfterCommit(begins ? BeginGradual() : AdvanceAndSumUp(stager, steps));
}

absl::Status ContiguousBackend::AdvanceAndSumUp(const Stager& stager, int64_t steps) {
  if (gradual_ == nullptr) return journal_.summarizer().SumUp(stager);
  // In a journal that a checkpoint does not inherit, the next writer would not keep a summary for
  // those that read it.
  const bool is_shrinking = gradual_->is_shrinking();
  CAIRN_ASSIGN_OR_RETURN(const bool summed_up, journal_.summarizer().SumUpFor(*gradual_, stager));
  CAIRN_RETURN_IF_ERROR(AdvanceGradual(steps));
  // Readers that open the frame use the summaries of the new checkpoint from its header on.
  const bool may_sum_up =
      !summed_up && (gradual_ == nullptr || !(gradual_->is_flipped() || is_shrinking));
  return may_sum_up ? journal_.summarizer().SumUp(stager) : absl::OkStatus();
}

absl::Status ContiguousBackend::BeginGradual() {
  const std::optional<Extent> room = RoomBelow();
  must_be_whole_ = !room.has_value() && !MayBeAbove();
  if (must_be_whole_) return absl::OkStatus();
  if (room.has_value()) CAIRN_RETURN_IF_ERROR(PersistOwed());
  FrameSpace& space = journal_.tail().space();
  absl::StatusOr<std::unique_ptr<BackgroundCheckpoint>> begun =
      room.has_value() ? BackgroundCheckpoint::BeginShrinking(frame_, space, *room)
                       : BackgroundCheckpoint::Begin(frame_, space);
  must_be_whole_ = absl::IsResourceExhausted(begun.status());
  if (must_be_whole_) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(begun.status());
  gradual_ = *std::move(begun);
  if (!gradual_->is_shrinking()) journal_.tail().SetAside(gradual_->region());
  return absl::OkStatus();
}

absl::Status ContiguousBackend::AdvanceGradual(int64_t steps) {
  const absl::Status status = gradual_->Advance(steps);
  must_be_whole_ = absl::IsUnimplemented(status) || absl::IsResourceExhausted(status);
  if (must_be_whole_) {
    gradual_.reset();
    return absl::OkStatus();
  }
  CAIRN_RETURN_IF_ERROR(status);
  if (!gradual_->is_durable()) return absl::OkStatus();
  const StatePtr before = frame_.state;
  CAIRN_RETURN_IF_ERROR(gradual_->TakeOver());
  // States before it go when the stager does.
  retired_ = std::move(gradual_);
  if (retired_->is_shrinking()) {
    pinned_end_ = 0;
    return journal_.ContinueBelow(*before);
  }
  journal_.ContinueAfterCheckpoint(retired_->summaries());
  return absl::OkStatus();
}

// One begun and dropped after the other would only take space.
void ContiguousBackend::DropGradual() {
  must_be_whole_ = must_be_whole_ || gradual_ != nullptr;
  gradual_.reset();
}

int64_t ContiguousBackend::JournalEnd() const {
  return std::max(CommittedEnd(base()), gradual_ != nullptr ? gradual_->region().end : 0);
}

// For a checkpoint that ends at `end`, and what it leaves: Reclaim may begin with one of the same
// entries.
absl::Status ContiguousBackend::ReserveCheckpoint(const StagedState& staged, int64_t end) {
  constexpr int64_t kMargin = 128;
  const int64_t size = end - journal_.tail().end() + kMargin;
  const int64_t kept = NeedAfter(staged, base(), size, frame_.keeps_history());
  const absl::Status status = frame_.file->ReservePastEnd(end + kept);
  return absl::IsResourceExhausted(status) ? Refuse(DiskIsFull(status, kept)) : absl::OkStatus();
}

// Of index and trailer.
int64_t ContiguousBackend::MostBytes(const StagedState& staged, const NextCheckpointSpace& space,
                                     const CheckpointPlan& plan) const {
  return NeedOf(staged, base()).index +
         space.after().MostListed(plan.seal.generation, journal_.tail().end());
}

absl::StatusOr<PlacedCheckpoint> ContiguousBackend::PlaceAt(int64_t begin,
                                                            const StagedState& staged,
                                                            NextCheckpointSpace space,
                                                            CheckpointPlan plan) const {
  space.PlaceIndex(begin);
  plan.index_begin = begin;
  plan.seal.space = space.after().List();
  CAIRN_ASSIGN_OR_RETURN(CheckpointBytes bytes, EncodeCheckpoint(staged, plan));
  return PlacedCheckpoint{.begin = begin, .bytes = std::move(bytes), .space = std::move(space)};
}

// A checkpoint in free space after which there is nothing but old states, if there is room: the
// frame gets shorter.
absl::StatusOr<std::optional<PlacedCheckpoint>> ContiguousBackend::PlaceBelow(
    const StagedState& staged, const NextCheckpointSpace& space, CheckpointPlan plan) const {
  const bool forgets = plan.seal.oldest_generation == plan.seal.generation;
  if (!forgets || !space.after().enabled() || !HasRoomForSeal(staged)) return std::nullopt;
  const std::optional<Extent> room =
      space.FindBelow(MostBytes(staged, space, plan) + kLeastJournal);
  if (!room.has_value()) return std::nullopt;
  plan.seal.previous_end = 0;
  CAIRN_ASSIGN_OR_RETURN(PlacedCheckpoint placed, PlaceAt(room->begin, staged, space, plan));
  if (placed.end() + format::kEndMark > room->end) return std::nullopt;
  return placed;
}

// After the journal. What comes next can be made beside commits only where nothing follows it.
absl::StatusOr<PlacedCheckpoint> ContiguousBackend::PlaceAbove(const StagedState& staged,
                                                               NextCheckpointSpace space,
                                                               const CheckpointPlan& plan) const {
  const int64_t size = 2 * MostBytes(staged, space, plan) + kLeastJournal;
  const int64_t begin = space.FindAbove(size, kMostTimes);
  CAIRN_ASSIGN_OR_RETURN(PlacedCheckpoint placed, PlaceAt(begin, staged, std::move(space), plan));
  if (placed.end() + format::kEndMark <= placed.space.after().LimitFrom(begin)) return placed;
  const int64_t after_dead = std::max(placed.space.journal_end(), placed.space.after().EndOfDead());
  return PlaceAt(after_dead, staged, std::move(placed.space), plan);
}

// Writes index and trailer. A full disk refuses it: nothing leads there yet.
absl::Status ContiguousBackend::WriteTail(const PlacedCheckpoint& placed) {
  absl::Status status = frame_.file->WriteAt(placed.begin, placed.bytes.tail);
  const int64_t end = placed.end();
  const int64_t remains_end = std::max(journal_.remains().end(), journal_.tail().end());
  if (status.ok() && remains_end > end) status = journal_.remains().MarkEnd(end);
  return absl::IsResourceExhausted(status) ? Refuse(std::move(status)) : status;
}

// What was freed may lie in holes: a full disk has no room there, but after the end, where it is
// reserved.
absl::StatusOr<PlacedCheckpoint> ContiguousBackend::StoreTail(const StagedState& staged,
                                                              const CheckpointPlan& plan) {
  NextCheckpointSpace space(journal_.tail().SpaceWith(staged), plan.seal.generation,
                            journal_.tail().EndWithMark());
  // Until the header says which generations are gone, readers may still come to them.
  const bool sealed = base().checkpoint->seal_holds;
  space.Release(*frame_.file, sealed ? base().checkpoint->seal->oldest_generation : 0);
  CAIRN_ASSIGN_OR_RETURN(std::optional<PlacedCheckpoint> below, PlaceBelow(staged, space, plan));
  if (below.has_value()) {
    const absl::Status written = WriteTail(*below);
    if (written.ok()) return *std::move(below);
    if (!absl::IsResourceExhausted(written)) return written;
  }
  CAIRN_ASSIGN_OR_RETURN(PlacedCheckpoint above, PlaceAbove(staged, std::move(space), plan));
  CAIRN_RETURN_IF_ERROR(ReserveCheckpoint(staged, above.end()));
  CAIRN_RETURN_IF_ERROR(WriteTail(above));
  return above;
}

absl::Status ContiguousBackend::PlaceCheckpoint(const StagedState& staged,
                                                std::optional<uint64_t> oldest_generation) {
  CAIRN_RETURN_IF_ERROR(PersistOwed());
  gradual_.reset();
  CheckpointPlan plan = frame_.PlanCheckpoint(journal_.tail().end(), false);
  plan.seal.oldest_generation = oldest_generation.value_or(plan.seal.oldest_generation);
  CAIRN_ASSIGN_OR_RETURN(placed_, StoreTail(staged, plan));
  return absl::OkStatus();
}

absl::Status ContiguousBackend::CommitInPlace(const StagedState& staged,
                                              std::optional<uint64_t> oldest_generation) {
  CAIRN_RETURN_IF_ERROR(PlaceCheckpoint(staged, oldest_generation));
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
  CAIRN_RETURN_IF_ERROR(frame_.ReloadCheckpoint(std::move(placed.bytes.header)));
  const int64_t journal_end = journal_.tail().end();
  const int64_t remains_end = journal_.tail().EndWithMark();
  CAIRN_RETURN_IF_ERROR(AfterCommit(journal_.tail().MarkEnded(*before, journal_end)));
  const bool goes_on = placed.space.after().enabled() && base().checkpoint->seal_holds;
  BeginAfterCheckpoint(goes_on ? std::move(placed.space).Take() : FrameSpace(base(), {}),
                       std::max(journal_.remains().end(), remains_end));
  return absl::OkStatus();
}

// With the old file's reserve, if need be: what the record of its move needs stays.
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
  frame_.file->ReservePastEnd(journal_.tail().end() + format::kMinRecordSize).IgnoreError();
  file = CopyContiguous(frame_, stager, progress);
  if (!absl::IsResourceExhausted(file.status())) return file;
  HoldReserve();
  return Refuse(file.status());
}

absl::Status ContiguousBackend::CommitToNewFile(Stager& stager, std::unique_ptr<LiveCopy> begun,
                                                ChunkProgress progress) {
  gradual_.reset();
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

// A new file has neither headroom nor journal, and is durable.
void ContiguousBackend::BeginAfterCheckpoint(FrameSpace space, int64_t remains_end) {
  // The committed frame ends after them, they are listed as dead, or they lie in another file.
  pinned_end_ = 0;
  gradual_.reset();
  is_prepared_ = false;
  placed_.reset();
  must_be_whole_ = false;
  journal_.BeginAfterCheckpoint(std::move(space), remains_end);
}

absl::Status ContiguousBackend::WriteCheckpoint(Stager& stager) {
  CAIRN_RETURN_IF_ERROR(journal_.headroom().CheckLimit(stager));
  journal_.tail().sink().SetLimit({});
  CAIRN_RETURN_IF_ERROR(Finish(stager));
  return FitsInPlace(stager.staged()) ? CommitInPlace(stager.staged(), std::nullopt)
                                      : CommitToNewFile(stager, nullptr, NeverStop);
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
  const int64_t end = std::max(JournalEnd(), pinned_end_);
  // Also what a writer left that could not clean up.
  CAIRN_RETURN_IF_ERROR(journal_.remains().DropAfter(end));
  HoldReserve();
  return absl::OkStatus();
}

void ContiguousBackend::HoldReserve() {
  HoldAtRest(base(), *frame_.file, std::max(JournalEnd(), pinned_end_), frame_.keeps_history());
}

}  // namespace cairn::frame
