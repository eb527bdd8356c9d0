// Copies and parts of n-dimensional arrays as new arrays.
#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "engine/blosc2_api/arrays/b2nd_context.h"
#include "engine/blosc2_api/arrays/b2nd_geometry.h"
#include "engine/blosc2_api/process/api.h"
#include "engine/blosc2_api/process/codes.h"
#include "engine/blosc2_api/schunks/schunk.h"

namespace cairn::blosc2_api {

namespace {

// Copies a box of an array to the place `to` of another one, in pieces of a chunk of the latter.
int CopyBox(const b2nd_array_t& from, const Box& box, b2nd_array_t& to, const Index& place) {
  const auto n = static_cast<size_t>(from.ndim);
  Box target;
  for (size_t i = 0; i < n; ++i) {
    target.start[i] = place[i];
    target.stop[i] = place[i] + box.stop[i] - box.start[i];
  }
  if (from.ndim == 0) {
    std::vector<std::byte> item(static_cast<size_t>(from.sc->typesize));
    const int code = b2nd_get_slice_cbuffer(&from, box.start.data(), box.stop.data(), item.data(),
                                            target.stop.data(), std::ssize(item));
    return code < 0 ? code
                    : b2nd_set_slice_cbuffer(item.data(), target.stop.data(), std::ssize(item),
                                             target.start.data(), target.stop.data(), &to);
  }
  std::vector<std::byte> piece;
  EditBatch batch(*to.sc);
  if (batch.code() < 0) return batch.code();
  const int code = ForEachChunk(to, target, [&](int64_t /*nchunk*/, const Box& items) {
    Box shared;
    if (!Intersect(to.ndim, items, target, shared)) return int{BLOSC2_ERROR_SUCCESS};
    Box source;
    Index shape{};
    int64_t size = to.sc->typesize;
    for (size_t i = 0; i < n; ++i) {
      source.start[i] = shared.start[i] - target.start[i] + box.start[i];
      source.stop[i] = shared.stop[i] - target.start[i] + box.start[i];
      shape[i] = shared.stop[i] - shared.start[i];
      size *= shape[i];
    }
    piece.resize(static_cast<size_t>(size));
    const int read = b2nd_get_slice_cbuffer(&from, source.start.data(), source.stop.data(),
                                            piece.data(), shape.data(), size);
    return read < 0 ? read
                    : b2nd_set_slice_cbuffer(piece.data(), shape.data(), size, shared.start.data(),
                                             shared.stop.data(), &to);
  });
  return code < 0 ? code : batch.End();
}

Box All(const b2nd_array_t& array) { return {.stop = IndexOf(array.shape, array.ndim)}; }

// Makes the metalayers of a new array those of another one.
std::vector<blosc2_metalayer> LayersOf(const blosc2_schunk& schunk) {
  std::vector<blosc2_metalayer> layers;
  for (int i = 0; i < schunk.nmetalayers; ++i) {
    if (std::string_view(schunk.metalayers[i]->name) != "b2nd") {
      layers.push_back(*schunk.metalayers[i]);
    }
  }
  return layers;
}

int CopyVlmetalayers(const blosc2_schunk& from, blosc2_schunk& to) {
  for (int i = 0; i < from.nvlmetalayers; ++i) {
    const blosc2_metalayer& layer = *from.vlmetalayers[i];
    const int code = blosc2_vlmeta_add(&to, layer.name, layer.content, layer.content_len, nullptr);
    if (code < 0) return code;
  }
  return BLOSC2_ERROR_SUCCESS;
}

bool SameChunks(const b2nd_context_t& context, const b2nd_array_t& array) {
  return std::equal(array.chunkshape, array.chunkshape + array.ndim, context.chunkshape.begin()) &&
         std::equal(array.blockshape, array.blockshape + array.ndim, context.blockshape.begin());
}

// Copies an array whose chunks stay as they are cut.
int CopyWhole(b2nd_context_t& context, const b2nd_array_t& src, ArrayPtr& copy) {
  copy = MakeArray(context);
  if (copy == nullptr) return BLOSC2_ERROR_INVALID_PARAM;
  copy->sc = blosc2_schunk_copy(src.sc, &context.storage);
  if (copy->sc == nullptr) return BLOSC2_ERROR_FAILURE;
  LastTick(*copy) = ChangeTick(*copy->sc);
  return BLOSC2_ERROR_SUCCESS;
}

// Gives an array the shape that its file has now, as each call that reads it does. Returns a
// negative error code if that fails.
int Refresh(const b2nd_array_t& array) { return b2nd_refresh(const_cast<b2nd_array_t*>(&array)); }

}  // namespace

}  // namespace cairn::blosc2_api

using cairn::blosc2_api::ArrayPtr;
using cairn::blosc2_api::Box;
using cairn::blosc2_api::Failed;
using cairn::blosc2_api::Index;

int b2nd_get_slice(b2nd_context_t* ctx, b2nd_array_t** array, const b2nd_array_t* src,
                   const int64_t* start, const int64_t* stop) {
  if (ctx == nullptr || array == nullptr || src == nullptr || start == nullptr || stop == nullptr) {
    return Failed(BLOSC2_ERROR_NULL_POINTER, "slice: there is no array or no box");
  }
  const int refreshed = cairn::blosc2_api::Refresh(*src);
  if (refreshed < 0) return refreshed;
  ctx->ndim = src->ndim;
  Box box{.start = cairn::blosc2_api::IndexOf(start, src->ndim),
          .stop = cairn::blosc2_api::IndexOf(stop, src->ndim)};
  for (size_t i = 0; i < static_cast<size_t>(src->ndim); ++i) {
    ctx->shape[i] = box.stop[i] - box.start[i];
  }
  ArrayPtr made;
  int code = cairn::blosc2_api::NewArray(*ctx, BLOSC2_SPECIAL_ZERO, made);
  if (code >= 0 && made->nitems > 0) {
    code = cairn::blosc2_api::CopyBox(*src, box, *made, Index{});
  }
  if (code < 0) return code;
  *array = made.release();
  return BLOSC2_ERROR_SUCCESS;
}

int b2nd_copy(b2nd_context_t* ctx, const b2nd_array_t* src, b2nd_array_t** array) {
  if (ctx == nullptr || array == nullptr || src == nullptr) {
    return Failed(BLOSC2_ERROR_NULL_POINTER, "copy: there is no array");
  }
  const int refreshed = cairn::blosc2_api::Refresh(*src);
  if (refreshed < 0) return refreshed;
  ctx->ndim = src->ndim;
  std::copy_n(src->shape, src->ndim, ctx->shape.begin());
  if (cairn::blosc2_api::SameChunks(*ctx, *src)) {
    ArrayPtr copy;
    const int code = cairn::blosc2_api::CopyWhole(*ctx, *src, copy);
    if (code < 0) return code;
    *array = copy.release();
    return BLOSC2_ERROR_SUCCESS;
  }
  b2nd_context_t with_layers = *ctx;
  if (with_layers.storage.cparams == &ctx->cparams) {
    with_layers.storage.cparams = &with_layers.cparams;
  }
  with_layers.metalayers = cairn::blosc2_api::LayersOf(*src->sc);
  const Box all = cairn::blosc2_api::All(*src);
  const int code = b2nd_get_slice(&with_layers, array, src, all.start.data(), all.stop.data());
  return code < 0 ? code : cairn::blosc2_api::CopyVlmetalayers(*src->sc, *(*array)->sc);
}

int b2nd_save(const b2nd_array_t* array, char* urlpath) {
  if (array == nullptr || urlpath == nullptr) {
    return Failed(BLOSC2_ERROR_NULL_POINTER, "save: there is no array or no path");
  }
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  storage.urlpath = urlpath;
  storage.contiguous = array->sc->storage->contiguous;
  blosc2_cparams* cparams = nullptr;
  blosc2_schunk_get_cparams(array->sc, &cparams);
  b2nd_context_t context;
  context.cparams = *cparams;
  std::free(cparams);
  context.storage = storage;
  context.storage.cparams = &context.cparams;
  context.dtype = array->dtype != nullptr ? array->dtype : "";
  context.dtype_format = array->dtype_format;
  std::copy_n(array->chunkshape, array->ndim, context.chunkshape.begin());
  std::copy_n(array->blockshape, array->ndim, context.blockshape.begin());
  b2nd_array_t* saved = nullptr;
  const int code = b2nd_copy(&context, array, &saved);
  return code < 0 ? code : b2nd_free(saved);
}

int b2nd_concatenate(b2nd_context_t* ctx, const b2nd_array_t* src1, const b2nd_array_t* src2,
                     int8_t axis, bool copy, b2nd_array_t** array) {
  if (src1 == nullptr || src2 == nullptr || array == nullptr) {
    return Failed(BLOSC2_ERROR_NULL_POINTER, "concatenate: there are no two arrays");
  }
  for (const b2nd_array_t* const src : {src1, src2}) {
    const int refreshed = cairn::blosc2_api::Refresh(*src);
    if (refreshed < 0) return refreshed;
  }
  if (axis < 0 || axis >= src1->ndim || src1->ndim != src2->ndim ||
      src1->sc->typesize != src2->sc->typesize) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "concatenate: the arrays do not fit each other");
  }
  Index shape = cairn::blosc2_api::IndexOf(src1->shape, src1->ndim);
  for (int i = 0; i < src1->ndim; ++i) {
    if (i != axis && src1->shape[i] != src2->shape[i]) {
      return Failed(BLOSC2_ERROR_INVALID_PARAM, "concatenate: the shapes differ");
    }
  }
  Index place{};
  place[static_cast<size_t>(axis)] = src1->shape[axis];
  shape[static_cast<size_t>(axis)] += src2->shape[axis];
  const Box all = cairn::blosc2_api::All(*src2);
  int code = BLOSC2_ERROR_SUCCESS;
  if (copy) {
    code = b2nd_copy(ctx, src1, array);
  } else {
    *array = const_cast<b2nd_array_t*>(src1);
  }
  if (code >= 0) code = b2nd_resize(*array, shape.data(), nullptr);
  if (code >= 0) code = cairn::blosc2_api::CopyBox(*src2, all, **array, place);
  return std::min(code, int{BLOSC2_ERROR_SUCCESS});
}
