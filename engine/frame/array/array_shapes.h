// Chooses how an array is cut into chunks and blocks.
#ifndef CAIRN_ENGINE_FRAME_ARRAY_ARRAY_SHAPES_H_
#define CAIRN_ENGINE_FRAME_ARRAY_ARRAY_SHAPES_H_

#include <cstdint>

#include "cairn/array.h"
#include "cairn/options.h"

namespace cairn::frame {

// Fills in the shapes that are empty: chunks of up to `chunksize` bytes, as near to cubes as the
// array lets them, and blocks of the size that the options would get for such chunks. A dimension
// without items counts as one that shall grow. `compression` must be valid.
ArrayInfo ChooseShapes(ArrayInfo array, const CompressionOptions& compression, int32_t chunksize);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_ARRAY_ARRAY_SHAPES_H_
