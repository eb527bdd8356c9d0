// Makes a checkpoint of a large contiguous frame during the commits that follow its state.
// docs/guarantees.md gives the reason for each step.
#ifndef CAIRN_ENGINE_FRAME_JOURNAL_BACKGROUND_CHECKPOINT_H_
#define CAIRN_ENGINE_FRAME_JOURNAL_BACKGROUND_CHECKPOINT_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/base/extent.h"
#include "engine/frame/checkpoint/checkpoint_steps.h"
#include "engine/frame/checkpoint/committed_frame.h"
#include "engine/frame/index/chunk_index.h"
#include "engine/frame/journal/own_journal.h"
#include "engine/frame/replay/summary.h"
#include "engine/frame/space/frame_space.h"
#include "engine/frame/stage/contiguous_sink.h"
#include "engine/frame/sync/background_task.h"

namespace cairn::frame {

// The checkpoint lies in a region of the journal, which readers skip like a chunk that no commit
// names. The journal continues after the region, and the checkpoint inherits it from there: the old
// header and the new one both lead to the newest commit.
//
// A shrinking checkpoint lies in free space instead, which makes the file shorter. It has a journal
// of its own, with a second copy of the commits after its state.
//
// A thread writes the checkpoint. Not thread-safe.
class BackgroundCheckpoint {
 public:
  // Begins a checkpoint of the committed state, which has no pending items, where its journal ends.
  // `space` is the space of the frame. It must stay where it is until this is destroyed, or until
  // TakeOver. Errors: kResourceExhausted if there is no room; nothing has changed then.
  static absl::StatusOr<std::unique_ptr<BackgroundCheckpoint>> Begin(CommittedFrame& frame,
                                                                     FrameSpace& space);
  // Begins a shrinking checkpoint in `room`. All else is as for Begin.
  static absl::StatusOr<std::unique_ptr<BackgroundCheckpoint>> BeginShrinking(CommittedFrame& frame,
                                                                              FrameSpace& space,
                                                                              const Extent& room);
  // Returns the least bytes of room for a shrinking checkpoint and its journal.
  static int64_t LeastRoom(const State& state, const FrameSpace& space);
  // Stops the work. Without TakeOver, the space is as it would be without this checkpoint.
  ~BackgroundCheckpoint();

  bool is_shrinking() const { return journal_.has_value(); }
  // The journal of a shrinking checkpoint.
  OwnJournal& journal() { return *journal_; }
  // Bytes of the file for the checkpoint. The journal continues after them, unless the checkpoint
  // is a shrinking one.
  const Extent& region() const { return region_; }

  // Takes note of the staged edits, which are about to be committed. Returns false if it cannot
  // follow them: then this must be destroyed.
  absl::StatusOr<bool> Mirror(const Stager& stager, const ContiguousSink& sink);
  // Does a bounded piece of the work.
  absl::Status Advance(int64_t steps);

  // Returns true if the frame's header leads to the checkpoint, but is perhaps not durable yet.
  bool is_flipped() const { return phase_ == Phase::kConfirming && !is_shrinking(); }
  // Returns true if the frame's header leads to the checkpoint and is durable. TakeOver must
  // follow.
  bool is_durable() const { return phase_ == Phase::kDurable; }
  // Makes this the checkpoint of the committed state; bytes that it does not need are dead. After
  // that, destroy this in a thread if you can, because it holds large trees.
  absl::Status TakeOver();

  // Returns the committed state as one that follows this checkpoint, for the summaries that readers
  // of the checkpoint will use. Its index has only the edits; TakeOver loads what they apply to.
  State StateSince() const;
  // Edits of the commits after the checkpoint.
  int64_t edits_since() const;
  // Returns the place of the checkpoint's anchor, or nothing until the anchor is written.
  std::optional<AnchorPlace> anchor() const;
  // Makes the index of StateSince continue from this summary of it.
  void SetSummary(std::shared_ptr<const SummarizedIndex> summary);
  SummaryProgress& summaries() { return summaries_; }

 private:
  // A shrinking checkpoint is loaded and synced again before its header is written, so that the
  // sync after the header has little to write.
  enum class Phase { kListing, kWriting, kSyncing, kConfirming, kDurable };

  BackgroundCheckpoint(CommittedFrame& frame, FrameSpace& space, const Extent& region,
                       std::optional<OwnJournal> journal);
  absl::Status Reserve();
  void ListSome();
  void Plan();
  absl::Status WriteSome(int64_t steps);
  absl::Status AfterTask();
  absl::Status Flip();
  absl::Status WriteHeader();
  void StartSync();
  void StartSyncAndLoad();
  absl::Status SyncAndLoad(const CommitPoint& point);

  CommittedFrame& frame_;
  FrameSpace& space_;
  const StatePtr state_;
  StatePtr before_;  // the committed state before TakeOver
  const Extent region_;
  std::optional<OwnJournal> journal_;
  const int64_t index_begin_;
  const bool use_thread_;
  CheckpointPlan plan_;
  // The most extents that the lists of free space and of births have room for.
  int64_t most_free_;
  int64_t most_born_;
  DeadSpace dead_;
  std::optional<CheckpointSteps> steps_;
  StatePtr loaded_;
  Phase phase_ = Phase::kListing;
  bool is_taken_over_ = false;
  // The index with the edits of the commits after `state_`.
  ChunkIndex chunks_;
  SummaryProgress summaries_;
  std::atomic<bool> stop_ = false;
  BackgroundTask task_;  // uses the fields above, so it is destroyed first
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_JOURNAL_BACKGROUND_CHECKPOINT_H_
