// Does what may find the disk full before a contiguous frame commits.
#include "engine/base/status.h"
#include "engine/frame/layout/contiguous_backend.h"

namespace cairn::frame {

absl::Status ContiguousBackend::MakeRoom(Stager& stager) {
  DropRetired();
  CAIRN_RETURN_IF_ERROR(journal_.remains().TidyUpNowAndThen());
  CAIRN_RETURN_IF_ERROR(relocation_.StageSome(stager));
  CAIRN_RETURN_IF_ERROR(journal_.headroom().CheckLimit(stager));
  return journal_.headroom().Reserve(stager);
}

// A record, where there is room for one: a checkpoint that is due waits for the next commit.
absl::Status ContiguousBackend::PrepareCommit(Stager& stager, Durability durability) {
  if (!is_prepared_) {
    CAIRN_RETURN_IF_ERROR(MakeRoom(stager));
    if (journal_.HasRoomForCommit(stager)) {
      CAIRN_RETURN_IF_ERROR(RefuseIfFull(journal_.tail().sink().Flush()));
      if (gradual_ != nullptr) CAIRN_RETURN_IF_ERROR(FollowGradually(stager));
    } else {
      journal_.tail().sink().SetLimit({});
      CAIRN_RETURN_IF_ERROR(Finish(stager));
      if (!FitsInPlace(stager.staged())) {
        return Refuse(Unimplemented("a commit to a new file cannot be prepared"));
      }
      CAIRN_RETURN_IF_ERROR(PlaceCheckpoint(stager.staged(), std::nullopt));
    }
    is_prepared_ = true;
  }
  // What is staged may yet be rolled back: nothing more than before counts as durable.
  return durability == Durability::kMachine ? frame_.sync->Sync(frame_.committed())
                                            : absl::OkStatus();
}

absl::Status ContiguousBackend::PublishPrepared(Stager& stager, Durability durability) {
  if (placed_.has_value()) return FlipToPlaced(stager.staged());
  const int64_t steps = StepsFor(stager.staged());
  CAIRN_ASSIGN_OR_RETURN(const bool published, journal_.Publish(stager, durability));
  if (!published) return FailedPrecondition("a commit that was prepared has no room");
  is_prepared_ = false;
  return AfterCommit(AdvanceAndSumUp(stager, steps));
}

}  // namespace cairn::frame
