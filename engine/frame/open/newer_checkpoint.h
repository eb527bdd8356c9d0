// Tells whether the file of a state has another checkpoint by now.
#ifndef CAIRN_ENGINE_FRAME_OPEN_NEWER_CHECKPOINT_H_
#define CAIRN_ENGINE_FRAME_OPEN_NEWER_CHECKPOINT_H_

#include "absl/status/statusor.h"

#include "engine/frame/files/frame_file.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// Returns true if the state's mapping shows what others write.
inline bool SeesFile(const State& newest, const FrameFile& source) {
  return newest.region.follows_file() && source.origin() == 0;
}

// Returns true if another Blosc2 wrote the checkpoint. Nothing in it tells then that a chunk or a
// layer was replaced by one of the same size.
bool IsOfOthers(const Checkpoint& checkpoint);

// Returns true if the file has another checkpoint than the state, or if another Blosc2 has changed
// this one in place. With a mapping it costs no system call. See also IsOfOthers. Errors: kDataLoss
// if the file was truncated.
absl::StatusOr<bool> HasNewCheckpoint(const State& newest, const FrameFile& source);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_OPEN_NEWER_CHECKPOINT_H_
