// A checkpoint of a large contiguous frame, made beside the commits that follow the state that it
// is of. docs/guarantees.md gives the reason for each step.
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

// It lies in a region of the journal that readers skip as a chunk which no commit names. The
// journal goes on after the region, and the checkpoint says that it inherits it from there: both
// the header before and its own lead to the newest commit. A shrinking checkpoint lies in free
// space instead, so that the file can get shorter, with a journal of its own that holds the commits
// since once more. A thread writes it. Not thread-safe.
class BackgroundCheckpoint {
 public:
  // Begins one of the committed state, which has no pending items, where its journal ends. `space`
  // is that of the frame, and must outlive this or stay where it is until TakeOver.
  // kResourceExhausted where there is no room for it: nothing has changed then.
  static absl::StatusOr<std::unique_ptr<BackgroundCheckpoint>> Begin(CommittedFrame& frame,
                                                                     FrameSpace& space);
  // Begins a shrinking checkpoint in `room`, likewise.
  static absl::StatusOr<std::unique_ptr<BackgroundCheckpoint>> BeginShrinking(CommittedFrame& frame,
                                                                              FrameSpace& space,
                                                                              const Extent& room);
  // Returns how many bytes of room a shrinking checkpoint takes at least.
  static int64_t LeastRoom(const State& state, const FrameSpace& space);
  // Without TakeOver, the space is as if there had been none.
  ~BackgroundCheckpoint();

  bool is_shrinking() const { return journal_.has_value(); }
  // The journal of a shrinking checkpoint.
  OwnJournal& journal() { return *journal_; }
  // The journal goes on after it, unless this is a shrinking checkpoint.
  const Extent& region() const { return region_; }

  // The staged edits are about to be committed. False where they cannot be followed: then this must
  // go.
  absl::StatusOr<bool> Mirror(const Stager& stager, const ContiguousSink& sink);
  // Does a bounded piece of the work.
  absl::Status Advance(int64_t steps);

  // Whether the frame's header leads to it, and perhaps not durably.
  bool is_flipped() const { return phase_ == Phase::kConfirming && !is_shrinking(); }
  // Whether the frame's header leads to it, durably. Then TakeOver makes it the checkpoint of the
  // committed state, and what it does not need is dead. Large trees go with this after that: best
  // in a thread.
  bool is_durable() const { return phase_ == Phase::kDurable; }
  absl::Status TakeOver();

  // For summaries of the journal that its readers are going to use: the committed state as one that
  // follows this checkpoint, but for the index, and how many edits that takes.
  State StateSince() const;
  int64_t edits_since() const;
  // Where its anchor is; nothing until that is written.
  std::optional<AnchorPlace> anchor() const;
  // The state since goes on from that.
  void SetSummary(std::shared_ptr<const SummarizedIndex> summary);
  SummaryProgress& summaries() { return summaries_; }

 private:
  // A shrinking checkpoint is loaded and synced again before its header is written: little is left
  // to be synced with that.
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
  StatePtr before_;  // TakeOver
  const Extent region_;
  std::optional<OwnJournal> journal_;
  const int64_t index_begin_;
  const bool use_thread_;
  CheckpointPlan plan_;
  // Extents that the lists have room for.
  int64_t most_free_;
  int64_t most_born_;
  DeadSpace dead_;
  std::optional<CheckpointSteps> steps_;
  StatePtr loaded_;
  Phase phase_ = Phase::kListing;
  bool is_taken_over_ = false;
  // What the commits since did.
  ChunkIndex chunks_;
  SummaryProgress summaries_;
  std::atomic<bool> stop_ = false;
  BackgroundTask task_;  // uses what is above
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_JOURNAL_BACKGROUND_CHECKPOINT_H_
