// Reads boxes of n-dimensional arrays.
#ifndef CAIRN_ENGINE_FRAME_BOX_READER_H_
#define CAIRN_ENGINE_FRAME_BOX_READER_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/frame/array_geometry.h"
#include "engine/frame/state.h"

namespace cairn::frame {

// The geometry of the frame's array. kFailedPrecondition when there is none, kDataLoss when the
// frame does not have the chunks that the array asks for.
absl::StatusOr<ArrayGeometry> GeometryOf(const State& state);

// See Snapshot::ReadBox. Opens each touched chunk once and decodes each touched block once; its
// cost follows from the box and never from what the metalayer claims.
absl::Status ReadBox(const State& state, std::span<const int64_t> start,
                     std::span<const int64_t> shape, MutableBytes dst);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_BOX_READER_H_
