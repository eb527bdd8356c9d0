// How the files of a frame go from one committed state to the next: what differs by layout.
#ifndef CAIRN_ENGINE_FRAME_COMMIT_COMMIT_BACKEND_H_
#define CAIRN_ENGINE_FRAME_COMMIT_COMMIT_BACKEND_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/cord.h"

#include "cairn/options.h"
#include "cairn/reports.h"
#include "engine/frame/commit/committed_frame.h"
#include "engine/frame/commit/live_copy.h"
#include "engine/frame/stage/stager.h"

namespace cairn::frame {

// Marks the failure of a step that changed nothing that is committed: the backend stays usable.
inline constexpr char kRefusal[] = "cairn/refused";
inline absl::Status Refuse(absl::Status status) {
  status.SetPayload(kRefusal, absl::Cord());
  return status;
}
// The stager's Finish; a full disk refuses it.
inline absl::Status Finish(Stager& stager) {
  absl::Status status = stager.Finish();
  return absl::IsResourceExhausted(status) ? Refuse(std::move(status)) : status;
}

// Not thread-safe. After a step that fails and is not refused it is not known what is in the files:
// nothing more may be called.
class CommitBackend {
 public:
  virtual ~CommitBackend() = default;

  virtual const CommittedFrame& frame() const = 0;

  // The first step of a writer: makes durable what it builds upon. The page cache may show what a
  // dead writer's disk never got, and a sync that failed leaves it there as if it were durable.
  virtual absl::Status PersistBase() { return absl::OkStatus(); }
  // A stager on the committed state; the one before it must be gone.
  virtual absl::StatusOr<std::unique_ptr<Stager>> Stage() = 0;
  // Drops what was staged, which `failed` or not; Stage follows.
  virtual absl::Status Restart(bool failed) = 0;
  // Pins the staged bytes that `snapshot` may read, as long as it lives.
  virtual void PinStaged(const std::shared_ptr<const State>& snapshot) = 0;

  // Each of these ends with a committed state. Where that is not the stager's base, Stage follows.
  // Publishes the staged edits as a commit record, or as a checkpoint where the layout has no
  // journal.
  virtual absl::Status PublishCommit(Stager& stager, Durability /*durability*/) {
    return WriteCheckpoint(stager);
  }
  // Publishes the staged edits, and the journal, in a checkpoint.
  virtual absl::Status WriteCheckpoint(Stager& stager) = 0;
  // Makes durable what is committed.
  virtual absl::Status SyncCommitted() { return absl::OkStatus(); }

  // For these nothing is staged, and no stager reads the committed state.
  // Frees the space that no kept state needs.
  virtual absl::StatusOr<ReclaimReport> ReclaimSpace(const ReclaimOptions& options) = 0;
  // Writes the committed state without a dead byte. Returns the bytes that the files had before.
  virtual absl::StatusOr<int64_t> Rewrite(ChunkProgress progress) = 0;
  // Leaves nothing in the files but the committed frame and its reserve of disk space.
  virtual absl::Status DropUncommitted() = 0;

  // The backend that goes on from here, or null if this one does.
  virtual std::unique_ptr<CommitBackend> Successor() { return nullptr; }
};

// A frame that does not exist until its first checkpoint. The backend of its layout succeeds it.
class CreatingBackend : public CommitBackend {
 public:
  // Nothing is committed that could be reclaimed or compacted; a creating stager is always edited.
  absl::StatusOr<ReclaimReport> ReclaimSpace(const ReclaimOptions&) final {
    return absl::InternalError("the frame does not exist yet");
  }
  absl::StatusOr<int64_t> Rewrite(ChunkProgress) final {
    return absl::InternalError("the frame does not exist yet");
  }
  // What has no name goes with its owner.
  absl::Status DropUncommitted() final { return absl::OkStatus(); }
  std::unique_ptr<CommitBackend> Successor() final { return std::move(successor_); }

 protected:
  std::unique_ptr<CommitBackend> successor_;  // once the frame is published
};

// How a frame is created.
struct CreationPlan {
  FrameLocation final_location;  // where it is found from the first commit on
  bool replace = false;          // it may take the name of another
  bool plain = false;            // it has none of Cairn's layers
  bool array = false;            // it begins as an n-dimensional array of zeros
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_COMMIT_COMMIT_BACKEND_H_
