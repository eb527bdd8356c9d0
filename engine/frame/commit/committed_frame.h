// A frame as its one writer holds it: the committed state, and the file that has it.
#ifndef CAIRN_ENGINE_FRAME_COMMIT_COMMITTED_FRAME_H_
#define CAIRN_ENGINE_FRAME_COMMIT_COMMITTED_FRAME_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"

#include "engine/frame/commit/checkpoint_encoder.h"
#include "engine/frame/files/frame_location.h"
#include "engine/frame/open/frame_core.h"

namespace cairn::frame {

struct CommittedFrame {
  std::shared_ptr<FrameCore> core;
  std::shared_ptr<File> file;  // holds the writer's lock
  FrameFile source;            // the same file, for reading; without the lock
  std::shared_ptr<const State> state;
  FingerprintType fingerprint = FingerprintType::k64Bit;  // of new checkpoints
  std::unique_ptr<File> peer_lock;

  const FrameLocation& location() const { return core->location(); }

  // The committed state is now the one in `written`.
  absl::Status Adopt(std::shared_ptr<File> written);
  // The committed state is now another one in the same file.
  absl::Status Reload();
  void Adopt(std::shared_ptr<const State> next);

  // Writes what is at the beginning of the file, and its names, once more: a writer that died may
  // have left them in the page cache alone.
  absl::Status PersistHeader() const;
  // kFailedPrecondition when the location leads to another file.
  absl::Status CheckNotReplaced() const;
  // For the next generation. `new_file`: nothing of the state before is in the file.
  CheckpointPlan PlanCheckpoint(int64_t index_begin, bool new_file) const;
};

// Whether a generation can follow that of the state.
absl::Status CheckNotLast(const State& state);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_COMMIT_COMMITTED_FRAME_H_
