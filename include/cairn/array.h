// N-dimensional arrays: frames with a metalayer `b2nd` that describes their shape.
#ifndef CAIRN_ARRAY_H_
#define CAIRN_ARRAY_H_

#include <cstdint>
#include <string>
#include <vector>

namespace cairn {

// Shapes are numbers of items, the slowest dimension first (C order). Chunks form a grid over the
// array and blocks a grid over each chunk; the parts of them past the edge of the array or of a
// chunk are padding, stored as zeros and never read by ReadBox.
struct ArrayInfo {
  std::vector<int64_t> shape = {};
  // Empty in CreateOptions: chosen by Cairn.
  std::vector<int32_t> chunkshape = {};
  std::vector<int32_t> blockshape = {};
  std::string dtype = {};  // NumPy's name of the item type, such as "<f4"; may be empty
  uint8_t dtype_format = 0;
  bool operator==(const ArrayInfo&) const = default;
};

// Most dimensions of an array that Cairn creates or reads boxes of.
inline constexpr int kMaxDimensions = 16;

}  // namespace cairn

#endif  // CAIRN_ARRAY_H_
