#include "engine/frame/array/array_geometry.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_join.h"

#include "cairn/types.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"

namespace cairn::frame {

namespace {

// The part of a box that lies in one cell of a grid.
struct BoxPiece {
  Index cell;
  Box inside;
  Index at;  // the place where it begins in the box
};

// Steps through first..last, both included, the last dimension fastest. Returns false past the end.
bool Advance(size_t ndim, const Index& first, const Index& last, Index& at) {
  for (size_t d = ndim; d-- > 0;) {
    if (at[d]++ < last[d]) return true;
    at[d] = first[d];
  }
  return false;
}

BoxPiece CutPiece(size_t ndim, const Box& box, const Index& cellshape, const Index& cell) {
  BoxPiece piece;
  for (size_t d = 0; d < ndim; ++d) {
    piece.cell[d] = cell[d];
    // These are differences to the cell's start, because its end may lie past 2^63.
    const int64_t begin = box.start[d] - cell[d] * cellshape[d];
    const int64_t from = std::max<int64_t>(begin, 0);
    piece.inside.start[d] = from;
    piece.inside.shape[d] = std::min(begin + box.shape[d], cellshape[d]) - from;
    piece.at[d] = from - begin;
  }
  return piece;
}

// Visits the cells that a box touches, or none if it is empty.
absl::Status ForEachPiece(size_t ndim, const Box& box, const Index& cellshape,
                          absl::FunctionRef<absl::Status(const BoxPiece&)> visit) {
  Index first;
  Index last;
  for (size_t d = 0; d < ndim; ++d) {
    if (box.shape[d] == 0) return absl::OkStatus();
    first[d] = box.start[d] / cellshape[d];
    last[d] = (box.start[d] + box.shape[d] - 1) / cellshape[d];
  }
  Index cell = first;
  do {
    CAIRN_RETURN_IF_ERROR(visit(CutPiece(ndim, box, cellshape, cell)));
  } while (Advance(ndim, first, last, cell));
  return absl::OkStatus();
}

// Returns the number of a cell, or of an item, in row-major order.
int64_t NumberOf(size_t ndim, const Index& at, const Index& shape) {
  int64_t number = 0;
  for (size_t d = 0; d < ndim; ++d) number = number * shape[d] + at[d];
  return number;
}

std::optional<int64_t> Product(int64_t unit, std::span<const int64_t> factors) {
  std::optional<int64_t> product = unit;
  for (const int64_t factor : factors) {
    if (product.has_value()) product = CheckedMul(*product, factor);
  }
  return product;
}

std::string ShapeText(std::span<const int64_t> shape) {
  return absl::StrFormat("[%s]", absl::StrJoin(shape, ", "));
}

// Visits the items of a block and of a box that correspond, run by run. `run` is one item, the
// first of `extent` items in each dimension.
absl::Status ForEachRunOf(size_t ndim, const Index& extent, const Index& blockshape,
                          const Index& boxshape, Run run,
                          absl::FunctionRef<absl::Status(const Run&)> visit) {
  size_t last = ndim - 1;  // the dimension along which a run extends
  Index block_step;        // bytes to the next item of each dimension
  Index box_step;
  block_step[last] = box_step[last] = run.nbytes;
  run.nbytes *= extent[last];
  // A run extends over the dimensions before the last if nothing lies between.
  bool joined = true;
  for (size_t d = ndim - 1; d > 0; --d) {
    block_step[d - 1] = block_step[d] * blockshape[d];
    box_step[d - 1] = box_step[d] * boxshape[d];
    joined = joined && extent[d] == blockshape[d] && extent[d] == boxshape[d];
    if (!joined) continue;
    run.nbytes *= extent[d - 1];
    last = d - 1;
  }
  CAIRN_RETURN_IF_ERROR(visit(run));
  Index at;
  std::fill_n(at.begin(), last, 0);
  for (size_t d = last; d-- > 0;) {
    run.in_chunk += block_step[d];
    run.in_box += box_step[d];
    if (++at[d] < extent[d]) {
      CAIRN_RETURN_IF_ERROR(visit(run));
      d = last;  // the fastest dimension again
    } else {
      run.in_chunk -= block_step[d] * extent[d];
      run.in_box -= box_step[d] * extent[d];
      at[d] = 0;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ArrayGeometry> ArrayGeometry::Make(const ArrayInfo& array, int32_t typesize) {
  const size_t ndim = array.shape.size();
  if (array.chunkshape.size() != ndim || array.blockshape.size() != ndim) {
    return InvalidArgument(
        "array: shape has %d dimensions, chunkshape %d, blockshape %d: expected as many of each",
        ndim, array.chunkshape.size(), array.blockshape.size());
  }
  if (ndim > kMaxDimensions) {
    return Unimplemented("array: %d dimensions, at most %d", ndim, kMaxDimensions);
  }
  ArrayGeometry geometry;
  geometry.given_ndim_ = ndim;
  geometry.ndim_ = std::max<size_t>(ndim, 1);
  geometry.typesize_ = typesize;
  geometry.shape_[0] = geometry.chunkshape_[0] = geometry.blockshape_[0] = 1;
  for (size_t d = 0; d < ndim; ++d) {
    geometry.shape_[d] = array.shape[d];
    geometry.chunkshape_[d] = array.chunkshape[d];
    geometry.blockshape_[d] = array.blockshape[d];
    if (array.shape[d] < 0 || array.chunkshape[d] < 0 || array.blockshape[d] < 0 ||
        (array.shape[d] > 0 && array.chunkshape[d] == 0) ||
        (array.chunkshape[d] > 0 && array.blockshape[d] == 0)) {
      return InvalidArgument("array: dimension %d has shape %d, chunks of %d, blocks of %d", d,
                             array.shape[d], array.chunkshape[d], array.blockshape[d]);
    }
  }
  CAIRN_RETURN_IF_ERROR(geometry.CountBytes());
  return geometry;
}

absl::Status ArrayGeometry::CountBytes() {
  Index padded{};
  for (size_t d = 0; d < ndim_; ++d) {
    if (chunkshape_[d] == 0) continue;  // no items, and no grid
    chunk_grid_[d] = CeilDiv(shape_[d], chunkshape_[d]);
    block_grid_[d] = CeilDiv(chunkshape_[d], blockshape_[d]);
    padded[d] = block_grid_[d] * blockshape_[d];  // less than 2^32
  }
  const auto of = [&](const Index& index) { return std::span(index).first(ndim_); };
  const std::optional<int64_t> block = Product(typesize_, of(blockshape_));
  const std::optional<int64_t> chunk = Product(typesize_, of(padded));
  if (!block.has_value() || !chunk.has_value() || *block > kMaxChunkBytes ||
      *chunk > kMaxChunkBytes) {
    return InvalidArgument("array: chunks of %s in blocks of %s, items of %d bytes: over %d bytes",
                           ShapeText(of(chunkshape_)), ShapeText(of(blockshape_)), typesize_,
                           kMaxChunkBytes);
  }
  const std::optional<int64_t> items = Product(typesize_, of(shape_));
  const std::optional<int64_t> nchunks = Product(1, of(chunk_grid_));
  const std::optional<int64_t> stored =
      nchunks.has_value() ? CheckedMul(*nchunks, *chunk) : std::nullopt;
  if (!items.has_value() || !stored.has_value()) {
    return InvalidArgument("array: shape %s, items of %d bytes: over 2^63 bytes",
                           ShapeText(of(shape_)), typesize_);
  }
  blocksize_ = static_cast<int32_t>(*block);
  chunksize_ = static_cast<int32_t>(*chunk);
  nchunks_ = *nchunks;
  return absl::OkStatus();
}

absl::StatusOr<Box> ArrayGeometry::MakeBox(std::span<const int64_t> start,
                                           std::span<const int64_t> shape) const {
  if (start.size() != given_ndim_ || shape.size() != given_ndim_) {
    return InvalidArgument("box: start of %d dimensions, shape of %d, in an array of %d",
                           start.size(), shape.size(), given_ndim_);
  }
  Box box;
  box.start[0] = 0;
  box.shape[0] = 1;
  for (size_t d = 0; d < given_ndim_; ++d) {
    if (!RangeFits(start[d], shape[d], shape_[d])) {
      return OutOfRange("box: dimension %d: %d items from item %d on, of %d", d, shape[d], start[d],
                        shape_[d]);
    }
    box.start[d] = start[d];
    box.shape[d] = shape[d];
  }
  return box;
}

int64_t ArrayGeometry::NbytesOf(const Box& box) const {
  int64_t nbytes = typesize_;
  for (size_t d = 0; d < ndim_; ++d) nbytes *= box.shape[d];
  return nbytes;
}

int64_t ArrayGeometry::PositionOf(int64_t item) const {
  Index at;
  for (size_t d = ndim_; d-- > 0;) {
    at[d] = item % shape_[d];
    item /= shape_[d];
  }
  return PositionAt(at);
}

std::optional<int64_t> ArrayGeometry::PositionOfRun(const Box& box) const {
  bool joined = true;  // true while the dimensions before this one have one item each
  for (size_t d = 0; d < ndim_; ++d) {
    const int64_t extent = box.shape[d];
    if (extent == 0 || (!joined && extent != blockshape_[d])) return std::nullopt;
    const int64_t in_chunk = box.start[d] % chunkshape_[d];
    const int64_t in_block = in_chunk % blockshape_[d];
    if (in_chunk + extent > chunkshape_[d] || in_block + extent > blockshape_[d])
      return std::nullopt;
    joined = joined && extent == 1;
  }
  return PositionAt(box.start);
}

int64_t ArrayGeometry::PositionAt(const Index& at) const {
  Index cell;
  Index block;
  Index inside;
  for (size_t d = 0; d < ndim_; ++d) {
    cell[d] = at[d] / chunkshape_[d];
    block[d] = at[d] % chunkshape_[d] / blockshape_[d];
    inside[d] = at[d] % chunkshape_[d] % blockshape_[d];
  }
  return NumberOf(ndim_, cell, chunk_grid_) * chunksize_ +
         NumberOf(ndim_, block, block_grid_) * blocksize_ +
         NumberOf(ndim_, inside, blockshape_) * typesize_;
}

absl::Status ArrayGeometry::ForEachChunk(
    const Box& box, absl::FunctionRef<absl::Status(const ChunkPart&)> visit) const {
  return ForEachPiece(ndim_, box, chunkshape_, [&](const BoxPiece& piece) {
    ChunkPart part{.nchunk = NumberOf(ndim_, piece.cell, chunk_grid_),
                   .inside = piece.inside,
                   .at = piece.at,
                   .all_items = true};
    for (size_t d = 0; d < ndim_; ++d) {
      const int64_t rest = shape_[d] - piece.cell[d] * chunkshape_[d];
      part.all_items = part.all_items && piece.inside.shape[d] == std::min(rest, chunkshape_[d]);
    }
    return visit(part);
  });
}

absl::Status ArrayGeometry::ForEachRun(const Box& box, const ChunkPart& part,
                                       absl::FunctionRef<absl::Status(const Run&)> visit) const {
  return ForEachPiece(ndim_, part.inside, blockshape_, [&](const BoxPiece& piece) {
    Index in_box;
    for (size_t d = 0; d < ndim_; ++d) in_box[d] = part.at[d] + piece.at[d];
    const int64_t block = NumberOf(ndim_, piece.cell, block_grid_);
    const int64_t first = NumberOf(ndim_, piece.inside.start, blockshape_);
    return ForEachRunOf(ndim_, piece.inside.shape, blockshape_, box.shape,
                        {.in_chunk = block * blocksize_ + first * typesize_,
                         .in_box = NumberOf(ndim_, in_box, box.shape) * typesize_,
                         .nbytes = typesize_},
                        visit);
  });
}

void ResizeGrid(const ArrayGeometry& from, const ArrayGeometry& to, ChunkRun erase,
                ChunkRun insert) {
  const Index& wanted = to.chunk_grid();
  Index grid = from.chunk_grid();
  // The dimensions get their new extents one after the other.
  const auto edit = [&](size_t d, ChunkRun run) {
    const int64_t old = std::exchange(grid[d], wanted[d]);
    const std::span<const int64_t> before = std::span(grid).first(d);
    const std::span<const int64_t> after = std::span(grid).first(to.ndim()).subspan(d + 1);
    // There are no rows if another dimension is empty. If none is, all products are those of an
    // array that exists.
    if (std::ranges::count(before, 0) + std::ranges::count(after, 0) > 0) return;
    const int64_t step = *Product(1, after);
    const int64_t first = std::min(old, wanted[d]) * step;
    const int64_t count = std::max(old, wanted[d]) * step - first;
    // Edits from the end do not move the later runs.
    for (int64_t row = *Product(1, before); row-- > 0;) run(row * old * step + first, count);
  };
  // In these orders runs are long and few.
  for (size_t d = 0; d < to.ndim(); ++d) {
    if (wanted[d] < grid[d]) edit(d, erase);
  }
  for (size_t d = to.ndim(); d-- > 0;) {
    if (wanted[d] > grid[d]) edit(d, insert);
  }
}

void EraseCells(const ArrayGeometry& from, size_t axis, int64_t first, int64_t count,
                ChunkRun erase) {
  if (from.nchunks() == 0) return;
  const std::span<const int64_t> grid = std::span(from.chunk_grid()).first(from.ndim());
  const int64_t step = *Product(1, grid.subspan(axis + 1));
  // Edits from the end do not move the later runs.
  for (int64_t row = *Product(1, grid.first(axis)); row-- > 0;) {
    erase((row * grid[axis] + first) * step, count * step);
  }
}

std::vector<Box> KeptOfCutChunks(const ArrayGeometry& from, const ArrayGeometry& to) {
  Box kept{};
  for (size_t d = 0; d < to.ndim(); ++d) {
    kept.shape[d] = std::min(from.shape()[d], to.shape()[d]);
    if (kept.shape[d] == 0) return {};
  }
  std::vector<Box> boxes;
  for (size_t d = 0; d < to.ndim(); ++d) {
    const int64_t part = kept.shape[d] % to.chunkshape()[d];  // items of the last chunks
    if (from.shape()[d] == to.shape()[d] || part == 0) continue;
    Box& last = boxes.emplace_back(kept);
    last.start[d] = kept.shape[d] - part;
    last.shape[d] = part;
    // The boxes of later dimensions do not include this one.
    kept.shape[d] -= part;
    if (kept.shape[d] == 0) break;
  }
  return boxes;
}

}  // namespace cairn::frame
