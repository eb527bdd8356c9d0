// The byte orders of SHUFFLE and BITSHUFFLE, spelled out one element at a time: what the kernels
// are compared with.
#ifndef CAIRN_TESTS_FILTER_SCALAR_H_
#define CAIRN_TESTS_FILTER_SCALAR_H_

#include <cstddef>

#include "cairn/types.h"
#include "engine/base/bytes.h"

namespace cairn::filter::scalar {

inline void Shuffle(size_t width, Bytes src, MutableBytes dst) {
  const size_t count = src.size() / width;
  for (size_t j = 0; j < width; ++j) {
    for (size_t i = 0; i < count; ++i) dst[j * count + i] = src[i * width + j];
  }
  CopyBytes(src.subspan(count * width), dst.subspan(count * width));
}

inline void Unshuffle(size_t width, Bytes src, MutableBytes dst) {
  const size_t count = src.size() / width;
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < width; ++j) dst[i * width + j] = src[j * count + i];
  }
  CopyBytes(src.subspan(count * width), dst.subspan(count * width));
}

inline void BitShuffle(size_t typesize, Bytes src, MutableBytes dst) {
  const size_t row = src.size() / typesize / 8;  // bytes
  const size_t transposed = 8 * row * typesize;
  FillBytes(dst.first(transposed), std::byte{0});
  for (size_t i = 0; i < 8 * row; ++i) {
    for (size_t bit = 0; bit < 8 * typesize; ++bit) {
      const std::byte value = (src[i * typesize + bit / 8] >> (bit % 8)) & std::byte{1};
      dst[bit * row + i / 8] |= value << (i % 8);
    }
  }
  CopyBytes(src.subspan(transposed), dst.subspan(transposed));
}

inline void BitUnshuffle(size_t typesize, Bytes src, MutableBytes dst) {
  const size_t row = src.size() / typesize / 8;  // bytes
  const size_t transposed = 8 * row * typesize;
  FillBytes(dst.first(transposed), std::byte{0});
  for (size_t i = 0; i < 8 * row; ++i) {
    for (size_t bit = 0; bit < 8 * typesize; ++bit) {
      const std::byte value = (src[bit * row + i / 8] >> (i % 8)) & std::byte{1};
      dst[i * typesize + bit / 8] |= value << (bit % 8);
    }
  }
  CopyBytes(src.subspan(transposed), dst.subspan(transposed));
}

}  // namespace cairn::filter::scalar

#endif  // CAIRN_TESTS_FILTER_SCALAR_H_
