// Items of n-dimensional arrays as they come out of files, and shapes as people write them.
#ifndef CAIRN_TOOLS_CAIRN_FLAGS_ARRAYS_H_
#define CAIRN_TOOLS_CAIRN_FLAGS_ARRAYS_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include <CLI/CLI.hpp>

#include "cairn/array.h"
#include "cairn/writer.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/io/progress.h"

namespace cairn::tool {

// "100,200": extents of `min` to `max` items, the slowest first; empty for no dimensions. Throws
// CLI::ValidationError, which names the option, when it is none.
std::vector<int64_t> ParseShape(const std::string& name, const std::string& text, int64_t min,
                                int64_t max = std::numeric_limits<int64_t>::max());

// "100 x 200 items", "1 item" without dimensions.
std::string DescribeShape(const std::vector<int64_t>& shape);

// Fills the array that `writer` writes, of this shape, with all of the input, and returns its size.
// kInvalidArgument when that is another one.
absl::StatusOr<int64_t> FillArray(Input& input, Writer& writer, Progress& progress);

// Appends all of the input along an axis of the array that `writer` writes, and returns its size.
// Along axis 0 it is read in pieces of whole chunks; along others it is one box, and held whole.
absl::StatusOr<int64_t> AppendAlong(int axis, Input& input, Writer& writer, Progress& progress);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_FLAGS_ARRAYS_H_
