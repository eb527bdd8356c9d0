// BYTEDELTA: the difference of each byte from the one before, meant for what SHUFFLE put together.
#ifndef CAIRN_ENGINE_FILTER_BYTEDELTA_H_
#define CAIRN_ENGINE_FILTER_BYTEDELTA_H_

#include <cstddef>

#include "cairn/types.h"

namespace cairn::filter {

// The block is `channels` > 0 stretches of equal length, each with differences of its own. Bytes
// past the last full stretch are copied. dst has the size of src and does not overlap.
void ByteDeltaForward(size_t channels, Bytes src, MutableBytes dst);
void ByteDeltaBackward(size_t channels, Bytes src, MutableBytes dst);

// Undoes the older filter 34, which began anew where a channel holds no more 16 bytes.
void ByteDeltaBuggyBackward(size_t channels, Bytes src, MutableBytes dst);

}  // namespace cairn::filter

#endif  // CAIRN_ENGINE_FILTER_BYTEDELTA_H_
