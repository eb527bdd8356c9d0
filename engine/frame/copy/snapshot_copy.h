// Snapshot::CopyTo and Snapshot::ToBuffer: one committed state as a frame of its own.
#ifndef CAIRN_ENGINE_FRAME_COPY_SNAPSHOT_COPY_H_
#define CAIRN_ENGINE_FRAME_COPY_SNAPSHOT_COPY_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/copy.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// Copies `state` to a new frame at `path`. Writes an increment if `since` is not null: the state of
// `options.since`. See Snapshot::CopyTo.
absl::Status CopySnapshot(const State& state, const State* since, const std::string& path,
                          const CopyOptions& options);
// Returns the bytes of a contiguous frame that holds `state`. See Snapshot::ToBuffer.
absl::StatusOr<std::vector<std::byte>> SnapshotToBuffer(const State& state);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_COPY_SNAPSHOT_COPY_H_
