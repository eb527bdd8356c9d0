// Copies the live chunks of a state, each checked.
#ifndef CAIRN_ENGINE_FRAME_COMMIT_LIVE_COPY_H_
#define CAIRN_ENGINE_FRAME_COMMIT_LIVE_COPY_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

#include "engine/frame/stage/staged_state.h"

namespace cairn::frame {

// Is called with the chunks done, and returns false to stop.
using ChunkProgress = absl::FunctionRef<bool(int64_t)>;
inline bool NeverStop(int64_t /*chunks*/) { return true; }

// Takes a stored chunk and the entry that it had; returns the one that it gets.
using PlaceChunk = absl::FunctionRef<absl::StatusOr<int64_t>(int64_t entry, Bytes chunk)>;

// The staged state with its chunks where `place` puts them. Each is checked against its
// fingerprint, or gets one. `view` is the same state for reading. kCancelled when `progress` says
// stop.
absl::StatusOr<StagedState> SealChunks(const State& view, const StagedState& staged,
                                       PlaceChunk place, ChunkProgress progress);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_COMMIT_LIVE_COPY_H_
