// SHUFFLE: groups bytes of equal position, so that what is alike comes together.
#ifndef CAIRN_ENGINE_FILTER_SHUFFLE_H_
#define CAIRN_ENGINE_FILTER_SHUFFLE_H_

#include <cstddef>

#include "cairn/types.h"

namespace cairn::filter {

// Puts the first bytes of all elements of `width` > 0 bytes in front, then all second ones and so
// on. Bytes that are no complete element stay at the end. dst has the size of src and does not
// overlap.
void Shuffle(size_t width, Bytes src, MutableBytes dst);
void Unshuffle(size_t width, Bytes src, MutableBytes dst);

}  // namespace cairn::filter

#endif  // CAIRN_ENGINE_FILTER_SHUFFLE_H_
