// Frees the space of old states of a contiguous frame.
#include <algorithm>
#include <vector>

#include "engine/base/status.h"
#include "engine/frame/commit/checkpoint_encoder.h"
#include "engine/frame/commit/contiguous_backend.h"
#include "engine/frame/commit/reclaim.h"
#include "engine/frame/files/lock_bytes.h"
#include "engine/frame/open/history.h"
#include "engine/frame/open/state_loader.h"

namespace cairn::frame {

// The checkpoint from which on everything is kept.
absl::StatusOr<std::shared_ptr<const State>> ContiguousBackend::OldestKept(
    const ReclaimOptions& options) const {
  CAIRN_ASSIGN_OR_RETURN(
      std::shared_ptr<const State> kept,
      LoadCheckpoint(frame_.source, base().checkpoint->header_bytes, frame_.core->env()));
  const uint64_t newest = base().generation();
  while (kept != nullptr && newest - kept->generation() < options.keep_generations) {
    CAIRN_ASSIGN_OR_RETURN(
        kept, PreviousCheckpoint(frame_.source, *kept, base().checkpoint->seal->oldest_generation));
  }
  return kept;
}

// Whether a reader holds a generation outside [oldest, newest]. Higher generations date from before
// the seal was lost and numbering restarted.
absl::StatusOr<bool> ContiguousBackend::IsReadOutside(uint64_t oldest, uint64_t newest) const {
  CAIRN_ASSIGN_OR_RETURN(const bool before,
                         frame_.file->IsLocked(kReaderLockByte, static_cast<int64_t>(oldest)));
  if (before) return true;
  return frame_.file->IsLocked(ReaderLockByte(newest + 1),
                               static_cast<int64_t>(format::kMaxGeneration - newest));
}

// Makes the newest checkpoint say, durably, that states before this generation are gone.
absl::Status ContiguousBackend::ForgetBefore(uint64_t oldest_generation) {
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<Stager> stager, Stage());
  CAIRN_RETURN_IF_ERROR(Finish(*stager));
  return CommitInPlace(stager->draft(), oldest_generation);
}

// Where a checkpoint has forgotten the older states and no reader holds one, their bytes go.
absl::StatusOr<ReclaimReport> ContiguousBackend::ReclaimSpace(const ReclaimOptions& options) {
  // Where there are no holes, nothing is given up for them.
  CAIRN_RETURN_IF_ERROR(frame_.file->PunchHole(0, 0));
  const bool keeps = options.keep_generations > 0;
  if (!FitsInPlace(StagedState(base()))) {
    if (!keeps) return ReclaimByRewriting();
    // Nothing can go but with all older states.
    return ReclaimReport{.oldest_generation = base().checkpoint->seal_holds
                                                  ? base().checkpoint->seal->oldest_generation
                                                  : base().generation()};
  }
  // The next checkpoint has to say it too: the journal may have brought too many layers.
  if (!base().checkpoint->seal_holds || !HasRoomForSeal(StagedState(base()))) {
    return Unimplemented("the frame has no seal that tells its history");
  }
  if (!keeps && (!base().journal->empty() ||
                 base().checkpoint->seal->oldest_generation < base().generation())) {
    CAIRN_RETURN_IF_ERROR(ForgetBefore(base().generation() + 1));
  }
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const State> kept, OldestKept(options));
  ReclaimReport report{.oldest_generation = base().checkpoint->seal->oldest_generation};
  if (kept == nullptr) return report;
  const uint64_t oldest = kept->generation();
  if (base().checkpoint->seal->oldest_generation < oldest)
    CAIRN_RETURN_IF_ERROR(ForgetBefore(oldest));
  report.oldest_generation = oldest;
  CAIRN_ASSIGN_OR_RETURN(report.blocked, IsReadOutside(oldest, base().generation()));
  if (report.blocked) return report;
  CAIRN_ASSIGN_OR_RETURN(const std::vector<Extent> dead, DeadExtents(*kept));
  CAIRN_ASSIGN_OR_RETURN(report.freed, PunchHoles(*frame_.file, dead));
  HoldReserve();
  return report;
}

// For an empty frame, say: the new file has nothing dead.
absl::StatusOr<ReclaimReport> ContiguousBackend::ReclaimByRewriting() {
  CAIRN_ASSIGN_OR_RETURN(const int64_t before, frame_.file->AllocatedSize());
  CAIRN_RETURN_IF_ERROR(Rewrite(NeverStop).status());
  CAIRN_ASSIGN_OR_RETURN(const int64_t after, frame_.file->AllocatedSize());
  return ReclaimReport{.freed = std::max<int64_t>(before - after, 0),
                       .oldest_generation = base().generation()};
}

}  // namespace cairn::frame
