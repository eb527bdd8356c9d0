// When a contiguous frame gets its next checkpoint, and how far one is that is made beside commits.
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

// A checkpoint of a large frame is made beside commits; see BackgroundCheckpoint. Each commit asks
// for its step, tells what it is going to commit (Mirror), and lets the checkpoint continue
// (Advance). If it cannot be finished, the next checkpoint is written at once. Not thread-safe.
class CheckpointScheduler {
 public:
  // These must outlive this.
  CheckpointScheduler(CommittedFrame& frame, JournalWriter& journal, const CheckpointPlacer& placer)
      : frame_(frame), journal_(journal), placer_(placer) {}

  enum class Step {
    kNone,      // no checkpoint is due
    kAtOnce,    // this commit must be a checkpoint
    kBegin,     // after the commit, which leaves nothing pending, one begins beside commits
    kContinue,  // one is made beside commits
  };
  // Returns what a commit of the staged edits does. `is_pinned`: a snapshot may read bytes after
  // the committed end.
  Step StepOf(const StagedState& staged, bool is_pinned) const;
  // Returns how much of a checkpoint beside commits a commit of the staged edits does.
  static int64_t Work(const StagedState& staged);

  // After a commit: begins one beside commits.
  absl::Status Begin();
  // The staged edits are about to be committed: the checkpoint that is being made, if there is one,
  // mirrors them, or is dropped where it cannot.
  absl::Status Mirror(const Stager& stager);
  // After a commit: continues the checkpoint with that much work, if there is one, and sums up the
  // journal.
  absl::Status Advance(const Stager& stager, int64_t work);

  bool is_running() const { return running_ != nullptr; }
  // Returns where the next commit goes, at least.
  int64_t JournalEnd() const;
  // Drops the checkpoint that is being made: the next one is written at once, since one begun and
  // dropped after the other would only take space.
  void Drop();
  // Drops it because another checkpoint is about to be written.
  void Stop() { running_.reset(); }
  // Another checkpoint was written.
  void Restart();
  // Lets what the last checkpoint replaced go in a thread: trees of a million edits take long.
  void DropRetired();

 private:
  bool MayBegin(const StagedState& staged, bool is_pinned) const;
  absl::Status Continue(int64_t work);

  CommittedFrame& frame_;
  JournalWriter& journal_;
  const CheckpointPlacer& placer_;
  std::unique_ptr<BackgroundCheckpoint> running_;
  std::shared_ptr<BackgroundCheckpoint> retired_;  // the last one, with the states before it
  BackgroundTask dropping_;                        // drops that
  bool must_be_at_once_ = false;                   // the next one: the last was not finished
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_LAYOUT_CHECKPOINT_SCHEDULER_H_
