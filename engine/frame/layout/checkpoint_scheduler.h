// Decides when a contiguous frame gets its next checkpoint, and continues one that is made during
// commits.
#ifndef CAIRN_ENGINE_FRAME_LAYOUT_CHECKPOINT_SCHEDULER_H_
#define CAIRN_ENGINE_FRAME_LAYOUT_CHECKPOINT_SCHEDULER_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"

#include "engine/frame/checkpoint/committed_frame.h"
#include "engine/frame/journal/background_checkpoint.h"
#include "engine/frame/journal/journal_writer.h"
#include "engine/frame/layout/checkpoint_placer.h"
#include "engine/frame/stage/stager.h"
#include "engine/frame/sync/background_task.h"

namespace cairn::frame {

// A checkpoint of a large frame is made during commits; see BackgroundCheckpoint. Each commit asks
// for its step, tells which edits it will commit (Mirror), and lets the checkpoint continue
// (Advance). If that checkpoint cannot be finished, the next one is written at once. Not
// thread-safe.
class CheckpointScheduler {
 public:
  // These must outlive this.
  CheckpointScheduler(CommittedFrame& frame, JournalWriter& journal, const CheckpointPlacer& placer)
      : frame_(frame), journal_(journal), placer_(placer) {}

  enum class Step {
    kNone,      // no checkpoint is due
    kAtOnce,    // this commit must be a checkpoint
    kBegin,     // a checkpoint during commits begins after this one, which leaves nothing pending
    kContinue,  // a checkpoint is made during commits
  };
  // Returns the step for a commit of the staged edits. `is_pinned` is true if a snapshot may read
  // bytes after the committed end.
  Step StepOf(const StagedState& staged, bool is_pinned) const;
  // Returns how many steps of a checkpoint during commits a commit of the staged edits does.
  static int64_t Work(const StagedState& staged);

  // Begins a checkpoint during commits. Called after a commit.
  absl::Status Begin();
  // Lets the checkpoint that is being made, if there is one, follow the staged edits, which are
  // about to be committed. Drops the checkpoint if it cannot follow them.
  absl::Status Mirror(const Stager& stager);
  // Continues the checkpoint, if there is one, with `work` steps, and sums up the journal. Called
  // after a commit.
  absl::Status Advance(const Stager& stager, int64_t work);

  bool is_running() const { return running_ != nullptr; }
  // Returns the least position of the next commit.
  int64_t JournalEnd() const;
  // Drops the checkpoint that is being made. The next one is written at once, because checkpoints
  // that are begun and dropped would only take space.
  void Drop();
  // Drops the checkpoint because another one is about to be written.
  void Stop() { running_.reset(); }
  // Begins again after a checkpoint that another class has written.
  void Restart();
  // Destroys in a thread what the last checkpoint replaced: trees of a million edits take long.
  void DropRetired();

 private:
  bool MayBegin(const StagedState& staged, bool is_pinned) const;
  absl::Status Continue(int64_t work);

  CommittedFrame& frame_;
  JournalWriter& journal_;
  const CheckpointPlacer& placer_;
  std::unique_ptr<BackgroundCheckpoint> running_;
  std::shared_ptr<BackgroundCheckpoint> retired_;  // the last one, with the states before it
  BackgroundTask dropping_;                        // destroys the one that was retired
  bool must_be_at_once_ = false;  // the next checkpoint, because the last one was not finished
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_LAYOUT_CHECKPOINT_SCHEDULER_H_
