// Arrays that show the chunks of another one with other dimensions.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "engine/blosc2_api/arrays/b2nd_context.h"
#include "engine/blosc2_api/process/api.h"
#include "engine/blosc2_api/process/codes.h"
#include "engine/blosc2_api/schunks/schunk.h"

namespace cairn::blosc2_api {

namespace {

// The dimensions of a view.
struct Dimensions {
  int8_t count = 0;
  std::array<int64_t, B2ND_MAX_DIM> shape{};
  std::array<int32_t, B2ND_MAX_DIM> chunkshape{};
  std::array<int32_t, B2ND_MAX_DIM> blockshape{};

  void Add(int64_t extent, int32_t chunk, int32_t block) {
    const auto i = static_cast<size_t>(count++);
    shape[i] = extent;
    chunkshape[i] = chunk;
    blockshape[i] = block;
  }
};

// Returns true if nothing but the shape depends on the dimensions.
bool MayBeViewed(const b2nd_array_t& array) {
  const blosc2_schunk& schunk = *array.sc;
  for (int i = 0; i < schunk.nmetalayers; ++i) {
    if (std::string_view(schunk.metalayers[i]->name) != "b2nd") return false;
  }
  return true;
}

// Makes a super-chunk that shares the chunks and the vlmetalayers of another one, which must
// outlive it.
SchunkPtr ViewOf(blosc2_schunk& schunk) {
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  blosc2_cparams cparams = *schunk.storage->cparams;
  blosc2_dparams dparams = *schunk.storage->dparams;
  storage.cparams = &cparams;
  storage.dparams = &dparams;
  SchunkPtr view = MakeSchunk(storage);
  if (view == nullptr) return nullptr;
  view->view = true;
  MemoryOf(*view).viewed = &OwnerOf(schunk);
  view->chunksize = schunk.chunksize;
  view->blocksize = schunk.blocksize;
  Flags2(*view) = Flags2(schunk);
  view->nchunks = schunk.nchunks;
  view->nbytes = schunk.nbytes;
  view->cbytes = schunk.cbytes;
  view->frame = schunk.frame;
  ShareContent(*view);
  return view;
}

int MakeView(const b2nd_array_t& array, const Dimensions& dimensions, b2nd_array_t** view) {
  b2nd_context_t context;
  context.ndim = dimensions.count;
  context.shape = dimensions.shape;
  context.chunkshape = dimensions.chunkshape;
  context.blockshape = dimensions.blockshape;
  context.dtype = array.dtype != nullptr ? array.dtype : "";
  context.dtype_format = array.dtype_format;
  ArrayPtr made = MakeArray(context);
  if (made == nullptr) return BLOSC2_ERROR_INVALID_PARAM;
  SchunkPtr schunk = ViewOf(*array.sc);
  if (schunk == nullptr) return BLOSC2_ERROR_FAILURE;
  // The metalayer is the view's own, and no store may see it.
  blosc2_frame* const frame = std::exchange(schunk->frame, nullptr);
  made->sc = schunk.release();
  const int code = PublishShape(*made);
  made->sc->frame = frame;
  if (code < 0) return code;
  *view = made.release();
  return BLOSC2_ERROR_SUCCESS;
}

}  // namespace

}  // namespace cairn::blosc2_api

using cairn::blosc2_api::Dimensions;
using cairn::blosc2_api::Failed;

int b2nd_squeeze_index(b2nd_array_t* array, b2nd_array_t** view, const bool* index) {
  if (array == nullptr || view == nullptr || index == nullptr) {
    return Failed(BLOSC2_ERROR_NULL_POINTER, "squeeze: there is no array");
  }
  const int refreshed = b2nd_refresh(array);
  if (refreshed < 0) return refreshed;
  if (!cairn::blosc2_api::MayBeViewed(*array)) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "squeeze: the array has metalayers of its own");
  }
  Dimensions dimensions;
  for (int i = 0; i < array->ndim; ++i) {
    if (!index[i]) {
      dimensions.Add(array->shape[i], array->chunkshape[i], array->blockshape[i]);
    } else if (array->shape[i] != 1) {
      return Failed(BLOSC2_ERROR_INVALID_INDEX, "squeeze: a dimension has more than one item");
    }
  }
  return cairn::blosc2_api::MakeView(*array, dimensions, view);
}

int b2nd_squeeze(b2nd_array_t* array, b2nd_array_t** view) {
  if (array == nullptr) return Failed(BLOSC2_ERROR_NULL_POINTER, "squeeze: there is no array");
  std::array<bool, B2ND_MAX_DIM> index{};
  for (int i = 0; i < array->ndim; ++i) index[static_cast<size_t>(i)] = array->shape[i] == 1;
  return b2nd_squeeze_index(array, view, index.data());
}

int b2nd_expand_dims(const b2nd_array_t* array, b2nd_array_t** view, const bool* axis,
                     uint8_t final_dims) {
  if (array == nullptr || view == nullptr || axis == nullptr) {
    return Failed(BLOSC2_ERROR_NULL_POINTER, "expand: there is no array");
  }
  // An array that others have grown takes their shape, as in every call that reads it.
  const int refreshed = b2nd_refresh(const_cast<b2nd_array_t*>(array));
  if (refreshed < 0) return refreshed;
  if (final_dims > B2ND_MAX_DIM || !cairn::blosc2_api::MayBeViewed(*array)) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "expand: too many dimensions, or metalayers");
  }
  Dimensions dimensions;
  int next = 0;
  for (int i = 0; i < final_dims; ++i) {
    if (axis[i]) {
      dimensions.Add(1, 1, 1);
    } else if (next < array->ndim) {
      dimensions.Add(array->shape[next], array->chunkshape[next], array->blockshape[next]);
      ++next;
    } else {
      return Failed(BLOSC2_ERROR_INVALID_PARAM, "expand: the array has fewer dimensions");
    }
  }
  return cairn::blosc2_api::MakeView(*array, dimensions, view);
}
