// Holds a frame as its only writer sees it.
#ifndef CAIRN_ENGINE_FRAME_CHECKPOINT_COMMITTED_FRAME_H_
#define CAIRN_ENGINE_FRAME_CHECKPOINT_COMMITTED_FRAME_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

#include "cairn/options.h"
#include "engine/base/extent.h"
#include "engine/frame/checkpoint/checkpoint_encoder.h"
#include "engine/frame/files/frame_location.h"
#include "engine/frame/files/frame_locks.h"
#include "engine/frame/open/frame_core.h"
#include "engine/frame/stage/chunk_sink.h"
#include "engine/frame/sync/group_sync.h"

namespace cairn::frame {

// The committed state, and the file that has it.
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
  std::vector<uint64_t> checkpoints = {};     // generations of kept checkpoints, the oldest first
  std::unique_ptr<File> peer_lock;
  std::shared_ptr<GroupSync> sync = std::make_shared<GroupSync>();

  const FrameLocation& location() const { return core->location(); }
  bool keeps_history() const { return keep_generations > 0; }

  CommitPoint committed() const {
    return {state->generation(), CommittedEnd(*state), state->journal ? state->journal->base : 0};
  }

  // Takes the committed state from `written`, which becomes the file of the frame.
  absl::Status InstallFile(std::shared_ptr<File> written);
  // Takes another committed state from the same file: a durable checkpoint, or a commit after it.
  absl::Status Reload();
  // Takes the durable checkpoint of this header. No commit follows it, so none is searched for.
  // What `end` has of the end of the frame is not read again.
  absl::Status ReloadCheckpoint(std::vector<std::byte> header, Chunk end = {});
  void InstallState(StatePtr next);
  absl::Status InstallCheckpoint(StatePtr loaded);

  // Writes the fixed part of the header again, and syncs the file and its names. A writer that died
  // may have left them in the page cache alone.
  absl::Status PersistHeader() const;
  // Writes these bytes again, for the same reason. A sync must follow.
  absl::Status PersistAgain(Extent bytes) const;
  // Leaves the work of PersistHeader, and that of PersistAgain for `bytes`, to the next sync. Only
  // the file before `durable_end` is known to be durable.
  void OweHeaderAnd(std::vector<Extent> bytes, int64_t durable_end) const;
  // Adds the checkpoint of the state to those that are kept.
  void NoteCheckpoint();
  // Errors: kFailedPrecondition if the location leads to another file.
  absl::Status CheckNotReplaced() const;
  // Returns the generation of the oldest checkpoint to keep after one of `generation`.
  uint64_t OldestToKeep(uint64_t generation) const;
  // Plans a checkpoint of the next generation. In a `new_file` there is no earlier state.
  CheckpointPlan PlanCheckpoint(int64_t index_begin, bool new_file) const;
};

// Errors: kFailedPrecondition if no generation can follow that of the state.
absl::Status CheckNotLast(const State& state);

// Takes the number of chunks that are done, and returns false to stop.
using ChunkProgress = absl::FunctionRef<bool(int64_t)>;
inline bool NeverStop(int64_t /*chunks*/) { return true; }

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_CHECKPOINT_COMMITTED_FRAME_H_
