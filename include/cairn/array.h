// N-dimensional arrays: frames whose metalayer `b2nd` says how items lie in chunks and blocks.
#ifndef CAIRN_ARRAY_H_
#define CAIRN_ARRAY_H_

#include <cstdint>
#include <string>
#include <vector>

namespace cairn {

// Dimensions count in items, the slowest first (C order). Chunks form a grid over the array and
// blocks a grid over each chunk; what reaches over the edge of the array or of a chunk is padding,
// stored as zeros and never handed out by ReadBox.
struct ArrayInfo {
  std::vector<int64_t> shape = {};
  // Empty in CreateOptions: chosen.
  std::vector<int32_t> chunkshape = {};
  std::vector<int32_t> blockshape = {};
  std::string dtype = {};  // NumPy's name of the item type, such as "<f4"; may be empty
  uint8_t dtype_format = 0;
  bool operator==(const ArrayInfo&) const = default;
};

// Most dimensions of an array that Cairn reads boxes of and makes.
inline constexpr int kMaxDimensions = 8;

}  // namespace cairn

#endif  // CAIRN_ARRAY_H_
