// Makes chunks with a context.
#include <algorithm>
#include <cstddef>
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

// Makes a chunk of zeros as a codec of n-dimensional arrays writes it, which needs no shape for
// that. python-blosc2 makes one to learn the blocksize.
absl::StatusOr<size_t> CompressZeros(blosc2_context& context, Bytes src, MutableBytes dst) {
  constexpr int kUserCodec = 6 << 5;  // in the flags; the codec itself is in byte kCodecAt
  constexpr int kDontSplit = 0x10;
  constexpr size_t kCodecAt = 0x16;  // before its parameter
  CompressionOptions options = OptionsOf(context);
  options.codec = Codec::kLz4;  // C-Blosc2 chooses the blocksize as for this one
  options.split_mode = SplitMode::kNever;
  options.blocksize = context.cparams.blocksize;
  absl::StatusOr<size_t> size = CompressChunk(src, options, dst);
  if (!size.ok()) return size;
  constexpr int kKept = BLOSC_DOSHUFFLE | BLOSC_DOBITSHUFFLE;
  dst[BLOSC2_CHUNK_FLAGS] &= std::byte{kKept};
  dst[BLOSC2_CHUNK_FLAGS] |= std::byte{kUserCodec | kDontSplit};
  dst[kCodecAt] = std::byte{context.cparams.compcode};
  dst[kCodecAt + 1] = std::byte{context.cparams.compcode_meta};
  return size;
}

bool AreZeros(Bytes bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
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
  if (context->cparams.use_dict != 0 &&
      !cairn::blosc2_api::TakesDictionary(context->cparams.compcode)) {
    return Failed(BLOSC2_ERROR_CODEC_PARAM, "compress: the codec takes no dictionary");
  }
  const cairn::Bytes bytes = BytesAt(src, srcsize);
  const bool lacks_shape = cairn::blosc2_api::IsZfpOrNdlz(context->cparams.compcode) &&
                           context->schunk() == nullptr && context->cparams.clevel > 0;
  if (lacks_shape && cairn::blosc2_api::AreZeros(bytes)) {
    return cairn::blosc2_api::SizeOrCode(
        cairn::blosc2_api::CompressZeros(*context, bytes, MutableBytesAt(dest, destsize)));
  }
  const auto compressor = cairn::blosc2_api::CompressorOf(*context);
  if (!compressor.ok()) return CodeOf(compressor.status());
  const int size =
      cairn::blosc2_api::SizeOrCode((*compressor)->Compress(bytes, MutableBytesAt(dest, destsize)));
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
