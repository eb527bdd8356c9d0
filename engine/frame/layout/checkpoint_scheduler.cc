#include "engine/frame/layout/checkpoint_scheduler.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/base/status.h"

namespace cairn::frame {

namespace {

// A journal may become this many times as long as it should while a checkpoint is made during
// commits.
constexpr int64_t kPatience = 8;
// A commit does one more step for this many edits.
constexpr int64_t kEditsOfStep = 8;

// A frame that takes this many times its live bytes must get shorter at once, if it cannot do so
// during commits.
constexpr int64_t kMostTimesAtAll = 4;

}  // namespace

CheckpointScheduler::Step CheckpointScheduler::StepOf(const StagedState& staged,
                                                      bool is_pinned) const {
  if (is_running()) {
    const int64_t set_aside = running_->is_shrinking() ? 0 : running_->region().size();
    return journal_.IsLong(staged, kPatience, set_aside) ? Step::kAtOnce : Step::kContinue;
  }
  if (!journal_.IsLong(staged)) return Step::kNone;
  return MayBegin(staged, is_pinned) ? Step::kBegin : Step::kAtOnce;
}

bool CheckpointScheduler::MayBegin(const StagedState& staged, bool is_pinned) const {
  const CheckpointPolicy& policy = frame_.core->env()->checkpoints;
  const bool is_large = staged.nchunks() >= policy.least_gradual;
  const bool is_sealed = frame_.state->checkpoint->seal_holds && !frame_.plain &&
                         frame_.fingerprint != FingerprintType::kNone && HasRoomForSeal(staged);
  const bool may_be = is_large && is_sealed && !must_be_at_once_ && !frame_.keeps_history() &&
                      frame_.limit.bytes == INT64_MAX && journal_.tail().space().enabled() &&
                      !is_pinned && !journal_.tail().sink().left_journal() && FitsInPlace(staged);
  if (!may_be) return false;
  if (placer_.RoomBelow().has_value()) return true;
  const bool must_shrink =
      journal_.tail().space().free().TakesTimes(kMostTimesAtAll, policy.least_free);
  return placer_.MayBeAbove() && !(must_shrink && placer_.CanShrink());
}

int64_t CheckpointScheduler::Work(const StagedState& staged) {
  return 1 + staged.chunk_edits.count() / kEditsOfStep;
}

absl::Status CheckpointScheduler::Begin() {
  const std::optional<Extent> room = placer_.RoomBelow();
  must_be_at_once_ = !room.has_value() && !placer_.MayBeAbove();
  if (must_be_at_once_) return absl::OkStatus();
  if (room.has_value()) CAIRN_RETURN_IF_ERROR(PersistOwed(journal_));
  absl::StatusOr<std::unique_ptr<BackgroundCheckpoint>> begun =
      room.has_value()
          ? BackgroundCheckpoint::BeginShrinking(frame_, journal_.tail().space(), *room)
          : BackgroundCheckpoint::Begin(frame_, journal_.tail().space());
  must_be_at_once_ = absl::IsResourceExhausted(begun.status());
  if (must_be_at_once_) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(begun.status());
  running_ = *std::move(begun);
  if (!running_->is_shrinking()) journal_.tail().SetAside(running_->region());
  return absl::OkStatus();
}

absl::Status CheckpointScheduler::Mirror(const Stager& stager) {
  if (!is_running()) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(const bool mirrored, running_->Mirror(stager, journal_.tail().sink()));
  if (!mirrored) Drop();
  return absl::OkStatus();
}

absl::Status CheckpointScheduler::Advance(const Stager& stager, int64_t work) {
  if (!is_running()) return journal_.summarizer().SumUp(stager);
  // A shrinking checkpoint does not inherit this journal, and the next writer would not keep a
  // summary in it for its readers.
  const bool is_shrinking = running_->is_shrinking();
  CAIRN_ASSIGN_OR_RETURN(const bool summed_up, journal_.summarizer().SumUpFor(*running_, stager));
  CAIRN_RETURN_IF_ERROR(Continue(work));
  // Readers that open the frame use the summaries of the new checkpoint from its header on.
  const bool may_sum_up =
      !summed_up && (!is_running() || !(running_->is_flipped() || is_shrinking));
  return may_sum_up ? journal_.summarizer().SumUp(stager) : absl::OkStatus();
}

absl::Status CheckpointScheduler::Continue(int64_t work) {
  const absl::Status status = running_->Advance(work);
  must_be_at_once_ = absl::IsUnimplemented(status) || absl::IsResourceExhausted(status);
  if (must_be_at_once_) {
    running_.reset();
    return absl::OkStatus();
  }
  CAIRN_RETURN_IF_ERROR(status);
  if (!running_->is_durable()) return absl::OkStatus();
  const StatePtr before = frame_.state;
  CAIRN_RETURN_IF_ERROR(running_->TakeOver());
  // The states before the checkpoint are destroyed later, when no stager needs them.
  retired_ = std::move(running_);
  if (retired_->is_shrinking()) return journal_.ContinueBelow(*before);
  journal_.ContinueAfterCheckpoint(retired_->summaries());
  return absl::OkStatus();
}

void CheckpointScheduler::Drop() {
  must_be_at_once_ = must_be_at_once_ || is_running();
  running_.reset();
}

void CheckpointScheduler::Restart() {
  running_.reset();
  must_be_at_once_ = false;
}

void CheckpointScheduler::DropRetired() {
  if (retired_ == nullptr || (dropping_.is_running() && !dropping_.Poll().has_value())) return;
  dropping_.Start(
      [retired = std::exchange(retired_, nullptr)]() mutable {
        retired.reset();
        return absl::OkStatus();
      },
      frame_.core->env()->checkpoints.use_thread);
}

int64_t CheckpointScheduler::JournalEnd() const {
  return std::max(CommittedEnd(*frame_.state), is_running() ? running_->region().end : 0);
}

}  // namespace cairn::frame
