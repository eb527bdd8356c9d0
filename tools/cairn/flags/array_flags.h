// The options that make an n-dimensional array of a file.
#ifndef CAIRN_TOOLS_CAIRN_FLAGS_ARRAY_FLAGS_H_
#define CAIRN_TOOLS_CAIRN_FLAGS_ARRAY_FLAGS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include <CLI/CLI.hpp>

#include "cairn/array.h"

namespace cairn::tool {

// Parses "100,200": extents of `min` to `max` items, the slowest first. An empty text means no
// dimensions. Throws CLI::ValidationError, which names the option, for any other text.
std::vector<int64_t> ParseShape(const std::string& name, const std::string& text, int64_t min,
                                int64_t max = std::numeric_limits<int64_t>::max());

class ArrayFlags {
 public:
  // Adds the options. They are written to this object, which must stay in place.
  void AddTo(CLI::App& app);
  // Returns the bytes of an item of --dtype. Without the option, or if it does not give a size,
  // returns `otherwise`. Errors: kInvalidArgument if it is not a dtype
  // that Dtype knows.
  absl::StatusOr<int32_t> TypesizeOr(int32_t otherwise) const;
  // Returns the array that the options describe, or nothing without --shape and --dtype. Without
  // --shape it has one dimension of `nitems`, or of none yet if their number is unknown.
  std::optional<ArrayInfo> ArrayOf(std::optional<int64_t> nitems) const;
  bool has_shape() const { return shape_.has_value(); }

 private:
  std::optional<std::vector<int64_t>> shape_;
  std::vector<int32_t> chunkshape_;
  std::vector<int32_t> blockshape_;
  std::string dtype_;
};

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_FLAGS_ARRAY_FLAGS_H_
