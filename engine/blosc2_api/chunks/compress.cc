// Makes chunks with a context.
#include <span>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/chunk.h"
#include "engine/blosc2_api/chunks/coders.h"
#include "engine/blosc2_api/chunks/context.h"
#include "engine/blosc2_api/process/api.h"
#include "engine/blosc2_api/process/codes.h"

namespace cairn::blosc2_api {

namespace {

// Returns the size of a chunk as C-Blosc2 does: 0 if there is too little room for it.
int SizeOrCode(const absl::StatusOr<size_t>& size) {
  if (size.ok()) return static_cast<int>(*size);
  return absl::IsResourceExhausted(size.status()) ? 0 : CodeOf(size.status());
}

// Makes the flags of a chunk that was never meant to be coded those that C-Blosc2 writes, which
// name no codec.
void ForgetCodec(uint8_t* chunk) {
  constexpr uint8_t kStored = BLOSC_DOSHUFFLE | BLOSC_MEMCPYED | BLOSC_DOBITSHUFFLE;
  chunk[BLOSC2_CHUNK_FLAGS] = kStored;
}

}  // namespace

}  // namespace cairn::blosc2_api

using cairn::blosc2_api::BytesAt;
using cairn::blosc2_api::CodeOf;
using cairn::blosc2_api::Failed;
using cairn::blosc2_api::MutableBytesAt;

int blosc2_compress_ctx(blosc2_context* context, const void* src, int32_t srcsize, void* dest,
                        int32_t destsize) {
  if (!context->compresses) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "compress: the context is not for compression");
  }
  if (srcsize < 0) return Failed(BLOSC2_ERROR_INVALID_PARAM, "compress: a negative size");
  const int checked =
      cairn::blosc2_api::CheckCompression(context->cparams, srcsize, destsize, true);
  if (checked < 0) return checked;
  const auto compressor = cairn::blosc2_api::CompressorOf(*context);
  if (!compressor.ok()) return CodeOf(compressor.status());
  const int size = cairn::blosc2_api::SizeOrCode(
      (*compressor)->Compress(BytesAt(src, srcsize), MutableBytesAt(dest, destsize)));
  const bool stored = context->cparams.clevel == 0 || srcsize < BLOSC_MIN_BUFFERSIZE;
  if (size > 0 && stored) cairn::blosc2_api::ForgetCodec(static_cast<uint8_t*>(dest));
  return size;
}

int blosc2_vlcompress_ctx(blosc2_context* context, const void* const* srcs, const int32_t* srcsizes,
                          int32_t nblocks, void* dest, int32_t destsize) {
  if (!context->compresses || srcs == nullptr || srcsizes == nullptr || nblocks <= 0) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "compress: no blocks, or the wrong context");
  }
  int64_t nbytes = 0;
  std::vector<cairn::Bytes> blocks;
  for (int32_t i = 0; i < nblocks; ++i) {
    if (srcs[i] == nullptr || srcsizes[i] <= 0) {
      return Failed(BLOSC2_ERROR_INVALID_PARAM, "compress: a block is empty");
    }
    blocks.push_back(BytesAt(srcs[i], srcsizes[i]));
    nbytes += srcsizes[i];
  }
  const int checked = cairn::blosc2_api::CheckCompression(context->cparams, nbytes, destsize, true);
  if (checked < 0) return checked;
  return cairn::blosc2_api::SizeOrCode(cairn::CompressVlBlocks(
      blocks, cairn::blosc2_api::OptionsOf(*context), MutableBytesAt(dest, destsize)));
}
