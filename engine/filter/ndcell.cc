#include <algorithm>
#include <array>
#include <string>

#include "absl/strings/str_join.h"

#include "engine/base/bytes.h"
#include "engine/base/endian.h"
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

// Calls visit(offset, size) for each row of the cell at `origin`, with its place in the block in
// bytes.
template <typename Visit>
void ForEachRow(const Geometry& geometry, const Index& origin, const Visit& visit) {
  constexpr Index kOnes = {1, 1, 1, 1, 1, 1, 1, 1};
  const size_t last = geometry.dims - 1;
  Index extent{};
  for (size_t d = 0; d < geometry.dims; ++d) {
    extent[d] = std::min(geometry.side[d], geometry.shape[d] - origin[d]);
  }
  const size_t cell = OffsetOf(geometry, origin);
  const size_t run = extent[last] * geometry.stride[last];
  Index row{};
  do {
    visit(cell + OffsetOf(geometry, row), run);
  } while (Advance(last, kOnes, extent, row));
}

// Calls visit(origin) for each cell of the block, in the order in which they are stored.
template <typename Visit>
void ForEachCell(const Geometry& geometry, const Visit& visit) {
  Index origin{};
  do {
    visit(origin);
  } while (Advance(geometry.dims, geometry.side, geometry.shape, origin));
}

// Replaces all elements by their mean. They are added in their order and in their own type, so that
// the mean has the bits that C-Blosc2 gives it.
template <typename T>
void FillWithMean(MutableBytes elements) {
  T sum = 0;
  for (size_t i = 0; i < elements.size(); i += sizeof(T)) sum += LoadLe<T>(&elements[i]);
  const T mean = sum / static_cast<T>(elements.size() / sizeof(T));
  for (size_t i = 0; i < elements.size(); i += sizeof(T)) StoreLe(&elements[i], mean);
}

// Makes the geometry of a block that is encoded.
absl::StatusOr<Geometry> MakeEncodable(const FilterStage& stage,
                                       std::span<const int32_t> blockshape, size_t typesize,
                                       size_t size) {
  absl::StatusOr<Geometry> geometry = MakeGeometry(stage, blockshape, typesize, size);
  if (!geometry.ok()) return WithCode(absl::StatusCode::kInvalidArgument, geometry.status());
  if (stage.filter != Filter::kNdMean) return geometry;
  const int id = static_cast<int>(stage.filter);
  const std::string name = ShownName(stage.filter);
  if (typesize != sizeof(float) && typesize != sizeof(double)) {
    return InvalidArgument("filter id %d%s: typesize: expected 4 or 8, got %d", id, name, typesize);
  }
  // C-Blosc2 takes the side along the first dimension for that along all others.
  for (size_t d = 1; d < geometry->dims; ++d) {
    if (geometry->side[d] == geometry->side[0] || geometry->side[d] == geometry->shape[d]) continue;
    return InvalidArgument(
        "filter id %d%s: blockshape %s: expected %d or more elements along dimension 0, or no more "
        "than that along the others",
        id, name, absl::StrJoin(blockshape, " x "), stage.meta);
  }
  return geometry;
}

}  // namespace

absl::Status CheckCells(const FilterStage& stage, std::span<const int32_t> blockshape,
                        size_t typesize, size_t size) {
  return MakeEncodable(stage, blockshape, typesize, size).status();
}

absl::Status CellsForward(const FilterStage& stage, std::span<const int32_t> blockshape,
                          size_t typesize, Bytes src, MutableBytes dst) {
  CAIRN_ASSIGN_OR_RETURN(const Geometry geometry,
                         MakeEncodable(stage, blockshape, typesize, src.size()));
  size_t done = 0;
  ForEachCell(geometry, [&](const Index& origin) {
    const size_t begin = done;
    ForEachRow(geometry, origin, [&](size_t offset, size_t size) {
      CopyBytes(src.subspan(offset, size), dst.subspan(done, size));
      done += size;
    });
    if (stage.filter != Filter::kNdMean) return;
    const MutableBytes cell = dst.subspan(begin, done - begin);
    typesize == sizeof(float) ? FillWithMean<float>(cell) : FillWithMean<double>(cell);
  });
  return absl::OkStatus();
}

absl::Status CellsBackward(const FilterStage& stage, std::span<const int32_t> blockshape,
                           size_t typesize, Bytes src, MutableBytes dst) {
  CAIRN_ASSIGN_OR_RETURN(const Geometry geometry,
                         MakeGeometry(stage, blockshape, typesize, src.size()));
  size_t done = 0;
  ForEachCell(geometry, [&](const Index& origin) {
    ForEachRow(geometry, origin, [&](size_t offset, size_t size) {
      CopyBytes(src.subspan(done, size), dst.subspan(offset, size));
      done += size;
    });
  });
  return absl::OkStatus();
}

}  // namespace cairn::filter
