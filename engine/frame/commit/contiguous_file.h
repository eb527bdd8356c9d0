// Contiguous frames written as a whole: to a file that has no name yet, or to bytes.
#ifndef CAIRN_ENGINE_FRAME_COMMIT_CONTIGUOUS_FILE_H_
#define CAIRN_ENGINE_FRAME_COMMIT_CONTIGUOUS_FILE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/frame/commit/committed_frame.h"
#include "engine/frame/commit/live_copy.h"
#include "engine/frame/files/atomic_file.h"
#include "engine/frame/stage/stager.h"

namespace cairn::frame {

// A file that will get the location's name.
absl::StatusOr<AtomicFile> NewFileAt(const FrameLocation& location);

// Index, trailer and header of a frame whose chunks `file` holds up to `chunks_end`. `plan` says
// all but where the index begins.
absl::Status WriteContiguous(File& file, const StagedState& staged, int64_t chunks_end,
                             CheckpointPlan plan, chunk::WorkspacePool* pool);

// The stager's frame with the edits in a new file, without a dead byte, each chunk checked. Its
// pending items must have become a chunk.
absl::StatusOr<AtomicFile> CopyContiguous(const CommittedFrame& frame, Stager& stager, bool plain,
                                          ChunkProgress progress);

// A committed state as the bytes of a contiguous frame, whatever its layout.
absl::StatusOr<std::vector<std::byte>> SerializeContiguous(const State& state);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_COMMIT_CONTIGUOUS_FILE_H_
