#include "engine/blosc2_api/arrays/b2nd_geometry.h"

#include <algorithm>
#include <optional>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/blosc2_api/process/codes.h"

namespace cairn::blosc2_api {

namespace {

// Returns the least multiple of `unit` that is not below `size`, or nothing if it is too large.
std::optional<int64_t> RoundUp(int64_t size, int64_t unit) {
  if (unit == 0) return 0;
  return CheckedMul(CeilDiv(size, unit), unit);
}

// Multiplies in place. Returns false if the product is too large.
template <typename T>
bool Scale(T& product, T factor) {
  const std::optional<T> scaled = CheckedMul(product, factor);
  if (scaled.has_value()) product = *scaled;
  return scaled.has_value();
}

int CheckShapes(int ndim, const int64_t* shape, const int32_t* chunkshape,
                const int32_t* blockshape) {
  for (int i = 0; i < ndim; ++i) {
    if (shape[i] < 0 || chunkshape[i] < 0 || blockshape[i] < 0) {
      return Failed(BLOSC2_ERROR_INVALID_PARAM, "array: a shape is negative");
    }
    if (blockshape[i] == 0 && chunkshape[i] != 0) {
      return Failed(BLOSC2_ERROR_INVALID_PARAM, "array: blocks of no items");
    }
  }
  return BLOSC2_ERROR_SUCCESS;
}

// Sets the fields of one dimension. Returns false if a number is too large.
bool SetDimension(b2nd_array_t& array, int i, int64_t shape, int32_t chunk, int32_t block) {
  const std::optional<int64_t> extshape = RoundUp(shape, chunk);
  const std::optional<int64_t> extchunk = RoundUp(chunk, block);
  if (!extshape.has_value() || !extchunk.has_value()) return false;
  array.shape[i] = shape;
  array.chunkshape[i] = chunk;
  array.blockshape[i] = block;
  array.extshape[i] = *extshape;
  array.extchunkshape[i] = *extchunk;
  return Scale(array.nitems, shape) && Scale(array.extnitems, *extshape) &&
         Scale(array.extchunknitems, *extchunk) && Scale(array.chunknitems, chunk) &&
         Scale(array.blocknitems, block);
}

void SetStrides(b2nd_array_t& array) {
  int64_t* const all[] = {array.item_array_strides,  array.item_extchunk_strides,
                          array.item_chunk_strides,  array.item_block_strides,
                          array.block_chunk_strides, array.chunk_array_strides};
  const int last = array.ndim - 1;
  for (int i = last; i >= 0; --i) {
    if (i == last) {
      for (int64_t* const strides : all) strides[i] = 1;
      continue;
    }
    const int next = i + 1;
    if (array.shape[next] == 0 || array.chunkshape[next] == 0 || array.blockshape[next] == 0) {
      for (int64_t* const strides : all) strides[i] = 0;
      continue;
    }
    const int64_t extents[] = {array.shape[next],
                               array.extchunkshape[next],
                               array.chunkshape[next],
                               array.blockshape[next],
                               array.extchunkshape[next] / array.blockshape[next],
                               array.extshape[next] * array.chunkshape[next]};
    // Sizes of arrays fit, but the last of these may not: it means nothing, and wraps.
    for (size_t k = 0; k < std::size(extents); ++k) {
      all[k][i] = static_cast<int64_t>(static_cast<uint64_t>(all[k][next]) *
                                       static_cast<uint64_t>(extents[k]));
    }
  }
}

// Runs of bytes, each some bytes after the one before, in two buffers.
struct Runs {
  int64_t count = 0;
  int64_t nbytes = 0;  // of each
  int64_t src_stride = 0;
  int64_t dst_stride = 0;
};

void Copy(const Runs& runs, const std::byte* src, std::byte* dst) {
  WithSize(static_cast<size_t>(runs.nbytes), [&](auto nbytes) {
    for (int64_t i = 0; i < runs.count; ++i) {
      CopyBytes(Bytes(src + i * runs.src_stride, nbytes),
                MutableBytes(dst + i * runs.dst_stride, nbytes));
    }
  });
}

}  // namespace

int SetGeometry(b2nd_array_t& array, int8_t ndim, const int64_t* shape, const int32_t* chunkshape,
                const int32_t* blockshape) {
  const int code = CheckShapes(ndim, shape, chunkshape, blockshape);
  if (code < 0) return code;
  array.ndim = ndim;
  array.nitems = array.extnitems = array.extchunknitems = 1;
  array.chunknitems = array.blocknitems = 1;
  for (int i = 0; i < B2ND_MAX_DIM; ++i) {
    const bool fits = i < ndim ? SetDimension(array, i, shape[i], chunkshape[i], blockshape[i])
                               : SetDimension(array, i, 1, 1, 1);
    if (!fits) return Failed(BLOSC2_ERROR_INVALID_PARAM, "array: its shape is too large");
  }
  SetStrides(array);
  return BLOSC2_ERROR_SUCCESS;
}

Index IndexOf(const int64_t* numbers, int ndim) {
  Index index{};
  std::copy(numbers, numbers + ndim, index.begin());
  return index;
}

bool Intersect(int ndim, const Box& a, const Box& b, Box& shared) {
  for (size_t i = 0; i < static_cast<size_t>(ndim); ++i) {
    shared.start[i] = std::max(a.start[i], b.start[i]);
    shared.stop[i] = std::min(a.stop[i], b.stop[i]);
    if (shared.start[i] >= shared.stop[i]) return false;
  }
  return true;
}

int ForEachIndex(int ndim, const Box& box, absl::FunctionRef<int(const Index&)> visit) {
  const auto n = static_cast<size_t>(ndim);
  for (size_t i = 0; i < n; ++i) {
    if (box.start[i] >= box.stop[i]) return BLOSC2_ERROR_SUCCESS;
  }
  Index at = box.start;
  while (true) {
    const int code = visit(at);
    if (code < 0) return code;
    size_t i = n;
    while (i > 0 && ++at[i - 1] == box.stop[i - 1]) {
      at[i - 1] = box.start[i - 1];
      --i;
    }
    if (i == 0) return BLOSC2_ERROR_SUCCESS;
  }
}

int ForEachChunk(const b2nd_array_t& array, const Box& box,
                 absl::FunctionRef<int(int64_t nchunk, const Box& items)> visit) {
  Box grid;
  for (int i = 0; i < array.ndim; ++i) {
    if (array.chunkshape[i] == 0) return BLOSC2_ERROR_SUCCESS;
    const auto k = static_cast<size_t>(i);
    grid.start[k] = box.start[k] / array.chunkshape[i];
    grid.stop[k] = CeilDiv<int64_t>(std::min(box.stop[k], array.shape[i]), array.chunkshape[i]);
  }
  return ForEachIndex(array.ndim, grid, [&](const Index& at) {
    int64_t nchunk = 0;
    Box items;
    for (int i = 0; i < array.ndim; ++i) {
      const auto k = static_cast<size_t>(i);
      nchunk = nchunk * (array.extshape[i] / array.chunkshape[i]) + at[k];
      items.start[k] = at[k] * array.chunkshape[i];
      items.stop[k] = items.start[k] + array.chunkshape[i];
    }
    return visit(nchunk, items);
  });
}

int ForEachBlock(const b2nd_array_t& array, const Box& chunk, const Box& box,
                 absl::FunctionRef<int(int64_t nblock, const Box& items)> visit) {
  Box grid;
  for (int i = 0; i < array.ndim; ++i) {
    const auto k = static_cast<size_t>(i);
    const int64_t begin = std::max(box.start[k], chunk.start[k]) - chunk.start[k];
    const int64_t end = std::min(box.stop[k], chunk.stop[k]) - chunk.start[k];
    grid.start[k] = begin / array.blockshape[i];
    grid.stop[k] = CeilDiv<int64_t>(std::max<int64_t>(end, 0), array.blockshape[i]);
  }
  return ForEachIndex(array.ndim, grid, [&](const Index& at) {
    int64_t nblock = 0;
    Box items;
    for (int i = 0; i < array.ndim; ++i) {
      const auto k = static_cast<size_t>(i);
      nblock = nblock * (array.extchunkshape[i] / array.blockshape[i]) + at[k];
      items.start[k] = chunk.start[k] + at[k] * array.blockshape[i];
      items.stop[k] = std::min(items.start[k] + array.blockshape[i], chunk.stop[k]);
    }
    return visit(nblock, items);
  });
}

void CopyItems(int ndim, int64_t itemsize, const Index& extent, const std::byte* src,
               const Index& src_shape, const Index& src_start, std::byte* dst,
               const Index& dst_shape, const Index& dst_start) {
  const auto n = static_cast<size_t>(ndim);
  Index src_strides{};
  Index dst_strides{};
  int64_t src_stride = itemsize;
  int64_t dst_stride = itemsize;
  for (size_t i = n; i-- > 0;) {
    src_strides[i] = src_stride;
    dst_strides[i] = dst_stride;
    src += src_start[i] * src_stride;
    dst += dst_start[i] * dst_stride;
    src_stride *= src_shape[i];
    dst_stride *= dst_shape[i];
  }
  // The dimensions at the end that are complete on both sides are one run.
  size_t outer = n;
  Runs runs{.count = 1, .nbytes = itemsize};
  while (outer > 0) {
    --outer;
    runs.nbytes *= extent[outer];
    if (extent[outer] != src_shape[outer] || extent[outer] != dst_shape[outer]) break;
  }
  if (runs.nbytes == 0) return;
  if (outer > 0) {
    --outer;
    runs.count = extent[outer];
    runs.src_stride = src_strides[outer];
    runs.dst_stride = dst_strides[outer];
  }
  Box rest;
  std::copy_n(extent.begin(), outer, rest.stop.begin());
  ForEachIndex(static_cast<int>(outer), rest, [&](const Index& at) {
    int64_t from = 0;
    int64_t to = 0;
    for (size_t i = 0; i < outer; ++i) {
      from += at[i] * src_strides[i];
      to += at[i] * dst_strides[i];
    }
    Copy(runs, src + from, dst + to);
    return int{BLOSC2_ERROR_SUCCESS};
  });
}

}  // namespace cairn::blosc2_api

int b2nd_copy_buffer2(int8_t ndim, int32_t itemsize, const void* src, const int64_t* src_pad_shape,
                      const int64_t* src_start, const int64_t* src_stop, void* dst,
                      const int64_t* dst_pad_shape, const int64_t* dst_start) {
  namespace api = cairn::blosc2_api;
  if (ndim < 0 || ndim > B2ND_MAX_DIM) {
    return api::Failed(BLOSC2_ERROR_INVALID_PARAM, "copy: expected 0 to 16 dimensions");
  }
  api::Index extent{};
  for (int i = 0; i < ndim; ++i) {
    extent[static_cast<size_t>(i)] = src_stop[i] - src_start[i];
    if (src_stop[i] <= src_start[i]) return BLOSC2_ERROR_SUCCESS;
  }
  api::CopyItems(ndim, itemsize, extent, static_cast<const std::byte*>(src),
                 api::IndexOf(src_pad_shape, ndim), api::IndexOf(src_start, ndim),
                 static_cast<std::byte*>(dst), api::IndexOf(dst_pad_shape, ndim),
                 api::IndexOf(dst_start, ndim));
  return BLOSC2_ERROR_SUCCESS;
}

int b2nd_copy_buffer(int8_t ndim, uint8_t itemsize, const void* src, const int64_t* src_pad_shape,
                     const int64_t* src_start, const int64_t* src_stop, void* dst,
                     const int64_t* dst_pad_shape, const int64_t* dst_start) {
  return b2nd_copy_buffer2(ndim, itemsize, src, src_pad_shape, src_start, src_stop, dst,
                           dst_pad_shape, dst_start);
}
