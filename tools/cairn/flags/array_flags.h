// The options that make an n-dimensional array of a file.
#ifndef CAIRN_TOOLS_CAIRN_FLAGS_ARRAY_FLAGS_H_
#define CAIRN_TOOLS_CAIRN_FLAGS_ARRAY_FLAGS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

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
  // Returns the array that the options describe, or nothing without --shape.
  std::optional<ArrayInfo> array() const;

 private:
  std::optional<std::vector<int64_t>> shape_;
  std::vector<int32_t> chunkshape_;
  std::vector<int32_t> blockshape_;
  std::string dtype_;
};

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_FLAGS_ARRAY_FLAGS_H_
