#include <algorithm>
#include <array>
#include <string>

#include "engine/base/bytes.h"
#include "engine/base/names.h"
#include "engine/base/status.h"
#include "engine/filter/filters.h"

namespace cairn::filter {

namespace {

constexpr size_t kMaxDims = 8;
using Index = std::array<size_t, kMaxDims>;

struct Geometry {
  size_t dims = 0;
  Index shape{};   // of the block, elements
  Index side{};    // of a cell that the border does not cut
  Index stride{};  // bytes from one element to the next in this dimension
};

absl::StatusOr<Geometry> MakeGeometry(const FilterStage& stage, std::span<const int32_t> blockshape,
                                      size_t typesize, size_t size) {
  const int id = static_cast<int>(stage.filter);
  const std::string name = ShownName(stage.filter);
  if (blockshape.empty() || blockshape.size() > kMaxDims) {
    return DataLoss("filter id %d%s: %d dimensions: expected 1 to 8", id, name, blockshape.size());
  }
  const bool means = stage.filter == Filter::kNdMean;
  const int side = means ? static_cast<int8_t>(stage.meta) : stage.meta;
  if (side <= 0)
    return DataLoss("filter id %d%s: cell side %d: expected more than 0", id, name, side);
  const auto misfit = [&] {
    return DataLoss("filter id %d%s: a block of %d bytes is not what the blockshape says", id, name,
                    size);
  };

  Geometry geometry;
  geometry.dims = blockshape.size();
  size_t cell = 1;  // at most 255 to the power of 8
  size_t stride = typesize;
  for (size_t d = geometry.dims; d-- > 0;) {
    const auto extent = static_cast<size_t>(std::max(blockshape[d], 0));
    if (extent == 0 || extent > size / stride) return misfit();
    geometry.shape[d] = extent;
    geometry.side[d] = static_cast<size_t>(side);
    if (means) geometry.side[d] = std::min(geometry.side[d], extent);
    geometry.stride[d] = stride;
    stride *= extent;
    cell *= geometry.side[d];
  }
  if (stride != size) return misfit();
  if (cell > size / typesize) {
    return DataLoss("filter id %d%s: cells of %d elements in a block of %d", id, name, cell,
                    size / typesize);
  }
  return geometry;
}

// Steps like an odometer through the first `dims` dimensions, the last one fastest. Returns false
// when it is back at the start.
bool Advance(size_t dims, const Index& step, const Index& limit, Index& at) {
  for (size_t d = dims; d-- > 0;) {
    at[d] += step[d];
    if (at[d] < limit[d]) return true;
    at[d] = 0;
  }
  return false;
}

size_t OffsetOf(const Geometry& geometry, const Index& at) {
  size_t offset = 0;
  for (size_t d = 0; d < geometry.dims; ++d) offset += at[d] * geometry.stride[d];
  return offset;
}

// Moves the elements of the cell at `origin` from the start of src. Returns how many bytes it
// moved.
size_t MoveCell(const Geometry& geometry, const Index& origin, Bytes src, MutableBytes dst) {
  constexpr Index kOnes = {1, 1, 1, 1, 1, 1, 1, 1};
  const size_t last = geometry.dims - 1;
  Index extent{};
  for (size_t d = 0; d < geometry.dims; ++d) {
    extent[d] = std::min(geometry.side[d], geometry.shape[d] - origin[d]);
  }
  const MutableBytes cell = dst.subspan(OffsetOf(geometry, origin));
  const size_t run = extent[last] * geometry.stride[last];
  size_t done = 0;
  Index row{};
  do {
    CopyBytes(src.subspan(done, run), cell.subspan(OffsetOf(geometry, row), run));
    done += run;
  } while (Advance(last, kOnes, extent, row));
  return done;
}

}  // namespace

absl::Status CellsBackward(const FilterStage& stage, std::span<const int32_t> blockshape,
                           size_t typesize, Bytes src, MutableBytes dst) {
  CAIRN_ASSIGN_OR_RETURN(const Geometry geometry,
                         MakeGeometry(stage, blockshape, typesize, src.size()));
  size_t done = 0;
  Index origin{};
  do {
    done += MoveCell(geometry, origin, src.subspan(done), dst);
  } while (Advance(geometry.dims, geometry.side, geometry.shape, origin));
  return absl::OkStatus();
}

}  // namespace cairn::filter
