// Streams an input into an n-dimensional array.
#ifndef CAIRN_TOOLS_CAIRN_STREAMS_ARRAY_INPUT_H_
#define CAIRN_TOOLS_CAIRN_STREAMS_ARRAY_INPUT_H_

#include <cstdint>

#include "absl/status/statusor.h"

#include "cairn/writer.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/io/progress.h"

namespace cairn::tool {

// Fills the array that `writer` writes, of this shape, with all of the input, and returns its size.
// Errors: kInvalidArgument if the sizes differ.
absl::StatusOr<int64_t> FillArray(Input& input, Writer& writer, Progress& progress);

// Appends all of the input along an axis of the array that `writer` writes, and returns its size.
// Along axis 0 it is read in pieces of complete chunks. Along other axes it is one box, which is
// held in memory.
absl::StatusOr<int64_t> AppendSlices(int axis, Input& input, Writer& writer, Progress& progress);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_STREAMS_ARRAY_INPUT_H_
