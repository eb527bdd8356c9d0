// Grows and shrinks n-dimensional arrays.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "engine/blosc2_api/arrays/b2nd_context.h"
#include "engine/blosc2_api/arrays/b2nd_geometry.h"
#include "engine/blosc2_api/process/api.h"
#include "engine/blosc2_api/process/codes.h"
#include "engine/blosc2_api/schunks/schunk.h"

namespace cairn::blosc2_api {

namespace {

// The items that come or go along each axis: as many as the shape changes, from `start` on.
struct Gap {
  Index start{};
  Index size{};
};

// Returns the number of each chunk of the geometry, in order, that begins in the gap of any axis.
std::vector<int64_t> ChunksIn(const b2nd_array_t& geometry, const Gap& gap) {
  std::vector<int64_t> chunks;
  Box all;
  std::copy_n(geometry.shape, geometry.ndim, all.stop.begin());
  ForEachChunk(geometry, all, [&](int64_t nchunk, const Box& items) {
    for (size_t i = 0; i < static_cast<size_t>(geometry.ndim); ++i) {
      if (items.start[i] < gap.start[i] || items.start[i] >= gap.start[i] + gap.size[i]) continue;
      chunks.push_back(nchunk);
      break;
    }
    return int{BLOSC2_ERROR_SUCCESS};
  });
  return chunks;
}

Gap GapOf(const b2nd_array_t& array, const int64_t* begin, const Index& from, const Index& to) {
  Gap gap;
  for (size_t i = 0; i < static_cast<size_t>(array.ndim); ++i) {
    gap.start[i] = begin[i];
    gap.size[i] = to[i] - from[i];
  }
  return gap;
}

int SetShape(b2nd_array_t& array, const Index& shape) {
  // The fields that are set must not be those that are read.
  std::array<int32_t, B2ND_MAX_DIM> chunkshape{};
  std::array<int32_t, B2ND_MAX_DIM> blockshape{};
  std::copy_n(array.chunkshape, array.ndim, chunkshape.begin());
  std::copy_n(array.blockshape, array.ndim, blockshape.begin());
  return SetGeometry(array, array.ndim, shape.data(), chunkshape.data(), blockshape.data());
}

int Shrink(b2nd_array_t& array, const Index& shape, const int64_t* start) {
  const b2nd_array_t before = array;
  const Index old = IndexOf(before.shape, before.ndim);
  if (old == shape) return BLOSC2_ERROR_SUCCESS;
  int code = SetShape(array, shape);
  if (code >= 0) code = PublishShape(array);
  if (code < 0) return code;
  const Gap gap = GapOf(array, start != nullptr ? start : shape.data(), shape, old);
  std::vector<int64_t> chunks = ChunksIn(before, gap);
  std::ranges::reverse(chunks);
  for (const int64_t nchunk : chunks) {
    if (blosc2_schunk_delete_chunk(array.sc, nchunk) < 0) return BLOSC2_ERROR_FAILURE;
  }
  return BLOSC2_ERROR_SUCCESS;
}

int Extend(b2nd_array_t& array, const Index& shape, const int64_t* start) {
  const Index old = IndexOf(array.shape, array.ndim);
  if (old == shape) return BLOSC2_ERROR_SUCCESS;
  const int64_t before = array.sc->nchunks;
  int code = SetShape(array, shape);
  if (code < 0) return code;
  const int64_t nchunks = array.chunknitems == 0 ? 0 : array.extnitems / array.chunknitems;
  if (nchunks != before) {
    blosc2_cparams* cparams = nullptr;
    blosc2_schunk_get_cparams(array.sc, &cparams);
    std::array<uint8_t, BLOSC_EXTENDED_HEADER_LENGTH> chunk{};
    code = blosc2_chunk_zeros(*cparams, array.sc->chunksize, chunk.data(),
                              BLOSC_EXTENDED_HEADER_LENGTH);
    std::free(cparams);
    if (code < 0) return BLOSC2_ERROR_FAILURE;
    const Gap gap = GapOf(array, start != nullptr ? start : old.data(), old, shape);
    for (const int64_t nchunk : ChunksIn(array, gap)) {
      if (blosc2_schunk_insert_chunk(array.sc, nchunk, chunk.data(), true) < 0) {
        return BLOSC2_ERROR_FAILURE;
      }
    }
  }
  return PublishShape(array);
}

// Checks that items which come or go inside of the array are whole chunks.
int CheckStart(const b2nd_array_t& array, const int64_t* shape, const int64_t* start) {
  for (int i = 0; i < array.ndim; ++i) {
    if (start[i] > array.shape[i]) {
      return Failed(BLOSC2_ERROR_INVALID_PARAM, "resize: the start is past the end");
    }
    const int64_t more = shape[i] - array.shape[i];
    const bool at_end = more > 0 ? start[i] == array.shape[i] : start[i] == shape[i];
    if (more == 0 || at_end) continue;
    if (array.chunkshape[i] == 0 || start[i] % array.chunkshape[i] != 0 ||
        more % array.chunkshape[i] != 0) {
      return Failed(BLOSC2_ERROR_INVALID_PARAM, "resize: expected whole chunks inside of an array");
    }
  }
  return BLOSC2_ERROR_SUCCESS;
}

// Sets `shape` to that of the array with another extent along one axis.
Index WithExtent(const b2nd_array_t& array, int axis, int64_t extent) {
  Index shape = IndexOf(array.shape, array.ndim);
  shape[static_cast<size_t>(axis)] = extent;
  return shape;
}

}  // namespace

int FollowMetalayer(b2nd_array_t& array, const FieldsLock& /*lock*/) {
  int64_t& last_tick = LastTick(array);
  if (last_tick == ChangeTick(*array.sc)) return 0;
  b2nd_array_t* now = nullptr;
  const int code = b2nd_from_schunk(array.sc, &now);
  if (code < 0) return code;
  now->sc = nullptr;
  const bool same = now->ndim == array.ndim &&
                    std::ranges::equal(now->chunkshape, array.chunkshape) &&
                    std::ranges::equal(now->blockshape, array.blockshape);
  const Index shape = IndexOf(now->shape, now->ndim);
  b2nd_free(now);
  if (!same) return Failed(BLOSC2_ERROR_DATA, "array: its chunks have got another shape");
  last_tick = ChangeTick(*array.sc);
  if (shape == IndexOf(array.shape, array.ndim)) return 1;
  const int set = SetShape(array, shape);
  return set < 0 ? set : 1;
}

}  // namespace cairn::blosc2_api

using cairn::blosc2_api::EditBatch;
using cairn::blosc2_api::Failed;
using cairn::blosc2_api::Index;

int b2nd_resize(b2nd_array_t* array, const int64_t* new_shape, const int64_t* start) {
  namespace api = cairn::blosc2_api;
  if (array == nullptr || new_shape == nullptr) {
    return Failed(BLOSC2_ERROR_NULL_POINTER, "resize: there is no array or no shape");
  }
  EditBatch batch(*array->sc);
  if (batch.code() < 0) return batch.code();
  const int refreshed = b2nd_refresh(array);
  if (refreshed < 0) return refreshed;
  int code =
      start != nullptr ? api::CheckStart(*array, new_shape, start) : int{BLOSC2_ERROR_SUCCESS};
  if (code < 0) return code;
  // A damaged metalayer may claim any number of chunks.
  if (array->chunknitems > 0 && array->extnitems / array->chunknitems > array->sc->nchunks) {
    return Failed(BLOSC2_ERROR_DATA, "resize: too few chunks");
  }
  const Index wanted = api::IndexOf(new_shape, array->ndim);
  Index shrunk = wanted;
  for (size_t i = 0; i < static_cast<size_t>(array->ndim); ++i) {
    shrunk[i] = std::min(wanted[i], array->shape[i]);
  }
  code = api::Shrink(*array, shrunk, start);
  if (code >= 0) code = api::Extend(*array, wanted, start);
  return code < 0 ? code : batch.End();
}

int b2nd_refresh(b2nd_array_t* array) {
  if (array == nullptr) return Failed(BLOSC2_ERROR_NULL_POINTER, "array: there is none");
  if (array->sc == nullptr) return BLOSC2_ERROR_SUCCESS;
  const cairn::blosc2_api::FieldsLock lock(*array->sc);
  const int synced = cairn::blosc2_api::SyncWithFile(*array->sc, lock);
  return synced < 0 ? synced : cairn::blosc2_api::FollowMetalayer(*array, lock);
}

int b2nd_insert(b2nd_array_t* array, const void* buffer, int64_t buffersize, int8_t axis,
                int64_t insert_start) {
  namespace api = cairn::blosc2_api;
  if (array == nullptr || buffer == nullptr) {
    return Failed(BLOSC2_ERROR_NULL_POINTER, "insert: there is no array or no buffer");
  }
  EditBatch batch(*array->sc);
  if (batch.code() < 0) return batch.code();
  const int refreshed = b2nd_refresh(array);
  if (refreshed < 0) return refreshed;
  if (axis < 0 || axis >= array->ndim) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "insert: there is no such axis");
  }
  int64_t slice = array->sc->typesize;
  for (int i = 0; i < array->ndim; ++i) slice *= i == axis ? 1 : array->shape[i];
  if (slice == 0 || buffersize % slice != 0) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "insert: expected complete slices");
  }
  const int64_t count = buffersize / slice;
  const Index shape = api::WithExtent(*array, axis, array->shape[axis] + count);
  const Index buffershape = api::WithExtent(*array, axis, count);
  Index start{};
  start[static_cast<size_t>(axis)] = insert_start;
  const bool at_end = insert_start == array->shape[axis];
  int code = b2nd_resize(array, shape.data(), at_end ? nullptr : start.data());
  if (code < 0) return code;
  Index stop = shape;
  stop[static_cast<size_t>(axis)] = insert_start + count;
  code = b2nd_set_slice_cbuffer(buffer, buffershape.data(), buffersize, start.data(), stop.data(),
                                array);
  return code < 0 ? code : batch.End();
}

int b2nd_append(b2nd_array_t* array, const void* buffer, int64_t buffersize, int8_t axis) {
  if (array == nullptr || buffer == nullptr) {
    return Failed(BLOSC2_ERROR_NULL_POINTER, "append: there is no array or no buffer");
  }
  EditBatch batch(*array->sc);
  if (batch.code() < 0) return batch.code();
  const int refreshed = b2nd_refresh(array);
  if (refreshed < 0) return refreshed;
  if (axis < 0 || axis >= array->ndim) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "append: there is no such axis");
  }
  const int code = b2nd_insert(array, buffer, buffersize, axis, array->shape[axis]);
  return code < 0 ? code : batch.End();
}

int b2nd_delete(b2nd_array_t* array, int8_t axis, int64_t delete_start, int64_t delete_len) {
  if (array == nullptr) return Failed(BLOSC2_ERROR_NULL_POINTER, "delete: there is no array");
  EditBatch batch(*array->sc);
  if (batch.code() < 0) return batch.code();
  const int refreshed = b2nd_refresh(array);
  if (refreshed < 0) return refreshed;
  if (axis < 0 || axis >= array->ndim) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "delete: there is no such axis");
  }
  const int64_t left = array->shape[axis] - delete_len;
  const Index shape = cairn::blosc2_api::WithExtent(*array, axis, left);
  Index start{};
  start[static_cast<size_t>(axis)] = delete_start;
  const int code = b2nd_resize(array, shape.data(), delete_start == left ? nullptr : start.data());
  return code < 0 ? code : batch.End();
}
