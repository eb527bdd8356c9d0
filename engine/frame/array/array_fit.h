// Checks that a frame's metalayer and its chunks make an n-dimensional array.
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

// Returns the geometry of the frame's array.
//
// Errors:
//   kFailedPrecondition if there is no array;
//   kDataLoss if the frame does not have the chunks that the array asks for;
//   kUnimplemented for too many dimensions.
absl::StatusOr<ArrayGeometry> GeometryOf(const State& state);

// Returns true if there is an array that can be read. Saves the cost of saying why not.
bool IsArray(const State& state);

// Makes new chunks be cut as readers of the frame's array expect, if it has one.
void FitToArray(const State& state, CompressionOptions& compression);

// Errors: kInvalidArgument for a plain NumPy type such as "<f4" whose items have another size.
absl::Status CheckDtype(const ArrayInfo& array, int32_t typesize);

// Returns the geometry of the frame's array, if its dtype and the header's block size fit it too.
// Reads no chunk.
absl::StatusOr<ArrayGeometry> CheckArray(const State& state);
// Checks that a stored chunk is cut as readers of the frame's array expect. Errors: kDataLoss if it
// is not.
absl::Status CheckArrayChunk(const chunk::Header& chunk, const ArrayGeometry& geometry,
                             int32_t typesize);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_ARRAY_ARRAY_FIT_H_
