#include "engine/frame/array/array_resize.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>

namespace cairn::frame {

namespace {

int64_t Product(std::span<const int64_t> factors) {
  return std::accumulate(factors.begin(), factors.end(), int64_t{1}, std::multiplies());
}

// A grid of chunks while one dimension after the other gets its new extent. Where no dimension is
// empty, all products are those of an array that exists.
class GridEditor {
 public:
  GridEditor(size_t ndim, const Index& grid) : ndim_(ndim), grid_(grid) {}

  int64_t operator[](size_t d) const { return grid_[d]; }

  // From the end on, so that runs do not move those to come.
  void Shrink(size_t d, int64_t extent, ChunkRun erase) {
    const auto [outer, inner] = Around(d);
    for (int64_t i = outer; i-- > 0;) {
      erase((i * grid_[d] + extent) * inner, (grid_[d] - extent) * inner);
    }
    grid_[d] = extent;
  }

  void Grow(size_t d, int64_t extent, ChunkRun insert) {
    const auto [outer, inner] = Around(d);
    for (int64_t i = outer; i-- > 0;) {
      insert((i + 1) * grid_[d] * inner, (extent - grid_[d]) * inner);
    }
    grid_[d] = extent;
  }

 private:
  struct Sides {
    int64_t outer = 0;  // rows of the dimension
    int64_t inner = 0;  // chunks of one step along it
  };

  // No rows where another dimension is empty.
  Sides Around(size_t d) const {
    const std::span<const int64_t> grid = std::span(grid_).first(ndim_);
    const std::span<const int64_t> before = grid.first(d);
    const std::span<const int64_t> after = grid.subspan(d + 1);
    if (std::ranges::count(before, 0) + std::ranges::count(after, 0) > 0) return {};
    return {.outer = Product(before), .inner = Product(after)};
  }

  size_t ndim_;
  Index grid_;
};

}  // namespace

void ResizeGrid(const ArrayGeometry& from, const ArrayGeometry& to, ChunkRun erase,
                ChunkRun insert) {
  const Index& wanted = to.chunk_grid();
  GridEditor grid(to.ndim(), from.chunk_grid());
  // In these orders runs are long and few.
  for (size_t d = 0; d < to.ndim(); ++d) {
    if (wanted[d] < grid[d]) grid.Shrink(d, wanted[d], erase);
  }
  for (size_t d = to.ndim(); d-- > 0;) {
    if (wanted[d] > grid[d]) grid.Grow(d, wanted[d], insert);
  }
}

std::vector<Box> KeptOfCutChunks(const ArrayGeometry& from, const ArrayGeometry& to) {
  Box kept;
  for (size_t d = 0; d < to.ndim(); ++d) {
    kept.shape[d] = std::min(from.shape()[d], to.shape()[d]);
    if (kept.shape[d] == 0) return {};
  }
  std::vector<Box> boxes;
  for (size_t d = 0; d < to.ndim(); ++d) {
    const int64_t part = kept.shape[d] % to.chunkshape()[d];  // of the last chunks
    if (from.shape()[d] == to.shape()[d] || part == 0) continue;
    Box& last = boxes.emplace_back(kept);
    last.start[d] = kept.shape[d] - part;
    last.shape[d] = part;
    // What lies before them is left for the dimensions to come.
    kept.shape[d] -= part;
    if (kept.shape[d] == 0) break;
  }
  return boxes;
}

}  // namespace cairn::frame
