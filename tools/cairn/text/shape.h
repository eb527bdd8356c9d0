// Shows shapes of n-dimensional arrays to people.
#ifndef CAIRN_TOOLS_CAIRN_TEXT_SHAPE_H_
#define CAIRN_TOOLS_CAIRN_TEXT_SHAPE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cairn::tool {

// Returns "100 x 200 items", or "1 item" without dimensions.
inline std::string DescribeShape(const std::vector<int64_t>& shape) {
  return shape.empty() ? "1 item" : absl::StrCat(absl::StrJoin(shape, " x "), " items");
}

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_TEXT_SHAPE_H_
