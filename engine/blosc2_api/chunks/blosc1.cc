// Calls without a context, whose parameters belong to the process.
#include <memory>

#include "cairn/chunk.h"
#include "engine/blosc2_api/chunks/coders.h"
#include "engine/blosc2_api/chunks/context.h"
#include "engine/blosc2_api/chunks/decompress.h"
#include "engine/blosc2_api/process/api.h"
#include "engine/blosc2_api/process/codes.h"
#include "engine/blosc2_api/process/environment.h"
#include "engine/blosc2_api/process/process_state.h"

namespace cairn::blosc2_api {

namespace {

struct FreeContext {
  void operator()(blosc2_context* context) const { blosc2_free_ctx(context); }
};
using ContextPtr = std::unique_ptr<blosc2_context, FreeContext>;

// Changes one of the parameters of the process.
template <typename Change>
void ChangeParams(const Change& change) {
  GlobalParams params = ProcessState::Get().params();
  change(params);
  ProcessState::Get().set_params(params);
}

// Makes the variables that stand for calls those calls.
void ApplyEnvironment() {
  if (const auto delta = DeltaOfEnvironment(); delta.has_value()) blosc2_set_delta(*delta ? 1 : 0);
  if (const char* const name = CompressorOfEnvironment(); name != nullptr) {
    blosc1_set_compressor(name);
  }
  if (const auto size = BlocksizeOfEnvironment(); size.has_value()) {
    blosc1_set_blocksize(static_cast<size_t>(*size));
  }
  if (const auto threads = NthreadsOfEnvironment(); threads.has_value()) {
    blosc2_set_nthreads(*threads);
  }
  if (const auto mode = SplitmodeOfEnvironment(); mode.has_value()) blosc1_set_splitmode(*mode);
}

// Makes a chunk that C-Blosc 1 reads, which has no delta.
int CompressBlosc1(blosc2_context& context, Bytes src, MutableBytes dst) {
  CompressionOptions options = OptionsOf(context);
  options.format = ChunkFormat::kBlosc1;
  std::erase_if(options.filters,
                [](const FilterStage& stage) { return stage.filter == Filter::kDelta; });
  const absl::StatusOr<size_t> size = CompressChunk(src, options, dst);
  if (size.ok()) return static_cast<int>(*size);
  return absl::IsResourceExhausted(size.status()) ? 0 : CodeOf(size.status());
}

ContextPtr GlobalDecompression() {
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  dparams.nthreads = ProcessState::Get().params().nthreads;
  return ContextPtr(blosc2_create_dctx(dparams));
}

}  // namespace

}  // namespace cairn::blosc2_api

using cairn::blosc2_api::BytesAt;
using cairn::blosc2_api::ChangeParams;
using cairn::blosc2_api::ContextPtr;
using cairn::blosc2_api::Failed;
using cairn::blosc2_api::GlobalParams;
using cairn::blosc2_api::MutableBytesAt;
using cairn::blosc2_api::ProcessState;

void blosc2_init() { ProcessState::Get().Initialize(); }
void blosc2_destroy() { ProcessState::Get().Finish(); }

void blosc2_set_threads_callback(blosc_threads_callback callback, void* callback_data) {
  ProcessState::Get().set_threads_callback({.run = callback, .data = callback_data});
}

int blosc2_free_resources() {
  return ProcessState::Get().initialized() ? BLOSC2_ERROR_SUCCESS : BLOSC2_ERROR_FAILURE;
}

int blosc2_compress(int clevel, int doshuffle, int32_t typesize, const void* src, int32_t srcsize,
                    void* dest, int32_t destsize) {
  namespace api = cairn::blosc2_api;
  blosc2_init();
  clevel = api::ClevelOfEnvironment().value_or(clevel);
  doshuffle = api::ShuffleOfEnvironment().value_or(doshuffle);
  typesize = api::TypesizeOfEnvironment().value_or(typesize);
  api::ApplyEnvironment();
  if (clevel < 0 || clevel > 9) {
    return Failed(BLOSC2_ERROR_CODEC_PARAM, "compress: clevel is not 0 to 9");
  }
  const GlobalParams params = ProcessState::Get().params();
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.filters[BLOSC2_MAX_FILTERS - 1] = BLOSC_NOFILTER;
  api::PlaceFilters(doshuffle, params.delta != 0, typesize, cparams.filters);
  cparams.typesize = typesize;
  cparams.compcode = static_cast<uint8_t>(params.codec);
  cparams.clevel = static_cast<uint8_t>(clevel);
  cparams.blocksize = params.blocksize;
  cparams.nthreads = params.nthreads;
  cparams.splitmode = params.splitmode;
  const ContextPtr context(blosc2_create_cctx(cparams));
  if (context == nullptr) return Failed(BLOSC2_ERROR_NULL_POINTER, "compress: wrong parameters");
  if (!api::WantsBlosc1()) {
    return blosc2_compress_ctx(context.get(), src, srcsize, dest, destsize);
  }
  const int checked = api::CheckCompression(context->cparams, srcsize, destsize, true);
  if (checked < 0 || srcsize < 0) return checked < 0 ? checked : BLOSC2_ERROR_INVALID_PARAM;
  return api::CompressBlosc1(*context, BytesAt(src, srcsize), MutableBytesAt(dest, destsize));
}

int blosc1_compress(int clevel, int doshuffle, size_t typesize, size_t nbytes, const void* src,
                    void* dest, size_t destsize) {
  return blosc2_compress(clevel, doshuffle, static_cast<int32_t>(typesize), src,
                         static_cast<int32_t>(nbytes), dest, static_cast<int32_t>(destsize));
}

int blosc2_decompress(const void* src, int32_t srcsize, void* dest, int32_t destsize) {
  blosc2_init();
  if (cairn::blosc2_api::NthreadsIsSet()) {
    const auto nthreads = cairn::blosc2_api::NthreadsOfEnvironment();
    if (!nthreads.has_value()) {
      return Failed(BLOSC2_ERROR_INVALID_PARAM, "BLOSC_NTHREADS: expected 1 to 32767");
    }
    const int code = blosc2_set_nthreads(*nthreads);
    if (code < 0) return code;
  }
  return cairn::blosc2_api::Decompress(*cairn::blosc2_api::GlobalDecompression(), src, srcsize,
                                       dest, destsize, {});
}

int blosc1_decompress(const void* src, void* dest, size_t destsize) {
  return blosc2_decompress(src, INT32_MAX, dest, static_cast<int32_t>(destsize));
}

int blosc2_getitem(const void* src, int32_t srcsize, int start, int nitems, void* dest,
                   int32_t destsize) {
  const ContextPtr context(blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS));
  return cairn::blosc2_api::GetItems(*context, src, srcsize, start, nitems, dest, destsize);
}

int blosc1_getitem(const void* src, int start, int nitems, void* dest) {
  return blosc2_getitem(src, INT32_MAX, start, nitems, dest, INT32_MAX);
}

int16_t blosc2_get_nthreads() {
  blosc2_init();
  return ProcessState::Get().params().nthreads;
}

int16_t blosc2_set_nthreads(int16_t nthreads) {
  blosc2_init();
  const int16_t before = ProcessState::Get().params().nthreads;
  if (nthreads <= 0) {
    return static_cast<int16_t>(Failed(BLOSC2_ERROR_INVALID_PARAM, "threads: expected 1 or more"));
  }
  ChangeParams([&](GlobalParams& params) { params.nthreads = nthreads; });
  return before;
}

const char* blosc1_get_compressor() {
  blosc2_init();
  const char* name = nullptr;
  blosc2_compcode_to_compname(ProcessState::Get().params().codec, &name);
  return name;
}

int blosc1_set_compressor(const char* compname) {
  const int codec = blosc2_compname_to_compcode(compname);
  if (codec >= BLOSC_LAST_CODEC) {
    return Failed(BLOSC2_ERROR_CODEC_SUPPORT, "compressor: not one of the library's own");
  }
  blosc2_init();
  ChangeParams([&](GlobalParams& params) { params.codec = codec; });
  return codec;
}

void blosc2_set_delta(int dodelta) {
  blosc2_init();
  ChangeParams([&](GlobalParams& params) { params.delta = dodelta; });
}

int blosc1_get_blocksize() {
  blosc2_init();
  return ProcessState::Get().params().blocksize;
}

void blosc1_set_blocksize(size_t blocksize) {
  blosc2_init();
  ChangeParams([&](GlobalParams& params) { params.blocksize = static_cast<int32_t>(blocksize); });
}

void blosc1_set_splitmode(int splitmode) {
  blosc2_init();
  ChangeParams([&](GlobalParams& params) { params.splitmode = splitmode; });
}
