// Reads and writes boxes of n-dimensional arrays.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/scratch_buffer.h"
#include "engine/blosc2_api/arrays/array_reader.h"
#include "engine/blosc2_api/arrays/b2nd_geometry.h"
#include "engine/blosc2_api/process/api.h"
#include "engine/blosc2_api/process/codes.h"
#include "engine/blosc2_api/schunks/schunk.h"

namespace cairn::blosc2_api {

namespace {

using MallocPtr = std::unique_ptr<uint8_t, decltype(&std::free)>;

// The caller's buffer: items in C order.
struct Buffer {
  Index shape{};
  std::byte* items = nullptr;
};

Index Difference(const Index& a, const Index& b) {
  Index difference{};
  for (size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - b[i];
  return difference;
}

Index BlockShape(const b2nd_array_t& array) {
  Index shape{};
  std::copy_n(array.blockshape, array.ndim, shape.begin());
  return shape;
}

// A box of an array, and the buffer that its items go to or come from. Not thread-safe.
class Slice {
 public:
  Slice(const ArrayReader& reader, const Box& box, const Buffer& buffer)
      : array_(reader.array()),
        schunk_(*array_.sc),
        reader_(reader.schunk()),
        box_(box),
        buffer_(buffer),
        block_(BlockShape(array_)),
        block_nbytes_(int64_t{array_.blocknitems} * schunk_.typesize),
        chunk_nbytes_(array_.extchunknitems * schunk_.typesize) {
    shape_.stop = IndexOf(array_.shape, array_.ndim);
  }

  int Read() {
    const int code = CheckLayout();
    if (code < 0) return code;
    return ForEachChunk(array_, box_,
                        [&](int64_t nchunk, const Box& items) { return ReadChunk(nchunk, items); });
  }

  int Write() {
    const int code = CheckLayout();
    if (code < 0) return code;
    return ForEachChunk(
        array_, box_, [&](int64_t nchunk, const Box& items) { return WriteChunk(nchunk, items); });
  }

 private:
  // A view without a dimension in which chunks were longer than 1 has other places for its items
  // than the chunks have.
  int CheckLayout() const {
    const int32_t chunksize = reader_.chunksize();
    if (chunksize <= 0 || chunksize == chunk_nbytes_) return BLOSC2_ERROR_SUCCESS;
    Failed(BLOSC2_ERROR_FAILURE, "array: its chunks have the shape of another one");
    return BLOSC2_ERROR_FAILURE;
  }

  int ReadChunk(int64_t nchunk, const Box& items) {
    if (nchunk >= reader_.nchunks()) return Failed(BLOSC2_ERROR_DATA, "array: too few chunks");
    const int64_t nblocks = chunk_nbytes_ / block_nbytes_;
    std::vector<bool> masked(static_cast<size_t>(nblocks), true);
    std::vector<ByteRange> needed;
    ForEachBlock(array_, items, box_, [&](int64_t nblock, const Box& /*place*/) {
      masked[static_cast<size_t>(nblock)] = false;
      needed.push_back({.begin = nblock * block_nbytes_, .end = (nblock + 1) * block_nbytes_});
      return int{BLOSC2_ERROR_SUCCESS};
    });
    // Few blocks are decoded one by one, which takes no memory for the others.
    if (4 * std::ssize(needed) > nblocks) return ReadFromWhole(nchunk, items, std::move(masked));
    const absl::StatusOr<Chunk> chunk = reader_.Get(nchunk, needed);
    if (!chunk.ok()) return int{BLOSC2_ERROR_FAILURE};
    const MutableBytes block = scratch_.Get(static_cast<size_t>(block_nbytes_));
    return ForEachBlock(array_, items, box_, [&](int64_t nblock, const Box& place) {
      if (reader_.GetBytes(*chunk, nchunk, nblock * block_nbytes_, block) < 0) {
        return int{BLOSC2_ERROR_FAILURE};
      }
      CopyBlock(place, block.data(), false);
      return int{BLOSC2_ERROR_SUCCESS};
    });
  }

  // Reads a chunk without the blocks that are masked.
  int ReadFromWhole(int64_t nchunk, const Box& items, std::vector<bool> masked) {
    const MutableBytes content = scratch_.Get(static_cast<size_t>(chunk_nbytes_));
    if (std::ranges::find(masked, true) == masked.end()) masked.clear();
    const int size = reader_.Decompress(
        nchunk, content.data(), static_cast<int32_t>(chunk_nbytes_),
        {.blocksize = static_cast<int32_t>(block_nbytes_), .masked = std::move(masked)});
    if (size != chunk_nbytes_) return BLOSC2_ERROR_FAILURE;
    return CopyBlocks(items, content.data(), false);
  }

  int WriteChunk(int64_t nchunk, const Box& items) {
    if (nchunk >= reader_.nchunks()) return Failed(BLOSC2_ERROR_DATA, "array: too few chunks");
    const MutableBytes content = scratch_.Get(static_cast<size_t>(chunk_nbytes_));
    Box there;
    Intersect(array_.ndim, items, shape_, there);
    Box shared;
    const bool whole =
        Intersect(array_.ndim, there, box_, shared) &&
        std::equal(there.start.begin(), there.start.begin() + array_.ndim, shared.start.begin()) &&
        std::equal(there.stop.begin(), there.stop.begin() + array_.ndim, shared.stop.begin());
    if (whole) {
      FillBytes(content, std::byte{0});
    } else if (reader_.Decompress(nchunk, content.data(), static_cast<int32_t>(chunk_nbytes_)) !=
               chunk_nbytes_) {
      return BLOSC2_ERROR_FAILURE;
    }
    const int code = CopyBlocks(items, content.data(), true);
    return code < 0 ? code : Store(nchunk, content);
  }

  // Compresses the content of a chunk into the array.
  int Store(int64_t nchunk, Bytes content) {
    const auto room = static_cast<int32_t>(chunk_nbytes_) + BLOSC2_MAX_OVERHEAD;
    MallocPtr chunk(static_cast<uint8_t*>(std::malloc(static_cast<size_t>(room))), std::free);
    if (chunk == nullptr) return Failed(BLOSC2_ERROR_MEMORY_ALLOC, "array: memory");
    SetCurrentChunk(schunk_, nchunk);
    const int size = blosc2_compress_ctx(schunk_.cctx, content.data(),
                                         static_cast<int32_t>(chunk_nbytes_), chunk.get(), room);
    if (size <= 0) return BLOSC2_ERROR_FAILURE;
    if (blosc2_schunk_update_chunk(&schunk_, nchunk, chunk.get(), false) < 0) {
      return BLOSC2_ERROR_FAILURE;
    }
    std::ignore = chunk.release();
    return BLOSC2_ERROR_SUCCESS;
  }

  int CopyBlocks(const Box& items, std::byte* content, bool write) {
    return ForEachBlock(array_, items, box_, [&](int64_t nblock, const Box& place) {
      CopyBlock(place, content + nblock * block_nbytes_, write);
      return int{BLOSC2_ERROR_SUCCESS};
    });
  }

  // Copies what a block and the box share between them.
  void CopyBlock(const Box& place, std::byte* block, bool write) const {
    Box shared;
    Box inside;
    if (!Intersect(array_.ndim, place, box_, shared) ||
        !Intersect(array_.ndim, shared, shape_, inside)) {
      return;
    }
    const Index extent = Difference(inside.stop, inside.start);
    const Index in_block = Difference(inside.start, place.start);
    const Index in_buffer = Difference(inside.start, box_.start);
    if (write) {
      CopyItems(array_.ndim, schunk_.typesize, extent, buffer_.items, buffer_.shape, in_buffer,
                block, block_, in_block);
    } else {
      CopyItems(array_.ndim, schunk_.typesize, extent, block, block_, in_block, buffer_.items,
                buffer_.shape, in_buffer);
    }
  }

  const b2nd_array_t& array_;
  blosc2_schunk& schunk_;
  const SchunkReader& reader_;
  const Box box_;
  const Buffer buffer_;
  const Index block_;
  Box shape_;
  const int64_t block_nbytes_;
  const int64_t chunk_nbytes_;
  ScratchBuffer scratch_;
};

// Reads or writes the only item of an array without dimensions.
int CopyScalar(blosc2_schunk& schunk, void* buffer, bool write) {
  if (!write) {
    const int size = blosc2_schunk_decompress_chunk(&schunk, 0, buffer, schunk.typesize);
    return size < 0 ? int{BLOSC2_ERROR_FAILURE} : int{BLOSC2_ERROR_SUCCESS};
  }
  const int32_t room = schunk.typesize + BLOSC2_MAX_OVERHEAD;
  MallocPtr chunk(static_cast<uint8_t*>(std::malloc(static_cast<size_t>(room))), std::free);
  if (chunk == nullptr) return Failed(BLOSC2_ERROR_MEMORY_ALLOC, "array: memory");
  if (blosc2_compress_ctx(schunk.cctx, buffer, schunk.typesize, chunk.get(), room) <= 0 ||
      blosc2_schunk_update_chunk(&schunk, 0, chunk.get(), false) < 0) {
    return BLOSC2_ERROR_FAILURE;
  }
  std::ignore = chunk.release();
  return BLOSC2_ERROR_SUCCESS;
}

// Returns true if a box is in the array and has an item for each byte of the buffer.
bool FillsBuffer(const b2nd_array_t& array, const int64_t* start, const int64_t* stop,
                 const int64_t* shape, int64_t size) {
  int64_t nbytes = array.sc->typesize;
  for (int i = 0; i < array.ndim; ++i) {
    if (start[i] < 0 || stop[i] > array.shape[i] || stop[i] - start[i] != shape[i]) return false;
    nbytes *= shape[i];
  }
  return nbytes == size;
}

// Returns true if the last chunk of a box that ends at `stop` has a number that is not one of the
// array's. C-Blosc2 refuses such boxes, and no others that reach past the end.
bool NeedsMoreChunks(const b2nd_array_t& array, const int64_t* stop) {
  std::optional<int64_t> last = 0;
  int64_t nchunks = 1;
  for (int i = 0; i < array.ndim && last.has_value(); ++i) {
    const int64_t count = array.extshape[i] / array.chunkshape[i];
    last = CheckedMul(*last, count);
    if (last.has_value()) last = CheckedAdd(*last, (stop[i] - 1) / array.chunkshape[i]);
    nchunks *= count;
  }
  return !last.has_value() || *last >= nchunks;
}

int Copy(const ArrayReader& reader, const int64_t* start, const int64_t* stop, void* items,
         const int64_t* shape, int64_t size, bool write) {
  if (reader.code() < 0) return reader.code();
  const b2nd_array_t& array = reader.array();
  if (size < 0) return Failed(BLOSC2_ERROR_INVALID_PARAM, "array: a buffer of a negative size");
  if (!write && !FillsBuffer(array, start, stop, shape, size)) {
    FillBytes(MutableBytesAt(items, size), std::byte{0});
  }
  if (array.ndim == 0) return CopyScalar(*array.sc, items, write);
  if (array.nitems == 0) return BLOSC2_ERROR_SUCCESS;
  int64_t needed = array.sc->typesize;
  for (int i = 0; i < array.ndim; ++i) {
    if (start[i] < 0 || stop[i] < start[i] || stop[i] - start[i] > shape[i]) {
      return Failed(BLOSC2_ERROR_INVALID_PARAM, "array: the box does not fit into the buffer");
    }
    needed *= stop[i] - start[i];
  }
  if (size < needed) return Failed(BLOSC2_ERROR_INVALID_PARAM, "array: the buffer is too small");
  if (needed > 0 && NeedsMoreChunks(array, stop)) {
    Failed(BLOSC2_ERROR_FAILURE, "array: the box reaches past the last chunk");
    return BLOSC2_ERROR_FAILURE;
  }
  if (array.extchunknitems * array.sc->typesize > INT32_MAX - BLOSC2_MAX_OVERHEAD) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "array: its chunks are too large");
  }
  Slice slice(reader, {.start = IndexOf(start, array.ndim), .stop = IndexOf(stop, array.ndim)},
              {.shape = IndexOf(shape, array.ndim), .items = static_cast<std::byte*>(items)});
  return write ? slice.Write() : slice.Read();
}

}  // namespace

}  // namespace cairn::blosc2_api

using cairn::blosc2_api::Failed;

int b2nd_get_slice_cbuffer(const b2nd_array_t* array, const int64_t* start, const int64_t* stop,
                           void* buffer, const int64_t* buffershape, int64_t buffersize) {
  if (array == nullptr || start == nullptr || stop == nullptr || buffershape == nullptr ||
      buffer == nullptr) {
    return Failed(BLOSC2_ERROR_NULL_POINTER, "array: there is no box or no buffer");
  }
  const cairn::blosc2_api::ArrayReader reader(*const_cast<b2nd_array_t*>(array));
  return cairn::blosc2_api::Copy(reader, start, stop, buffer, buffershape, buffersize, false);
}

int b2nd_set_slice_cbuffer(const void* buffer, const int64_t* buffershape, int64_t buffersize,
                           const int64_t* start, const int64_t* stop, b2nd_array_t* array) {
  if (array == nullptr || start == nullptr || stop == nullptr || buffershape == nullptr ||
      buffer == nullptr) {
    return Failed(BLOSC2_ERROR_NULL_POINTER, "array: there is no box or no buffer");
  }
  cairn::blosc2_api::EditBatch batch(*array->sc);
  if (batch.code() < 0) return batch.code();
  const cairn::blosc2_api::ArrayReader reader(*array);
  const int code = cairn::blosc2_api::Copy(reader, start, stop, const_cast<void*>(buffer),
                                           buffershape, buffersize, true);
  return code < 0 ? code : batch.End();
}

int b2nd_from_cbuffer(b2nd_context_t* ctx, b2nd_array_t** array, const void* buffer,
                      int64_t buffersize) {
  if (buffer == nullptr) return Failed(BLOSC2_ERROR_NULL_POINTER, "array: there is no buffer");
  const int code = b2nd_empty(ctx, array);
  if (code < 0) return code;
  if (buffersize < (*array)->nitems * (*array)->sc->typesize) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "array: the buffer is too small");
  }
  if ((*array)->nitems == 0) return BLOSC2_ERROR_SUCCESS;
  const cairn::blosc2_api::Index start{};
  return b2nd_set_slice_cbuffer(buffer, (*array)->shape, buffersize, start.data(), (*array)->shape,
                                *array);
}

int b2nd_to_cbuffer(const b2nd_array_t* array, void* buffer, int64_t buffersize) {
  if (array == nullptr || buffer == nullptr) {
    return Failed(BLOSC2_ERROR_NULL_POINTER, "array: there is no buffer");
  }
  const cairn::blosc2_api::ArrayReader reader(*const_cast<b2nd_array_t*>(array));
  if (reader.code() < 0) return reader.code();
  const b2nd_array_t& now = reader.array();
  if (buffersize < now.nitems * now.sc->typesize) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "array: the buffer is too small");
  }
  if (now.nitems == 0) return BLOSC2_ERROR_SUCCESS;
  const cairn::blosc2_api::Index start{};
  return cairn::blosc2_api::Copy(reader, start.data(), now.shape, buffer, now.shape, buffersize,
                                 false);
}
