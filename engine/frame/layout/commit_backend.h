// How the files of a frame go from one committed state to the next: what differs by layout.
#ifndef CAIRN_ENGINE_FRAME_LAYOUT_COMMIT_BACKEND_H_
#define CAIRN_ENGINE_FRAME_LAYOUT_COMMIT_BACKEND_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "cairn/reports.h"
#include "engine/frame/checkpoint/commit_failures.h"
#include "engine/frame/checkpoint/committed_frame.h"
#include "engine/frame/stage/stager.h"

namespace cairn::frame {

class LiveCopy;

// Not thread-safe. After a step that fails and is not refused it is not known what is in the files:
// nothing more may be called.
class CommitBackend {
 public:
  virtual ~CommitBackend() = default;

  const CommittedFrame& frame() const { return frame_; }

  // The first step of a writer: makes durable what it builds upon, at once or with its first sync.
  // The page cache may show what a dead writer's disk never got, and a sync that failed leaves it
  // there as if it were durable.
  virtual absl::Status PersistBase() { return absl::OkStatus(); }
  // The staged edits will be coded, and then committed that durably.
  virtual void Expect(Durability /*durability*/) {}
  // Whether what PersistBase made durable needs a checkpoint to be known as durable.
  virtual bool needs_checkpoint() const { return false; }
  // A stager on the committed state; the one before it must be gone.
  virtual absl::StatusOr<std::unique_ptr<Stager>> Stage() = 0;
  // Begins, or drops what was staged, which `failed` or not; Stage follows.
  virtual absl::Status Restart(bool failed) = 0;
  // Pins the staged bytes that `snapshot` may read, as long as it lives.
  virtual void PinStaged(const StatePtr& snapshot) = 0;
  virtual bool IsPinned() const = 0;
  // Drops what only snapshots that are gone had pinned. Nothing may be staged; the stager stays.
  virtual absl::Status DropUnpinned() { return absl::OkStatus(); }

  // Whether other writers work beside this one: then no lock keeps them away.
  virtual bool is_shared() const { return false; }

  // Lets other writers have the frame; nothing may be staged. Until Resume, nothing is called.
  virtual absl::Status Suspend();
  // Goes on after Suspend with what is committed now, in the same file, whose lock is held again.
  // False where opening anew is needed.
  virtual absl::StatusOr<bool> Resume(const WriterOptions& /*options*/) { return false; }

  // Does what PublishPrepared then does without: all that may find the disk full. Restart drops it.
  virtual absl::Status PrepareCommit(Stager& /*stager*/, Durability /*durability*/) {
    return absl::OkStatus();
  }

  // Each of these ends with a committed state. Where that is not the stager's base, Stage follows.
  // Publishes the staged edits as a commit record, or as a checkpoint where the layout has no
  // journal.
  virtual absl::Status PublishCommit(Stager& stager, Durability /*durability*/) {
    return WriteCheckpoint(stager);
  }
  // The same after PrepareCommit of the same edits.
  virtual absl::Status PublishPrepared(Stager& stager, Durability durability) {
    return PublishCommit(stager, durability);
  }
  // Whether Close leaves a checkpoint; else a commit.
  virtual bool IsWorthClosing(const Stager& /*stager*/) const { return true; }
  // Publishes the staged edits, and the journal, in a checkpoint.
  virtual absl::Status WriteCheckpoint(Stager& stager) = 0;
  // Makes durable what is committed.
  virtual absl::Status SyncCommitted() { return absl::OkStatus(); }

  // For these nothing is staged, and no stager reads the committed state.
  // Frees the space that no kept state needs.
  virtual absl::StatusOr<ReclaimReport> ReclaimSpace(const ReclaimOptions& options) = 0;
  // Writes the committed state without a dead byte; ends with what `begun` has, if that is not null
  // and fits. Returns the bytes that the files had before.
  virtual absl::StatusOr<int64_t> Rewrite(std::unique_ptr<LiveCopy> begun,
                                          ChunkProgress progress) = 0;
  // Leaves nothing in the files but the committed frame and its reserve of disk space.
  virtual absl::Status DropUncommitted() = 0;

  // The backend that goes on from here, or null if this one does.
  virtual std::unique_ptr<CommitBackend> Successor() { return nullptr; }

 protected:
  CommitBackend(CommittedFrame frame, StagerOptions options)
      : frame_(std::move(frame)), options_(std::move(options)) {}
  const State& base() const { return *frame_.state; }

  CommittedFrame frame_;
  const StagerOptions options_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_LAYOUT_COMMIT_BACKEND_H_
