// Computes where the items of an n-dimensional array lie in chunks and blocks. This is pure
// arithmetic.
#ifndef CAIRN_ENGINE_FRAME_ARRAY_ARRAY_GEOMETRY_H_
#define CAIRN_ENGINE_FRAME_ARRAY_ARRAY_GEOMETRY_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/array.h"

namespace cairn::frame {

// The dtype_format of dtypes as NumPy writes them.
inline constexpr uint8_t kNumPyDtype = 0;

// A number for each dimension, the slowest first. The numbers of dimensions that an array does not
// have are not set, because setting them for each box would cost more than finding the box.
using Index = std::array<int64_t, kMaxDimensions>;

// Items [start, start + shape) in each dimension.
struct Box {
  Index start;
  Index shape;
};

// The part of a box that lies in one chunk.
struct ChunkPart {
  int64_t nchunk = 0;
  Box inside;              // in the chunk
  Index at;                // the place where it begins in the box
  bool all_items = false;  // true if it has all items that the chunk holds of the array
};

// Bytes of items that lie side by side both in the decoded chunk and in a box in C order.
struct Run {
  int64_t in_chunk = 0;
  int64_t in_box = 0;
  int64_t nbytes = 0;
};

// An array without dimensions counts as one dimension of one item. No product here overflows.
class ArrayGeometry {
 public:
  // Makes a geometry. Errors: kInvalidArgument for shapes that no frame can have; kUnimplemented
  // for more than kMaxDimensions.
  static absl::StatusOr<ArrayGeometry> Make(const ArrayInfo& array, int32_t typesize);

  // Returns the number of dimensions of all numbers below, which is at least 1.
  size_t ndim() const { return ndim_; }
  const Index& shape() const { return shape_; }
  const Index& chunkshape() const { return chunkshape_; }
  // Returns the number of chunks in each dimension.
  const Index& chunk_grid() const { return chunk_grid_; }
  int64_t nchunks() const { return nchunks_; }
  // Returns the bytes of a decoded chunk, padding included. This and blocksize are 0 only in arrays
  // without items.
  int32_t chunksize() const { return chunksize_; }
  int32_t blocksize() const { return blocksize_; }

  // Errors: kInvalidArgument for another number of dimensions; kOutOfRange if the box is not inside
  // the array.
  absl::StatusOr<Box> MakeBox(std::span<const int64_t> start, std::span<const int64_t> shape) const;
  // Returns the bytes of a box's items.
  int64_t NbytesOf(const Box& box) const;
  // Returns where an item begins in the decoded chunks, by its number in C order. The array must
  // have the item.
  int64_t PositionOf(int64_t item) const;
  // Returns where a box begins in the decoded chunks if its items follow each other there, within
  // one block.
  std::optional<int64_t> PositionOfRun(const Box& box) const;

  // Visits the parts of the box in each chunk, in the order of the chunks, up to the first error.
  absl::Status ForEachChunk(const Box& box,
                            absl::FunctionRef<absl::Status(const ChunkPart&)> visit) const;
  // Visits a chunk's part of the box, in the order in which it lies in the chunk.
  absl::Status ForEachRun(const Box& box, const ChunkPart& part,
                          absl::FunctionRef<absl::Status(const Run&)> visit) const;

 private:
  ArrayGeometry() = default;
  absl::Status CountBytes();
  int64_t PositionAt(const Index& at) const;

  size_t given_ndim_ = 0;
  size_t ndim_ = 1;
  int32_t typesize_ = 1;
  Index shape_{};
  Index chunkshape_{};
  Index blockshape_{};
  Index chunk_grid_{};
  Index block_grid_{};  // blocks in a chunk
  int64_t nchunks_ = 0;
  int32_t chunksize_ = 0;
  int32_t blocksize_ = 0;
};

// Gets a run of chunks, by number.
using ChunkRun = absl::FunctionRef<void(int64_t first, int64_t count)>;

// Calls the edits that make the chunks of `from` those of `to`, which differ in shape alone. Each
// run is numbered as the edits before it leave the chunks. There are never more chunks than in the
// larger of the two.
void ResizeGrid(const ArrayGeometry& from, const ArrayGeometry& to, ChunkRun erase,
                ChunkRun insert);

// Erases the chunks of `count` cells of the grid along an axis, in runs. Each is numbered as those
// before it leave the chunks.
void EraseCells(const ArrayGeometry& from, size_t axis, int64_t first, int64_t count,
                ChunkRun erase);

// Returns boxes of the items that stay visible in the chunks whose visible part grows or shrinks.
// They lie in both arrays and hold nothing of other chunks. No chunk is in two boxes.
std::vector<Box> KeptOfCutChunks(const ArrayGeometry& from, const ArrayGeometry& to);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_ARRAY_ARRAY_GEOMETRY_H_
