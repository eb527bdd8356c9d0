// DELTA: XOR against block 0 of the chunk, and of block 0 against itself.
#ifndef CAIRN_ENGINE_FILTER_DELTA_H_
#define CAIRN_ENGINE_FILTER_DELTA_H_

#include <cstddef>

#include "cairn/types.h"

namespace cairn::filter {

// `reference` is the plain block 0, or empty when src is that block: then each unit (an element, or
// part of one) is coded against the one before. Bytes that are no complete unit, and those past the
// end of the reference, are copied. dst has the size of src and does not overlap.
void DeltaForward(size_t typesize, Bytes src, Bytes reference, MutableBytes dst);
void DeltaBackward(size_t typesize, Bytes src, Bytes reference, MutableBytes dst);

}  // namespace cairn::filter

#endif  // CAIRN_ENGINE_FILTER_DELTA_H_
