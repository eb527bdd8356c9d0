// Makes, opens and frees n-dimensional arrays.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "engine/base/checked.h"
#include "engine/blosc2_api/arrays/b2nd_context.h"
#include "engine/blosc2_api/arrays/b2nd_geometry.h"
#include "engine/blosc2_api/process/api.h"
#include "engine/blosc2_api/process/codes.h"
#include "engine/blosc2_api/schunks/schunk.h"

namespace cairn::blosc2_api {

ArrayPtr MakeArray(const b2nd_context_t& context) {
  ArrayPtr array(static_cast<b2nd_array_t*>(std::calloc(1, sizeof(ArrayMemory))));
  if (array == nullptr) return nullptr;
  if (SetGeometry(*array, context.ndim, context.shape.data(), context.chunkshape.data(),
                  context.blockshape.data()) < 0) {
    return nullptr;
  }
  array->dtype = strdup(context.dtype.c_str());
  array->dtype_format = context.dtype_format;
  array->chunk_cache.nchunk = -1;
  return array;
}

int PublishShape(b2nd_array_t& array) {
  blosc2_schunk* const schunk = array.sc;
  if (schunk == nullptr) return BLOSC2_ERROR_SUCCESS;
  uint8_t* meta = nullptr;
  const int size = b2nd_serialize_meta(array.ndim, array.shape, array.chunkshape, array.blockshape,
                                       array.dtype, array.dtype_format, &meta);
  if (size < 0) return size;
  const int code = blosc2_meta_exists(schunk, "b2nd") < 0
                       ? blosc2_meta_add(schunk, "b2nd", meta, size)
                       : blosc2_meta_update(schunk, "b2nd", meta, size);
  std::free(meta);
  LastTick(array) = ChangeTick(*schunk);
  return code < 0 ? int{BLOSC2_ERROR_FAILURE} : int{BLOSC2_ERROR_SUCCESS};
}

int NewArray(const b2nd_context_t& context, int special, ArrayPtr& array) {
  array = MakeArray(context);
  if (array == nullptr) return BLOSC2_ERROR_INVALID_PARAM;
  blosc2_storage storage = context.storage;
  const std::optional<int64_t> chunksize =
      CheckedMul<int64_t>(array->extchunknitems, context.cparams.typesize);
  if (!chunksize.has_value() || *chunksize > BLOSC2_MAX_BUFFERSIZE || *chunksize < 0) {
    return Failed(BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED, "array: its chunks are too large");
  }
  array->sc = blosc2_schunk_new(&storage);
  if (array->sc == nullptr) return BLOSC2_ERROR_FAILURE;
  array->sc->chunksize = static_cast<int32_t>(*chunksize);
  int code = PublishShape(*array);
  for (const blosc2_metalayer& layer : context.metalayers) {
    if (code >= 0) code = blosc2_meta_add(array->sc, layer.name, layer.content, layer.content_len);
  }
  if (code < 0) return BLOSC2_ERROR_FAILURE;
  LastTick(*array) = ChangeTick(*array->sc);
  if (array->nitems == 0) return BLOSC2_ERROR_SUCCESS;
  const int64_t nchunks = array->extnitems / array->chunknitems;
  const std::optional<int64_t> nitems = CheckedMul(nchunks, array->extchunknitems);
  if (!nitems.has_value() ||
      blosc2_schunk_fill_special(array->sc, *nitems, special, array->sc->chunksize) < 0) {
    return BLOSC2_ERROR_FAILURE;
  }
  return BLOSC2_ERROR_SUCCESS;
}

namespace {

int Create(b2nd_context_t* context, int special, b2nd_array_t** array) {
  if (context == nullptr || array == nullptr) {
    return Failed(BLOSC2_ERROR_NULL_POINTER, "array: there is no context");
  }
  *array = nullptr;
  ArrayPtr made;
  const int code = NewArray(*context, special, made);
  if (code < 0) return code;
  *array = made.release();
  return BLOSC2_ERROR_SUCCESS;
}

// Makes every chunk of an array a repeated value.
int FillWith(b2nd_array_t& array, const void* value) {
  blosc2_schunk* const schunk = array.sc;
  blosc2_cparams* cparams = nullptr;
  blosc2_schunk_get_cparams(schunk, &cparams);
  std::vector<uint8_t> chunk(static_cast<size_t>(BLOSC_EXTENDED_HEADER_LENGTH + schunk->typesize));
  const int made = blosc2_chunk_repeatval(
      *cparams, static_cast<int32_t>(array.extchunknitems * schunk->typesize), chunk.data(),
      static_cast<int32_t>(chunk.size()), value);
  std::free(cparams);
  if (made < 0) return BLOSC2_ERROR_FAILURE;
  EditBatch batch(*schunk);
  if (batch.code() < 0) return batch.code();
  for (int64_t i = 0; i < schunk->nchunks; ++i) {
    if (blosc2_schunk_update_chunk(schunk, i, chunk.data(), true) < 0) return BLOSC2_ERROR_FAILURE;
  }
  return batch.End();
}

int FromOpen(blosc2_schunk* schunk, b2nd_array_t** array) {
  if (schunk == nullptr) return Failed(BLOSC2_ERROR_NULL_POINTER, "array: no frame to open");
  const int code = b2nd_from_schunk(schunk, array);
  if (code < 0) blosc2_schunk_free(schunk);
  return code;
}

// Returns true if the product of the extents is a block of at most INT32_MAX bytes.
bool SetBlocksize(b2nd_context_t& context) {
  int32_t size = context.cparams.typesize;
  for (int i = 0; i < context.ndim; ++i) {
    const std::optional<int32_t> product =
        CheckedMul(size, context.blockshape[static_cast<size_t>(i)]);
    if (!product.has_value()) return false;
    size = *product;
  }
  context.cparams.blocksize = size;
  return true;
}

}  // namespace

}  // namespace cairn::blosc2_api

using cairn::blosc2_api::ArrayPtr;
using cairn::blosc2_api::Failed;

b2nd_context_t* b2nd_create_ctx(const blosc2_storage* b2_storage, int8_t ndim, const int64_t* shape,
                                const int32_t* chunkshape, const int32_t* blockshape,
                                const char* dtype, int8_t dtype_format,
                                const blosc2_metalayer* metalayers, int32_t nmetalayers) {
  if (ndim < 0 || ndim > B2ND_MAX_DIM || nmetalayers < 0 || nmetalayers > B2ND_MAX_METALAYERS ||
      (ndim > 0 && (shape == nullptr || chunkshape == nullptr || blockshape == nullptr))) {
    Failed(BLOSC2_ERROR_INVALID_PARAM, "array: dimensions or metalayers are out of range");
    return nullptr;
  }
  auto context = std::make_unique<b2nd_context_t>();
  if (b2_storage != nullptr) context->storage = *b2_storage;
  if (context->storage.cparams != nullptr) context->cparams = *context->storage.cparams;
  context->storage.cparams = &context->cparams;
  context->dtype = dtype != nullptr ? dtype : "|S" + std::to_string(context->cparams.typesize);
  context->dtype_format = dtype_format;
  context->ndim = ndim;
  std::copy_n(shape, ndim, context->shape.begin());
  std::copy_n(chunkshape, ndim, context->chunkshape.begin());
  std::copy_n(blockshape, ndim, context->blockshape.begin());
  if (nmetalayers > 0) context->metalayers.assign(metalayers, metalayers + nmetalayers);
  b2nd_array_t geometry{};
  if (!cairn::blosc2_api::SetBlocksize(*context) ||
      cairn::blosc2_api::SetGeometry(geometry, ndim, shape, chunkshape, blockshape) < 0) {
    Failed(BLOSC2_ERROR_INVALID_PARAM, "array: its shape is out of range");
    return nullptr;
  }
  return context.release();
}

int b2nd_free_ctx(b2nd_context_t* ctx) {
  delete ctx;
  return BLOSC2_ERROR_SUCCESS;
}

int b2nd_uninit(b2nd_context_t* ctx, b2nd_array_t** array) {
  return cairn::blosc2_api::Create(ctx, BLOSC2_SPECIAL_UNINIT, array);
}

int b2nd_empty(b2nd_context_t* ctx, b2nd_array_t** array) {
  return cairn::blosc2_api::Create(ctx, BLOSC2_SPECIAL_ZERO, array);
}

int b2nd_zeros(b2nd_context_t* ctx, b2nd_array_t** array) {
  return cairn::blosc2_api::Create(ctx, BLOSC2_SPECIAL_ZERO, array);
}

int b2nd_nans(b2nd_context_t* ctx, b2nd_array_t** array) {
  const int code = cairn::blosc2_api::Create(ctx, BLOSC2_SPECIAL_NAN, array);
  if (code < 0) return code;
  const int32_t typesize = (*array)->sc->typesize;
  if (typesize == 4 || typesize == 8) return BLOSC2_ERROR_SUCCESS;
  return Failed(BLOSC2_ERROR_DATA, "array: NaNs need 4 or 8 bytes");
}

int b2nd_full(b2nd_context_t* ctx, b2nd_array_t** array, const void* fill_value) {
  const int code = b2nd_empty(ctx, array);
  return code < 0 ? code : cairn::blosc2_api::FillWith(**array, fill_value);
}

int b2nd_free(b2nd_array_t* array) {
  if (array == nullptr) return Failed(BLOSC2_ERROR_NULL_POINTER, "array: there is none");
  if (array->sc != nullptr) blosc2_schunk_free(array->sc);
  std::free(array->dtype);
  std::free(array);
  return BLOSC2_ERROR_SUCCESS;
}

int b2nd_from_schunk(blosc2_schunk* schunk, b2nd_array_t** array) {
  if (schunk == nullptr || array == nullptr) {
    return Failed(BLOSC2_ERROR_NULL_POINTER, "array: there is no super-chunk");
  }
  int layer = blosc2_meta_exists(schunk, "b2nd");
  if (layer < 0) layer = blosc2_meta_exists(schunk, "caterva");
  if (layer < 0) return Failed(BLOSC2_ERROR_METALAYER_NOT_FOUND, "array: no metalayer b2nd");
  b2nd_context_t context;
  char* dtype = nullptr;
  const blosc2_metalayer& meta = *schunk->metalayers[layer];
  const int code = b2nd_deserialize_meta(meta.content, meta.content_len, &context.ndim,
                                         context.shape.data(), context.chunkshape.data(),
                                         context.blockshape.data(), &dtype, &context.dtype_format);
  if (dtype != nullptr) context.dtype = dtype;
  const bool has_dtype = dtype != nullptr;
  std::free(dtype);
  if (code < 0) return code;
  for (size_t i = 0; i < static_cast<size_t>(context.ndim); ++i) {
    if (context.shape[i] != 0 && (context.chunkshape[i] == 0 || context.blockshape[i] == 0)) {
      return Failed(BLOSC2_ERROR_INVALID_PARAM, "array: items without chunks or blocks");
    }
  }
  ArrayPtr made = cairn::blosc2_api::MakeArray(context);
  if (made == nullptr) return BLOSC2_ERROR_INVALID_PARAM;
  if (!has_dtype) {
    std::free(made->dtype);
    made->dtype = nullptr;
  }
  made->sc = schunk;
  cairn::blosc2_api::LastTick(*made) = cairn::blosc2_api::ChangeTick(*schunk);
  *array = made.release();
  return BLOSC2_ERROR_SUCCESS;
}

int b2nd_from_cframe(uint8_t* cframe, int64_t cframe_len, bool copy, b2nd_array_t** array) {
  if (cframe == nullptr || array == nullptr) {
    return Failed(BLOSC2_ERROR_NULL_POINTER, "array: there is no frame");
  }
  return cairn::blosc2_api::FromOpen(blosc2_schunk_from_buffer(cframe, cframe_len, copy), array);
}

int b2nd_open(const char* urlpath, b2nd_array_t** array) {
  return b2nd_open_offset(urlpath, array, 0);
}

int b2nd_open_offset(const char* urlpath, b2nd_array_t** array, int64_t offset) {
  if (urlpath == nullptr || array == nullptr) {
    return Failed(BLOSC2_ERROR_NULL_POINTER, "array: there is no path");
  }
  return cairn::blosc2_api::FromOpen(blosc2_schunk_open_offset(urlpath, offset), array);
}

int b2nd_to_cframe(const b2nd_array_t* array, uint8_t** cframe, int64_t* cframe_len,
                   bool* needs_free) {
  if (array == nullptr || cframe == nullptr || cframe_len == nullptr || needs_free == nullptr) {
    return Failed(BLOSC2_ERROR_NULL_POINTER, "array: there is nothing to copy to");
  }
  *cframe_len = blosc2_schunk_to_buffer(array->sc, cframe, needs_free);
  return *cframe_len > 0 ? int{BLOSC2_ERROR_SUCCESS} : int{BLOSC2_ERROR_FAILURE};
}

int64_t b2nd_save_append(const b2nd_array_t* array, const char* urlpath) {
  return blosc2_schunk_append_file(array->sc, urlpath);
}
