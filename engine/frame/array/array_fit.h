// Whether a frame's metalayer and its chunks make an n-dimensional array.
#ifndef CAIRN_ENGINE_FRAME_ARRAY_ARRAY_FIT_H_
#define CAIRN_ENGINE_FRAME_ARRAY_ARRAY_FIT_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/array.h"
#include "cairn/options.h"
#include "engine/chunk/header.h"
#include "engine/frame/array/array_geometry.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// The geometry of the frame's array. kFailedPrecondition when there is none, kDataLoss when the
// frame does not have the chunks that the array asks for, kUnimplemented for too many dimensions.
absl::StatusOr<ArrayGeometry> GeometryOf(const State& state);

// Whether there is an array that can be read, without the cost of saying why not.
bool IsArray(const State& state);

// Makes chunks be cut as readers of the frame's array expect, if it has one.
void FitToArray(const State& state, CompressionOptions& compression);

// kInvalidArgument for a plain NumPy type such as "<f4" whose items have another size.
absl::Status CheckDtype(const ArrayInfo& array, int32_t typesize);

// The geometry of the frame's array, when its dtype and the header's block size fit it too. Costs
// no look at any chunk.
absl::StatusOr<ArrayGeometry> CheckArray(const State& state);
// Whether a stored chunk is cut as readers of the frame's array expect. kDataLoss.
absl::Status CheckArrayChunk(const chunk::Header& chunk, const ArrayGeometry& geometry,
                             int32_t typesize);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_ARRAY_ARRAY_FIT_H_
