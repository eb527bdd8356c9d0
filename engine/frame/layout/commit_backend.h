// Moves the files of a frame from one committed state to the next, as each layout needs.
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

// Tells a checkpoint if the writer goes on after it.
enum class Follows { kCommits, kNothing };

// Commits the edits of one writer. Not thread-safe. After a step that fails and is not refused, the
// content of the files is not known, and nothing more may be called.
class CommitBackend {
 public:
  virtual ~CommitBackend() = default;

  const CommittedFrame& frame() const { return frame_; }

  // Makes the committed state durable, at once or with the first sync. This is the first step of a
  // writer. The page cache may show bytes of a dead writer that the disk never got, and keeps them
  // after a sync that failed as if they were durable.
  virtual absl::Status PersistBase() { return absl::OkStatus(); }
  // Announces that the staged edits will be compressed, and then committed with this durability.
  virtual void Expect(Durability /*durability*/) {}
  // Returns true if only a checkpoint can record that the state which PersistBase wrote is durable.
  virtual bool needs_checkpoint() const { return false; }
  // Returns a stager on the committed state. The stager before it must be destroyed.
  virtual absl::StatusOr<std::unique_ptr<Stager>> Stage() = 0;
  // Begins, or drops the staged edits. `failed` is true if a step of theirs has failed. Stage must
  // follow.
  virtual absl::Status Restart(bool failed) = 0;
  // Pins the staged bytes that `snapshot` may read, as long as it lives.
  virtual void PinStaged(const StatePtr& snapshot) = 0;
  virtual bool IsPinned() const = 0;
  // Drops staged bytes that only destroyed snapshots had pinned. Nothing may be staged; the stager
  // stays.
  virtual absl::Status DropUnpinned() { return absl::OkStatus(); }

  // Returns true if other writers may commit at the same time, because no lock keeps them away.
  virtual bool is_shared() const { return false; }

  // Lets other writers have the frame. Nothing may be staged. Until Resume, nothing may be called.
  virtual absl::Status Suspend();
  // Continues after Suspend with the newest commit in the same file, whose lock is held again.
  // Returns false if the frame must be opened again.
  virtual absl::StatusOr<bool> Resume(const WriterOptions& /*options*/) { return false; }

  // Does all the work of PublishPrepared that may find the disk full. Restart drops its result.
  virtual absl::Status PrepareCommit(Stager& /*stager*/, Durability /*durability*/) {
    return absl::OkStatus();
  }

  // Each of these ends with a committed state. If that is not the base of the stager, Stage must
  // follow.
  // Publishes the staged edits as a commit record, or as a checkpoint if the layout has no journal.
  virtual absl::Status PublishCommit(Stager& stager, Durability /*durability*/) {
    return WriteCheckpoint(stager, Follows::kCommits);
  }
  // Publishes the edits after PrepareCommit of the same edits.
  virtual absl::Status PublishPrepared(Stager& stager, Durability durability) {
    return PublishCommit(stager, durability);
  }
  // Returns true if Close should write a checkpoint. Otherwise a commit is enough.
  virtual bool IsWorthClosing(const Stager& /*stager*/) const { return true; }
  // Publishes the staged edits, and the journal, in a checkpoint. If nothing is expected to follow,
  // no space is kept for commits.
  virtual absl::Status WriteCheckpoint(Stager& stager, Follows follows) = 0;
  // Makes all commits durable.
  virtual absl::Status SyncCommitted() { return absl::OkStatus(); }

  // For these, nothing may be staged, and no stager may read the committed state.
  // Frees the space that no kept state needs.
  virtual absl::StatusOr<ReclaimReport> ReclaimSpace(const ReclaimOptions& options) = 0;
  // Writes the committed state without dead bytes. Completes `begun`, if that is not null and fits.
  // Returns the bytes that the files had before.
  virtual absl::StatusOr<int64_t> Rewrite(std::unique_ptr<LiveCopy> begun,
                                          ChunkProgress progress) = 0;
  // Removes everything from the files except the committed frame and its reserve of disk space.
  virtual absl::Status DropUncommitted() = 0;

  // Returns the backend that continues from here, or null if this one does.
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
