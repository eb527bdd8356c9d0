#include "engine/blosc2_api/chunks/context.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>

#include "engine/blosc2_api/process/codes.h"
#include "engine/blosc2_api/process/environment.h"

namespace {

// Returns true for the ids that neither the format nor programs may use.
bool IsUndefinedFilter(uint8_t id) {
  return (id >= BLOSC_LAST_FILTER && id <= BLOSC2_DEFINED_FILTERS_STOP) ||
         (id > BLOSC_LAST_REGISTERED_FILTER && id <= BLOSC2_GLOBAL_REGISTERED_FILTERS_STOP);
}

}  // namespace

blosc2_context* blosc2_create_cctx(blosc2_cparams cparams) {
  namespace api = cairn::blosc2_api;
  if (std::ranges::any_of(cparams.filters, IsUndefinedFilter)) {
    api::Failed(BLOSC2_ERROR_FILTER_PIPELINE, "context: a filter is not defined");
    return nullptr;
  }
  if (cparams.tuner_id > 0) {
    api::Failed(BLOSC2_ERROR_TUNER, "context: tuners are not built in");
    return nullptr;
  }
  cparams.typesize = api::TypesizeOfEnvironment().value_or(cparams.typesize);
  api::PlaceFilters(api::ShuffleOfEnvironment().value_or(-1),
                    api::DeltaOfEnvironment().value_or(false), cparams.typesize, cparams.filters);
  cparams.clevel = static_cast<uint8_t>(api::ClevelOfEnvironment().value_or(cparams.clevel));
  if (const char* const name = api::CompressorOfEnvironment(); name != nullptr) {
    const int codec = blosc2_compname_to_compcode(name);
    if (codec >= BLOSC_LAST_CODEC) {
      api::Failed(BLOSC2_ERROR_CODEC_SUPPORT, "BLOSC_COMPRESSOR: a codec of the program's own");
      return nullptr;
    }
    cparams.compcode = static_cast<uint8_t>(codec);
  }
  cparams.blocksize = api::BlocksizeOfEnvironment().value_or(cparams.blocksize);
  cparams.nthreads = api::NthreadsOfEnvironment().value_or(cparams.nthreads);
  cparams.splitmode = api::SplitmodeOfEnvironment().value_or(cparams.splitmode);
  auto context = std::make_unique<blosc2_context>();
  context->compresses = true;
  context->cparams = cparams;
  if (cparams.prefilter != nullptr) {
    if (cparams.preparams != nullptr) context->preparams = *cparams.preparams;
    context->cparams.preparams = &context->preparams;
  }
  return context.release();
}

blosc2_context* blosc2_create_dctx(blosc2_dparams dparams) {
  dparams.nthreads = cairn::blosc2_api::NthreadsOfEnvironment().value_or(dparams.nthreads);
  auto context = std::make_unique<blosc2_context>();
  context->dparams = dparams;
  if (dparams.postfilter != nullptr) {
    if (dparams.postparams != nullptr) context->postparams = *dparams.postparams;
    context->dparams.postparams = &context->postparams;
  }
  return context.release();
}

void blosc2_free_ctx(blosc2_context* context) { delete context; }

int blosc2_ctx_get_cparams(blosc2_context* ctx, blosc2_cparams* cparams) {
  // The parameters of the tuner and of the filters stay as the caller has them.
  void* const tuner_params = cparams->tuner_params;
  std::array<void*, BLOSC2_MAX_FILTERS> filter_params{};
  std::ranges::copy(cparams->filter_params, filter_params.begin());
  *cparams = ctx->cparams;
  cparams->tuner_params = tuner_params;
  std::ranges::copy(filter_params, cparams->filter_params);
  return BLOSC2_ERROR_SUCCESS;
}

int blosc2_ctx_get_dparams(blosc2_context* ctx, blosc2_dparams* dparams) {
  *dparams = ctx->dparams;
  return BLOSC2_ERROR_SUCCESS;
}

int blosc2_set_maskout(blosc2_context* ctx, bool* maskout, int nblocks) {
  if (nblocks < 0) {
    return cairn::blosc2_api::Failed(BLOSC2_ERROR_INVALID_PARAM, "mask: a negative size");
  }
  const std::span<const bool> mask(maskout, static_cast<size_t>(nblocks));
  ctx->masked_blocks.assign(mask.begin(), mask.end());
  return BLOSC2_ERROR_SUCCESS;
}

blosc2_cparams blosc2_get_blosc2_cparams_defaults() { return BLOSC2_CPARAMS_DEFAULTS; }
blosc2_dparams blosc2_get_blosc2_dparams_defaults() { return BLOSC2_DPARAMS_DEFAULTS; }
blosc2_storage blosc2_get_blosc2_storage_defaults() { return BLOSC2_STORAGE_DEFAULTS; }
blosc2_stdio_mmap blosc2_get_blosc2_stdio_mmap_defaults() { return BLOSC2_STDIO_MMAP_DEFAULTS; }
blosc2_io blosc2_get_blosc2_io_defaults() { return BLOSC2_IO_DEFAULTS; }
