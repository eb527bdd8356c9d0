// TRUNC_PREC and INT_TRUNC: clear the low bits of numbers. Lossy; there is nothing to undo.
#ifndef CAIRN_ENGINE_FILTER_TRUNCATE_H_
#define CAIRN_ENGINE_FILTER_TRUNCATE_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"

#include "cairn/types.h"

namespace cairn::filter {

// How many low bits of an element the stage (either of the two) clears. kInvalidArgument for a
// typesize or meta that it does not take.
absl::StatusOr<int> BitsToClear(const FilterStage& stage, int32_t typesize);

// Clears them in every little-endian element of 1, 2, 4 or 8 bytes, `bits` < 8 * typesize. Bytes
// that are no complete element are copied. dst has the size of src and does not overlap.
void ClearLowBits(size_t typesize, int bits, Bytes src, MutableBytes dst);

}  // namespace cairn::filter

#endif  // CAIRN_ENGINE_FILTER_TRUNCATE_H_
