#include "engine/frame/array/array_geometry.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/str_join.h"

#include "cairn/types.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"

namespace cairn::frame {

namespace {

// The part of a box that lies in one cell of a grid.
struct Piece {
  Index cell{};
  Box inside;
  Index at{};  // where it begins in the box
};

// Steps through first..last, both included, the last dimension fastest; false past the end.
bool Advance(size_t ndim, const Index& first, const Index& last, Index& at) {
  for (size_t d = ndim; d-- > 0;) {
    if (at[d]++ < last[d]) return true;
    at[d] = first[d];
  }
  return false;
}

Piece CutPiece(size_t ndim, const Box& box, const Index& cellshape, const Index& cell) {
  Piece piece{.cell = cell, .inside = {}, .at = {}};
  for (size_t d = 0; d < ndim; ++d) {
    // Differences to the cell's start: its end may lie past 2^63.
    const int64_t begin = box.start[d] - cell[d] * cellshape[d];
    const int64_t from = std::max<int64_t>(begin, 0);
    piece.inside.start[d] = from;
    piece.inside.shape[d] = std::min(begin + box.shape[d], cellshape[d]) - from;
    piece.at[d] = from - begin;
  }
  return piece;
}

// Visits the cells that a box touches; none when it is empty.
absl::Status ForEachPiece(size_t ndim, const Box& box, const Index& cellshape,
                          absl::FunctionRef<absl::Status(const Piece&)> visit) {
  Index first{};
  Index last{};
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

// Number of a cell, or of an item: row-major.
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

// Steps through the items of a block and of a box that correspond, run by run.
class RunWalk {
 public:
  // `first` is one item, the first of `extent` items in each dimension.
  RunWalk(size_t ndim, const Index& extent, const Index& blockshape, const Index& boxshape,
          const Run& first)
      : last_(ndim - 1), extent_(extent), run_(first) {
    int64_t block_step = first.nbytes;
    int64_t box_step = first.nbytes;
    run_.nbytes *= extent[last_];
    // A run goes on over the dimensions before the last where nothing lies between.
    bool joined = true;
    for (size_t d = ndim - 1; d > 0; --d) {
      block_step_[d - 1] = block_step *= blockshape[d];
      box_step_[d - 1] = box_step *= boxshape[d];
      joined = joined && extent[d] == blockshape[d] && extent[d] == boxshape[d];
      if (!joined) continue;
      run_.nbytes *= extent[d - 1];
      last_ = d - 1;
    }
  }

  const Run& run() const { return run_; }

  // False after the last one.
  bool Next() {
    for (size_t d = last_; d-- > 0;) {
      run_.in_chunk += block_step_[d];
      run_.in_box += box_step_[d];
      if (++at_[d] < extent_[d]) return true;
      run_.in_chunk -= block_step_[d] * extent_[d];
      run_.in_box -= box_step_[d] * extent_[d];
      at_[d] = 0;
    }
    return false;
  }

 private:
  size_t last_;  // the dimension that a run goes along
  Index extent_;
  Run run_;
  Index block_step_{};  // bytes to the next item of each dimension
  Index box_step_{};
  Index at_{};
};

}  // namespace

absl::StatusOr<ArrayGeometry> ArrayGeometry::Make(const ArrayInfo& array, int32_t typesize) {
  const size_t ndim = array.shape.size();
  if (array.chunkshape.size() != ndim || array.blockshape.size() != ndim) {
    return InvalidArgument("array: shapes of %d, %d and %d dimensions", ndim,
                           array.chunkshape.size(), array.blockshape.size());
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

absl::Status ArrayGeometry::ForEachChunk(
    const Box& box, absl::FunctionRef<absl::Status(const ChunkPart&)> visit) const {
  return ForEachPiece(ndim_, box, chunkshape_, [&](const Piece& piece) {
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
  return ForEachPiece(ndim_, part.inside, blockshape_, [&](const Piece& piece) {
    Index in_box{};
    for (size_t d = 0; d < ndim_; ++d) in_box[d] = part.at[d] + piece.at[d];
    const int64_t block = NumberOf(ndim_, piece.cell, block_grid_);
    const int64_t first = NumberOf(ndim_, piece.inside.start, blockshape_);
    RunWalk walk(ndim_, piece.inside.shape, blockshape_, box.shape,
                 {.in_chunk = block * blocksize_ + first * typesize_,
                  .in_box = NumberOf(ndim_, in_box, box.shape) * typesize_,
                  .nbytes = typesize_});
    absl::Status status;
    do {
      status = visit(walk.run());
    } while (status.ok() && walk.Next());
    return status;
  });
}

}  // namespace cairn::frame
