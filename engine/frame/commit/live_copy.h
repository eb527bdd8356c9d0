// Copies the chunks of a state one behind the other.
#ifndef CAIRN_ENGINE_FRAME_COMMIT_LIVE_COPY_H_
#define CAIRN_ENGINE_FRAME_COMMIT_LIVE_COPY_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

#include "engine/frame/stage/contiguous_sink.h"
#include "engine/frame/stage/staged_state.h"

namespace cairn::frame {

// Is called with the chunks done, and returns false to stop.
using ChunkProgress = absl::FunctionRef<bool(int64_t)>;
inline bool NeverStop(int64_t /*chunks*/) { return true; }

// The draft with its chunks in `log`, without a dead byte between them. Each is checked against its
// fingerprint, or gets one. `view` is the draft's state. kCancelled when `progress` says stop.
absl::StatusOr<StagedState> CopyLiveChunks(const State& view, const StagedState& draft,
                                           ContiguousSink& log, ChunkProgress progress);

// A committed state as the bytes of a contiguous frame, whatever its layout.
absl::StatusOr<std::vector<std::byte>> SerializeContiguous(const State& state);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_COMMIT_LIVE_COPY_H_
