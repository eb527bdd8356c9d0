// NDCELL and NDMEAN: blocks of n-dimensional arrays whose elements are stored cell by cell.
#ifndef CAIRN_ENGINE_FILTER_NDCELL_H_
#define CAIRN_ENGINE_FILTER_NDCELL_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"

#include "cairn/types.h"

namespace cairn::filter {

// Puts the elements of all cells back into row-major order. (NDMEAN's means stay: it is lossy.)
// dst has the size of src and does not overlap. kDataLoss when the stage's cells do not fit the
// blockshape or that does not fit the block.
absl::Status CellsBackward(const FilterStage& stage, std::span<const int32_t> blockshape,
                           size_t typesize, Bytes src, MutableBytes dst);

}  // namespace cairn::filter

#endif  // CAIRN_ENGINE_FILTER_NDCELL_H_
