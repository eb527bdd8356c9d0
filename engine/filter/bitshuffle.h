// BITSHUFFLE: groups bits of equal position.
#ifndef CAIRN_ENGINE_FILTER_BITSHUFFLE_H_
#define CAIRN_ENGINE_FILTER_BITSHUFFLE_H_

#include <cstddef>

#include "cairn/types.h"

namespace cairn::filter {

// Puts the lowest bits of the first bytes of all elements of `typesize` > 0 bytes in front, then
// their second bits and so on. Elements past the last multiple of 8, and bytes that are no complete
// element, stay at the end. dst has the size of src and does not overlap.
void BitShuffle(size_t typesize, Bytes src, MutableBytes dst);
void BitUnshuffle(size_t typesize, Bytes src, MutableBytes dst);

}  // namespace cairn::filter

#endif  // CAIRN_ENGINE_FILTER_BITSHUFFLE_H_
