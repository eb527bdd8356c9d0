// A checkpoint of a large contiguous frame, made beside the commits that follow the state that it
// is of. docs/guarantees.md gives the reason for each step.
#ifndef CAIRN_ENGINE_FRAME_COMMIT_GRADUAL_CHECKPOINT_H_
#define CAIRN_ENGINE_FRAME_COMMIT_GRADUAL_CHECKPOINT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/base/extent.h"
#include "engine/frame/checkpoint/checkpoint_steps.h"
#include "engine/frame/checkpoint/frame_space.h"
#include "engine/frame/commit/commit_backend.h"
#include "engine/frame/index/chunk_index.h"
#include "engine/frame/journal/replay.h"
#include "engine/frame/sync/background_sync.h"

namespace cairn::frame {

// It lies in a region of the journal that readers skip as a chunk which no commit names. The
// journal goes on after the region, and the checkpoint says that it inherits it from there: both
// the header before and its own lead to the newest commit. Not thread-safe.
class GradualCheckpoint {
 public:
  // Begins one of the committed state, which has no pending items, where its journal ends. `space`
  // is that of the frame then, after a checkpoint. kResourceExhausted where there is no room for
  // it: nothing has changed then.
  static absl::StatusOr<std::unique_ptr<GradualCheckpoint>> Begin(CommittedFrame& frame,
                                                                  FrameSpace space);

  // The journal goes on after it.
  const Extent& region() const { return region_; }

  // The staged edits, whose chunks were placed there, are about to be committed. False where they
  // cannot be followed: then this must go.
  bool Follow(const StagedState& staged, std::span<const Extent> placed);
  // Does a bounded piece of the work.
  absl::Status Advance(int64_t steps);

  // Whether the frame's header leads to it, and perhaps not durably.
  bool is_flipped() const { return phase_ == Phase::kConfirming; }
  // Whether the frame's header leads to it, durably. Then TakeOver makes it the checkpoint of the
  // committed state, and gives the space of the frame.
  bool is_durable() const { return phase_ == Phase::kDurable; }
  absl::StatusOr<FrameSpace> TakeOver();

 private:
  enum class Phase { kWriting, kSyncing, kConfirming, kDurable };

  GradualCheckpoint(CommittedFrame& frame, FrameSpace space, const Extent& region,
                    CheckpointPlan plan);
  absl::Status Reserve();
  absl::Status AfterSync();
  absl::Status Flip();
  void StartSync();

  CommittedFrame& frame_;
  const StatePtr state_;
  const Extent region_;
  FrameSpace space_;
  CheckpointSteps steps_;
  Phase phase_ = Phase::kWriting;
  // What the commits since did.
  JournalFootprint footprint_;
  ChunkIndex chunks_;
  BackgroundSync sync_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_COMMIT_GRADUAL_CHECKPOINT_H_
