// How the writer of a contiguous frame frees the space of old states.
#include <algorithm>
#include <vector>

#include "engine/base/status.h"
#include "engine/frame/commit/checkpoint_encoder.h"
#include "engine/frame/commit/contiguous_writer.h"
#include "engine/frame/commit/reclaim.h"
#include "engine/frame/files/frame_location.h"
#include "engine/frame/open/history.h"
#include "engine/frame/open/state_loader.h"

namespace cairn::frame {

// The checkpoint from which on everything is kept.
absl::StatusOr<std::shared_ptr<const State>> ContiguousWriter::OldestKept(
    const ReclaimOptions& options) const {
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const State> kept,
                         LoadCheckpoint(source_, base_->checkpoint->header_bytes, core_->env()));
  const uint64_t newest = base_->generation();
  while (kept != nullptr && newest - kept->generation() < options.keep_generations) {
    CAIRN_ASSIGN_OR_RETURN(
        kept, PreviousCheckpoint(source_, *kept, base_->checkpoint->seal->oldest_generation));
  }
  return kept;
}

// Whether anybody reads a checkpoint that is none of these. Numbers above the newest one are those
// of before a frame lost its seal, and with it the count.
absl::StatusOr<bool> ContiguousWriter::IsReadOutside(uint64_t oldest, uint64_t newest) const {
  CAIRN_ASSIGN_OR_RETURN(const bool before,
                         file_->IsLocked(kReaderLockByte, static_cast<int64_t>(oldest)));
  if (before) return true;
  return file_->IsLocked(ReaderLockByte(newest + 1),
                         static_cast<int64_t>(format::kMaxGeneration - newest));
}

// The newest checkpoint is made to say that states before `kept` are gone, and that durably; then,
// if nobody reads one of them, their bytes go.
absl::StatusOr<ReclaimReport> ContiguousWriter::Free(const ReclaimOptions& options) {
  if (core_->place().files == nullptr) return Unimplemented("a frame in memory has no disk space");
  const bool keeps = options.keep_generations > 0;
  if (!FitsInPlace()) {
    if (!keeps) return FreeByRewriting();
    // Nothing can go but with all older states.
    return ReclaimReport{.oldest_generation = base_->checkpoint->seal_holds
                                                  ? base_->checkpoint->seal->oldest_generation
                                                  : base_->generation()};
  }
  // The next checkpoint has to tell it too: the journal may have brought too many layers.
  if (!base_->checkpoint->seal_holds || !HasRoomForSeal(stager_->draft())) {
    return Unimplemented("the frame has no seal that tells its history");
  }
  if (!keeps && (!base_->journal->empty() ||
                 base_->checkpoint->seal->oldest_generation < base_->generation())) {
    CAIRN_RETURN_IF_ERROR(Finish());
    CAIRN_RETURN_IF_ERROR(CommitInPlace(base_->generation() + 1));
    BeginAfterCheckpoint();
  }
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const State> kept, OldestKept(options));
  ReclaimReport report{.oldest_generation = base_->checkpoint->seal->oldest_generation};
  if (kept == nullptr) return report;
  const uint64_t oldest = kept->generation();
  if (base_->checkpoint->seal->oldest_generation < oldest) {
    CAIRN_RETURN_IF_ERROR(Finish());
    CAIRN_RETURN_IF_ERROR(CommitInPlace(oldest));
    BeginAfterCheckpoint();
  }
  report.oldest_generation = oldest;
  CAIRN_ASSIGN_OR_RETURN(report.blocked, IsReadOutside(oldest, base_->generation()));
  if (report.blocked) return report;
  CAIRN_ASSIGN_OR_RETURN(const std::vector<Extent> dead, DeadExtents(*kept));
  CAIRN_ASSIGN_OR_RETURN(report.freed, PunchHoles(*file_, dead));
  HoldReserve();
  return report;
}

// An empty frame, say, goes to a new file that has nothing dead.
absl::StatusOr<ReclaimReport> ContiguousWriter::FreeByRewriting() {
  CAIRN_ASSIGN_OR_RETURN(const int64_t before, file_->AllocatedSize());
  CAIRN_RETURN_IF_ERROR(Rewrite(NeverStop).status());
  CAIRN_ASSIGN_OR_RETURN(const int64_t after, file_->AllocatedSize());
  return ReclaimReport{.freed = std::max<int64_t>(before - after, 0),
                       .oldest_generation = base_->generation()};
}

}  // namespace cairn::frame
