// What becomes of the chunks of an array when its shape changes. Pure arithmetic.
#ifndef CAIRN_ENGINE_FRAME_ARRAY_ARRAY_RESIZE_H_
#define CAIRN_ENGINE_FRAME_ARRAY_ARRAY_RESIZE_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"

#include "engine/frame/array/array_geometry.h"

namespace cairn::frame {

// A run of chunks, by number.
using ChunkRun = absl::FunctionRef<void(int64_t first, int64_t count)>;

// The edits that make the chunks of `from` those of `to`, which differ in shape alone: each run is
// numbered as the edits before it leave the chunks. Never more chunks than the larger of the two.
void ResizeGrid(const ArrayGeometry& from, const ArrayGeometry& to, ChunkRun erase,
                ChunkRun insert);

// Boxes that hold, in both arrays, all that stays visible of each chunk of which more or less
// becomes visible, and nothing of other chunks. No chunk is in two boxes.
std::vector<Box> KeptOfCutChunks(const ArrayGeometry& from, const ArrayGeometry& to);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_ARRAY_ARRAY_RESIZE_H_
