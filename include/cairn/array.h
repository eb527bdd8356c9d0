// ArrayInfo: the shape of an n-dimensional array. An array is a frame with a metalayer `b2nd`,
// which describes the shape.
#ifndef CAIRN_ARRAY_H_
#define CAIRN_ARRAY_H_

#include <cstdint>
#include <string>
#include <vector>

namespace cairn {

// Describes an n-dimensional array. Shapes are numbers of items, with the slowest dimension first
// (C order). Chunks form a grid over the array, and blocks form a grid over each chunk. Their parts
// past the edge of the array or of a chunk are padding. Padding is stored as zeros, and ReadBox
// never reads it.
struct ArrayInfo {
  std::vector<int64_t> shape = {};
  // Shapes of chunks and blocks. If one is empty in CreateOptions, Cairn chooses it.
  std::vector<int32_t> chunkshape = {};
  std::vector<int32_t> blockshape = {};
  std::string dtype = {};    // NumPy's name of the item type, such as "<f4"; may be empty
  uint8_t dtype_format = 0;  // 0: dtype is NumPy's; 1 to 127: a name of another kind
  bool operator==(const ArrayInfo&) const = default;
};

// The largest number of dimensions of an array that Cairn creates, or reads boxes of.
inline constexpr int kMaxDimensions = 16;

}  // namespace cairn

#endif  // CAIRN_ARRAY_H_
