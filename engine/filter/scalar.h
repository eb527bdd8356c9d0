// The byte orders of SHUFFLE and BITSHUFFLE, spelled out one element at a time: what the kernels
// are tested against, and what does the elements that do not fill a vector.
#ifndef CAIRN_ENGINE_FILTER_SCALAR_H_
#define CAIRN_ENGINE_FILTER_SCALAR_H_

#include <cstddef>

#include "cairn/types.h"

namespace cairn::filter::scalar {

// As their namesakes in shuffle.h and bitshuffle.h, but slow.
void Shuffle(size_t width, Bytes src, MutableBytes dst);
void Unshuffle(size_t width, Bytes src, MutableBytes dst);
void BitShuffle(size_t typesize, Bytes src, MutableBytes dst);
void BitUnshuffle(size_t typesize, Bytes src, MutableBytes dst);

}  // namespace cairn::filter::scalar

#endif  // CAIRN_ENGINE_FILTER_SCALAR_H_
