// The filters of the format. Each is applied to one block and undone for one block. In all of them
// dst has the size of src and does not overlap it.
#ifndef CAIRN_ENGINE_FILTER_FILTERS_H_
#define CAIRN_ENGINE_FILTER_FILTERS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/types.h"

namespace cairn::filter {

// SHUFFLE groups bytes of equal position, so that similar bytes come together: the first bytes of
// all elements of `width` > 0 bytes come first, then all second ones and so on. Bytes that are not
// a complete element stay at the end.
void Shuffle(size_t width, Bytes src, MutableBytes dst);
void Unshuffle(size_t width, Bytes src, MutableBytes dst);
// Unshuffles elements whose first bytes begin `planes`, whose second ones come `stride` bytes
// later, and so on. dst holds complete elements.
void UnshufflePlanes(size_t width, Bytes planes, size_t stride, MutableBytes dst);

// BITSHUFFLE puts the lowest bits of the first bytes of all elements of `typesize` > 0 bytes in
// front, then their second bits and so on. Elements past the last multiple of 8, and bytes that are
// not a complete element, stay at the end.
void BitShuffle(size_t typesize, Bytes src, MutableBytes dst);
void BitUnshuffle(size_t typesize, Bytes src, MutableBytes dst);

// BYTEDELTA replaces each byte by its difference from the one before, which helps after SHUFFLE.
// The block is `channels` > 0 stretches of equal length, each with differences of its own. Bytes
// past the last full stretch are copied.
void ByteDeltaForward(size_t channels, Bytes src, MutableBytes dst);
void ByteDeltaBackward(size_t channels, Bytes src, MutableBytes dst);
// Undoes the older filter 34, which started again where a channel has fewer than 16 bytes left.
void ByteDeltaBuggyBackward(size_t channels, Bytes src, MutableBytes dst);

// DELTA computes the XOR with `reference`, the plain block 0 of the chunk. `reference` is empty if
// src is that block. Then each unit (an element, or part of one) is coded against the one before.
// Bytes that are not a complete unit, and bytes past the end of the reference, are copied.
void DeltaForward(size_t typesize, Bytes src, Bytes reference, MutableBytes dst);
void DeltaBackward(size_t typesize, Bytes src, Bytes reference, MutableBytes dst);

// TRUNC_PREC and INT_TRUNC clear the low bits of numbers. They are lossy, so there is nothing to
// undo. Returns how many bits of an element the stage (either of the two) clears. Errors:
// kInvalidArgument if the filter does not take the typesize or the meta.
absl::StatusOr<int> BitsToClear(const FilterStage& stage, int32_t typesize);
// Clears the low bits of every little-endian element of 1, 2, 4 or 8 bytes. `bits` < 8 * typesize.
// Bytes that are not a complete element are copied.
void ClearLowBits(size_t typesize, int bits, Bytes src, MutableBytes dst);
// Does so for floats of 4 or 8 bytes. `bits` is less than those of the fraction. A NaN of which
// infinity would be left keeps the highest bit of its fraction, so that it stays NaN.
void ClearLowBitsOfFloats(size_t typesize, int bits, Bytes src, MutableBytes dst);

// NDCELL and NDMEAN store the elements of blocks of n-dimensional arrays cell by cell. A cell has
// `meta` elements along each dimension, and fewer at the border. NDMEAN is lossy: each element
// becomes the mean of its cell, which has `float` or `double` elements.
//
// Checks that a stage can be applied to blocks of `size` bytes. Errors: kInvalidArgument if the
// cells do not fit the blockshape, if the blockshape does not fit the size, or if C-Blosc2 could
// not decode the cells.
absl::Status CheckCells(const FilterStage& stage, std::span<const int32_t> blockshape,
                        size_t typesize, size_t size);
// Puts the elements of the block into the order of cells. Errors: those of CheckCells.
absl::Status CellsForward(const FilterStage& stage, std::span<const int32_t> blockshape,
                          size_t typesize, Bytes src, MutableBytes dst);
// Puts the elements of all cells back into row-major order. NDMEAN's means stay. Errors: kDataLoss
// if the stage's cells do not fit the blockshape, or if the blockshape does not fit the block.
absl::Status CellsBackward(const FilterStage& stage, std::span<const int32_t> blockshape,
                           size_t typesize, Bytes src, MutableBytes dst);

}  // namespace cairn::filter

#endif  // CAIRN_ENGINE_FILTER_FILTERS_H_
