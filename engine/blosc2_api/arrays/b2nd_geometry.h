// How the items of n-dimensional arrays lie in chunks and blocks.
#ifndef CAIRN_ENGINE_BLOSC2_API_ARRAYS_B2ND_GEOMETRY_H_
#define CAIRN_ENGINE_BLOSC2_API_ARRAYS_B2ND_GEOMETRY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "absl/functional/function_ref.h"

#include "engine/blosc2_api/process/api.h"

namespace cairn::blosc2_api {

// A number for each dimension. Those after the last dimension do not count.
using Index = std::array<int64_t, B2ND_MAX_DIM>;

// The items from `start` up to, not including, `stop`.
struct Box {
  Index start{};
  Index stop{};
};

// Sets the shape of an array and all fields that follow from it. Returns 0 or an error code.
int SetGeometry(b2nd_array_t& array, int8_t ndim, const int64_t* shape, const int32_t* chunkshape,
                const int32_t* blockshape);

// Returns the numbers as an Index.
Index IndexOf(const int64_t* numbers, int ndim);

// Returns the items that two boxes share, and true if there are any.
bool Intersect(int ndim, const Box& a, const Box& b, Box& shared);

// Calls visit(i) with each index of the box in C order until it returns an error code. Returns the
// code, or 0.
int ForEachIndex(int ndim, const Box& box, absl::FunctionRef<int(const Index&)> visit);

// Calls visit(nchunk, items) with each chunk that has items of the box: its number, and the place
// of its items, which may reach past the shape.
int ForEachChunk(const b2nd_array_t& array, const Box& box,
                 absl::FunctionRef<int(int64_t nchunk, const Box& items)> visit);

// Calls visit(nblock, items) with each block of a chunk whose items are at `chunk`, that has items
// of the box.
int ForEachBlock(const b2nd_array_t& array, const Box& chunk, const Box& box,
                 absl::FunctionRef<int(int64_t nblock, const Box& items)> visit);

// Calls copy(size), with a size that the compiler knows if it is one of the common sizes of items.
// Copying them by calls of memcpy would take longer than the copy itself.
template <typename Copy>
void WithSize(size_t size, const Copy& copy) {
  switch (size) {
    case 1:
      return copy(std::integral_constant<size_t, 1>());
    case 2:
      return copy(std::integral_constant<size_t, 2>());
    case 4:
      return copy(std::integral_constant<size_t, 4>());
    case 8:
      return copy(std::integral_constant<size_t, 8>());
    case 16:
      return copy(std::integral_constant<size_t, 16>());
    default:
      return copy(size);
  }
}

// Copies a box between two buffers of items in C order: the items from `src_start` on of a buffer
// of shape `src_shape` to `dst_start` of another one.
void CopyItems(int ndim, int64_t itemsize, const Index& extent, const std::byte* src,
               const Index& src_shape, const Index& src_start, std::byte* dst,
               const Index& dst_shape, const Index& dst_start);

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_ARRAYS_B2ND_GEOMETRY_H_
