#include "engine/blosc2_api/chunks/coders.h"

#include <algorithm>

#include "engine/base/status.h"
#include "engine/blosc2_api/chunks/array_shape.h"
#include "engine/blosc2_api/chunks/block_filters.h"
#include "engine/blosc2_api/process/codes.h"
#include "engine/blosc2_api/process/plugins.h"
#include "engine/blosc2_api/process/process_state.h"

namespace cairn::blosc2_api {

namespace {

SplitMode SplitModeOf(int32_t mode) {
  return mode >= BLOSC_ALWAYS_SPLIT && mode <= BLOSC_FORWARD_COMPAT_SPLIT
             ? static_cast<SplitMode>(mode)
             : SplitMode::kForwardCompat;
}

}  // namespace

bool TakesDictionary(uint8_t codec) {
  return codec == BLOSC_ZSTD || codec == BLOSC_LZ4 || codec == BLOSC_LZ4HC;
}

bool IsZfpOrNdlz(uint8_t codec) {
  return codec >= BLOSC_CODEC_NDLZ && codec <= BLOSC_CODEC_ZFP_FIXED_RATE;
}

bool NeedsShape(uint8_t codec, std::span<const uint8_t> filters) {
  return IsZfpOrNdlz(codec) || std::ranges::any_of(filters, [](uint8_t id) {
           return NeedsBlockshape(static_cast<Filter>(id));
         });
}

CompressionOptions OptionsOf(blosc2_context& context) {
  const blosc2_cparams& cparams = context.cparams;
  CompressionOptions options;
  options.codec = static_cast<Codec>(cparams.compcode);
  options.clevel = cparams.clevel;
  options.typesize = cparams.typesize;
  options.blocksize = cparams.blocksize;
  options.split_mode = SplitModeOf(cparams.splitmode);
  options.filters.clear();
  for (size_t i = 0; i < BLOSC2_MAX_FILTERS; ++i) {
    options.filters.push_back(
        {.filter = static_cast<Filter>(cparams.filters[i]), .meta = cparams.filters_meta[i]});
  }
  options.codec_meta = cparams.compcode_meta;
  options.use_dict =
      cparams.use_dict != 0 && cparams.clevel > 0 && TakesDictionary(cparams.compcode);
  if (NeedsShape(cparams.compcode, cparams.filters)) {
    options.blockshape = BlockshapeOf(context.schunk());
    options.blocksize = 0;
  }
  options.registry = PluginsFor(context, cparams.compcode, cparams.filters);
  options.before_filters = PrefilterOf(context);
  options.executor = ProcessState::Get().ExecutorOf(cparams.nthreads);
  return options;
}

int CheckCompression(const blosc2_cparams& cparams, int64_t srcsize, int64_t destsize, bool codes) {
  if (srcsize > BLOSC2_MAX_BUFFERSIZE) {
    return Failed(BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED, "compress: too many bytes for a chunk");
  }
  if (destsize < BLOSC2_MAX_OVERHEAD) {
    return Failed(BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED, "compress: room for fewer than 32 bytes");
  }
  if (cparams.clevel > 9) return Failed(BLOSC2_ERROR_CODEC_PARAM, "compress: clevel is above 9");
  if (cparams.typesize <= 0 || cparams.typesize > BLOSC2_MAXTYPESIZE) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "compress: typesize is out of range");
  }
  if (codes && cparams.instr_codec) {
    return Failed(BLOSC2_ERROR_CODEC_SUPPORT, "compress: instrumented codecs are not built in");
  }
  return BLOSC2_ERROR_SUCCESS;
}

absl::StatusOr<const ChunkCompressor*> CompressorOf(blosc2_context& context) {
  const MutexLock lock(context.mutex);
  if (!context.compressor.has_value()) {
    CAIRN_ASSIGN_OR_RETURN(context.compressor, ChunkCompressor::Make(OptionsOf(context)));
  }
  return &*context.compressor;
}

std::shared_ptr<const ChunkDecompressor> DecompressorOf(blosc2_context& context,
                                                        const ChunkHead& head, int64_t nchunk) {
  const std::shared_ptr<const Registry> plugins = PluginsFor(context, head.codec, head.filters);
  const bool needs_shape = head.extended && NeedsShape(head.codec, head.filters);
  const blosc2_schunk* const schunk = context.schunk();
  const int32_t typesize = schunk != nullptr ? schunk->typesize : 0;
  const bool is_long = typesize > BLOSC_MAX_TYPESIZE;  // which the chunk does not store
  const bool common =
      plugins == nullptr && !needs_shape && !is_long && context.dparams.postfilter == nullptr;
  const MutexLock lock(context.mutex);
  if (common && context.decompressor != nullptr) return context.decompressor;
  DecompressionOptions options;
  options.registry = plugins;
  if (needs_shape) options.blockshape = BlockshapeOf(schunk);
  if (is_long) options.typesize = typesize;
  options.after_filters = PostfilterOf(context, nchunk);
  options.executor = ProcessState::Get().ExecutorOf(context.dparams.nthreads);
  auto made = std::make_shared<const ChunkDecompressor>(options);
  if (common) context.decompressor = made;
  return made;
}

}  // namespace cairn::blosc2_api
