// Boxes of n-dimensional arrays in the form that people write.
#ifndef CAIRN_TOOLS_CAIRN_FLAGS_BOX_H_
#define CAIRN_TOOLS_CAIRN_FLAGS_BOX_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cairn::tool {

struct Box {
  std::vector<int64_t> start;
  std::vector<int64_t> shape;
};

// Parses "3:7,0:10": for each dimension of `shape` the first item and the one after the last.
// Either may be left out, and "5" stands for "5:6". An array without dimensions takes an empty
// text.
absl::StatusOr<Box> ParseBox(std::string_view text, const std::vector<int64_t>& shape);

// Returns the items of the box. Its extents must not be negative, and its array must exist.
int64_t CountItems(const Box& box);

// Visits boxes of at most `most` items (but at least one) that together, in this order, are `box`.
absl::Status ForEachPiece(const Box& box, int64_t most,
                          absl::FunctionRef<absl::Status(const Box&)> visit);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_FLAGS_BOX_H_
