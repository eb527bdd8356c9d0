// How the files of a frame go from one committed state to the next: what differs by layout.
#ifndef CAIRN_ENGINE_FRAME_PUBLISH_COMMIT_BACKEND_H_
#define CAIRN_ENGINE_FRAME_PUBLISH_COMMIT_BACKEND_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/cord.h"

#include "cairn/options.h"
#include "cairn/reports.h"
#include "engine/base/extent.h"
#include "engine/frame/checkpoint/checkpoint_encoder.h"
#include "engine/frame/files/frame_location.h"
#include "engine/frame/files/frame_locks.h"
#include "engine/frame/open/frame_core.h"
#include "engine/frame/stage/stager.h"
#include "engine/frame/sync/group_sync.h"

namespace cairn::frame {

// A frame as its one writer holds it: the committed state, and the file that has it.
struct CommittedFrame {
  std::shared_ptr<FrameCore> core;
  std::shared_ptr<File> file;  // holds the writer's lock
  FrameFile source;            // the same file, for reading; without the lock
  StatePtr state;
  FingerprintType fingerprint = FingerprintType::k64Bit;  // of new checkpoints
  bool plain = false;                         // the first checkpoint has none of Cairn's layers
  uint64_t keep_generations = 0;              // see WriterOptions
  SizeLimit limit = {};                       // likewise, max_file_size
  Durability opening = Durability::kMachine;  // likewise
  std::vector<uint64_t> checkpoints = {};  // generations of those that are kept, the oldest first
  std::unique_ptr<File> peer_lock;
  std::shared_ptr<GroupSync> sync = std::make_shared<GroupSync>();

  const FrameLocation& location() const { return core->location(); }
  bool keeps_history() const { return keep_generations > 0; }

  CommitPoint committed() const {
    return {state->generation(), CommittedEnd(*state), state->journal ? state->journal->base : 0};
  }

  // The committed state is now the one in `written`.
  absl::Status Adopt(std::shared_ptr<File> written);
  // The committed state is now another one in the same file: a durable checkpoint, or a commit.
  absl::Status Reload();
  // A durable checkpoint of this header, which no commit follows: nothing after it is searched.
  absl::Status ReloadCheckpoint(std::vector<std::byte> header);
  void Adopt(StatePtr next);
  absl::Status AdoptCheckpoint(StatePtr loaded);

  // Writes what is at the beginning of the file, and its names, once more: a writer that died may
  // have left them in the page cache alone.
  absl::Status PersistHeader() const;
  // Likewise these bytes; a sync follows.
  absl::Status PersistAgain(Extent bytes) const;
  // Leaves all that PersistHeader does, and the same of `bytes`, to the next sync.
  void OweHeaderAnd(std::vector<Extent> bytes, int64_t durable_end) const;
  // Remembers the checkpoint of the state as one that is kept.
  void NoteCheckpoint();
  // kFailedPrecondition when the location leads to another file.
  absl::Status CheckNotReplaced() const;
  // The generation of the oldest checkpoint to keep after one of `generation`.
  uint64_t OldestToKeep(uint64_t generation) const;
  // For the next generation. `new_file`: nothing of the state before is in the file.
  CheckpointPlan PlanCheckpoint(int64_t index_begin, bool new_file) const;
};

// Whether a generation can follow that of the state.
absl::Status CheckNotLast(const State& state);

// Is called with the chunks done, and returns false to stop.
using ChunkProgress = absl::FunctionRef<bool(int64_t)>;
inline bool NeverStop(int64_t /*chunks*/) { return true; }

// Marks the failure of a step that changed nothing that is committed: the backend stays usable.
inline constexpr char kRefusal[] = "cairn/refused";
inline absl::Status Refuse(absl::Status status) {
  status.SetPayload(kRefusal, absl::Cord());
  return status;
}
// Marks the failure of a step after a commit that stands: the commit is told, and the writer stops.
inline constexpr char kCommitted[] = "cairn/committed";
inline absl::Status AfterCommit(absl::Status status) {
  status.SetPayload(kCommitted, absl::Cord());  // nothing where there is no failure
  return status;
}
// A full disk refuses what was only to be staged.
inline absl::Status RefuseIfFull(absl::Status status) {
  return absl::IsResourceExhausted(status) ? Refuse(std::move(status)) : status;
}
inline absl::Status Finish(Stager& stager) { return RefuseIfFull(stager.Finish()); }

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

  // Lets other writers have the frame; nothing may be staged. Until Continue, nothing is called.
  virtual absl::Status Release();
  // Goes on after Release with what is committed now, in the same file, whose lock is held again.
  // False where opening anew is needed.
  virtual absl::StatusOr<bool> Continue(const WriterOptions& /*options*/) { return false; }

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

#endif  // CAIRN_ENGINE_FRAME_PUBLISH_COMMIT_BACKEND_H_
