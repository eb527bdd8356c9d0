// Completes the options of a new frame that will hold an n-dimensional array, and chooses how that
// is cut into chunks and blocks.
#ifndef CAIRN_ENGINE_FRAME_ARRAY_ARRAY_OPTIONS_H_
#define CAIRN_ENGINE_FRAME_ARRAY_ARRAY_OPTIONS_H_

#include <cstdint>

#include "absl/status/statusor.h"

#include "cairn/array.h"
#include "cairn/options.h"

namespace cairn::frame {

// Returns the options with chunksize, blocksize and the metalayer as the array asks for, and its
// dtype filled in. Without an array they are returned unchanged. Errors: kInvalidArgument for an
// array that no frame can hold.
absl::StatusOr<CreateOptions> ResolveArray(const CreateOptions& options);

// Fills in the shapes that are empty: chunks of up to `chunksize` bytes, as near to cubes as the
// array allows, and blocks of the size that the options would get for such chunks. A dimension
// without items counts as one that will grow. `compression` must be valid.
ArrayInfo ChooseShapes(ArrayInfo array, const CompressionOptions& compression, int32_t chunksize);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_ARRAY_ARRAY_OPTIONS_H_
