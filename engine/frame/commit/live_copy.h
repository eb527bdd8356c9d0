// Copies of the live chunks of a frame, each checked.
#ifndef CAIRN_ENGINE_FRAME_COMMIT_LIVE_COPY_H_
#define CAIRN_ENGINE_FRAME_COMMIT_LIVE_COPY_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

#include "engine/frame/commit/commit_backend.h"
#include "engine/frame/files/atomic_file.h"
#include "engine/frame/stage/contiguous_sink.h"

namespace cairn::frame {

// The staged state with its chunks where `place` puts them: it takes a stored chunk and the entry
// that it had, and returns the one that it gets. Each chunk is checked against its fingerprint, or
// gets one. `view` is the same state for reading. kCancelled when `progress` says stop.
absl::StatusOr<StagedState> SealChunks(
    const State& view, const StagedState& staged,
    absl::FunctionRef<absl::StatusOr<int64_t>(int64_t entry, Bytes chunk)> place,
    ChunkProgress progress);

// The stager's frame with the edits in a new file, without a dead byte. Its pending items must have
// become a chunk.
absl::StatusOr<AtomicFile> CopyContiguous(const CommittedFrame& frame, Stager& stager,
                                          ChunkProgress progress);

// A committed state with its chunks where `sink` puts them, the one of the pending items included;
// each is checked. All is flushed. kCancelled when `progress` says stop.
absl::StatusOr<StagedState> CopyInto(const State& state, ChunkSink& sink, ChunkProgress progress);

// Into a new file, right after a header of this size.
ContiguousSink SinkInto(const std::shared_ptr<File>& file, int64_t header_len);
// The checkpoint of a copy: the state's generation, without a history.
CheckpointPlan PlanCopy(const State& state, int64_t index_begin);

// A committed state as the bytes of a contiguous frame, whatever its layout.
absl::StatusOr<std::vector<std::byte>> SerializeContiguous(const State& state);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_COMMIT_LIVE_COPY_H_
