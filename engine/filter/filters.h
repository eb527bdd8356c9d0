// The filters of the format, each undone and (but NDCELL and NDMEAN) applied to one block. In all
// of them dst has the size of src and does not overlap.
#ifndef CAIRN_ENGINE_FILTER_FILTERS_H_
#define CAIRN_ENGINE_FILTER_FILTERS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/types.h"

namespace cairn::filter {

// SHUFFLE groups bytes of equal position, so that what is alike comes together: the first bytes of
// all elements of `width` > 0 bytes in front, then all second ones and so on. Bytes that are no
// complete element stay at the end.
void Shuffle(size_t width, Bytes src, MutableBytes dst);
void Unshuffle(size_t width, Bytes src, MutableBytes dst);
// Unshuffles elements of which the first bytes begin `planes`, the second ones `stride` bytes later
// and so on; dst holds complete elements.
void UnshufflePlanes(size_t width, Bytes planes, size_t stride, MutableBytes dst);

// BITSHUFFLE puts the lowest bits of the first bytes of all elements of `typesize` > 0 bytes in
// front, then their second bits and so on. Elements past the last multiple of 8, and bytes that are
// no complete element, stay at the end.
void BitShuffle(size_t typesize, Bytes src, MutableBytes dst);
void BitUnshuffle(size_t typesize, Bytes src, MutableBytes dst);

// BYTEDELTA: the difference of each byte from the one before, meant for what SHUFFLE put together.
// The block is `channels` > 0 stretches of equal length, each with differences of its own. Bytes
// past the last full stretch are copied.
void ByteDeltaForward(size_t channels, Bytes src, MutableBytes dst);
void ByteDeltaBackward(size_t channels, Bytes src, MutableBytes dst);
// Undoes the older filter 34, which began anew where a channel holds no more 16 bytes.
void ByteDeltaBuggyBackward(size_t channels, Bytes src, MutableBytes dst);

// DELTA: XOR against `reference`, the plain block 0 of the chunk, or empty when src is that block:
// then each unit (an element, or part of one) is coded against the one before. Bytes that are no
// complete unit, and those past the end of the reference, are copied.
void DeltaForward(size_t typesize, Bytes src, Bytes reference, MutableBytes dst);
void DeltaBackward(size_t typesize, Bytes src, Bytes reference, MutableBytes dst);

// TRUNC_PREC and INT_TRUNC clear the low bits of numbers; lossy, so there is nothing to undo. How
// many of an element the stage (either of the two) clears; kInvalidArgument for a typesize or meta
// that it does not take.
absl::StatusOr<int> BitsToClear(const FilterStage& stage, int32_t typesize);
// Clears them in every little-endian element of 1, 2, 4 or 8 bytes, `bits` < 8 * typesize. Bytes
// that are no complete element are copied.
void ClearLowBits(size_t typesize, int bits, Bytes src, MutableBytes dst);

// NDCELL and NDMEAN store the elements of blocks of n-dimensional arrays cell by cell: puts those
// of all cells back into row-major order. (NDMEAN's means stay: it is lossy.) kDataLoss when the
// stage's cells do not fit the blockshape or that does not fit the block.
absl::Status CellsBackward(const FilterStage& stage, std::span<const int32_t> blockshape,
                           size_t typesize, Bytes src, MutableBytes dst);

}  // namespace cairn::filter

#endif  // CAIRN_ENGINE_FILTER_FILTERS_H_
