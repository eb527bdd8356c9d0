// Gives back the disk space of bytes that no state needs any more.
#ifndef CAIRN_ENGINE_FRAME_COMMIT_RECLAIM_H_
#define CAIRN_ENGINE_FRAME_COMMIT_RECLAIM_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// The bytes before the checkpoint's end that are neither header nor index nor trailer nor a chunk
// of it, in order. No later state needs them either: it holds chunks of this one and newer ones.
absl::StatusOr<std::vector<Extent>> DeadExtents(const State& checkpoint);

// Frees the whole pages of these extents; returns the bytes of disk space that were freed.
absl::StatusOr<int64_t> PunchHoles(File& file, const std::vector<Extent>& extents);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_COMMIT_RECLAIM_H_
