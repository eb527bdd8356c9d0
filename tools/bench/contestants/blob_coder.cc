#ifdef CAIRN_HAVE_BLOSC2
#include <blosc2.h>
#endif

#include <algorithm>
#include <vector>

#include "cairn/chunk.h"
#include "tools/bench/contestants/blosc2_params.h"
#include "tools/bench/contestants/stores.h"
#include "tools/status.h"

namespace cairn::bench {

#ifdef CAIRN_HAVE_BLOSC2

struct BlobCoder::Impl {
  blosc2_context* coder;
  blosc2_context* decoder;
  std::vector<std::byte> blob;
};

BlobCoder::BlobCoder(const CompressionOptions& options, int32_t chunksize)
    : impl_(new Impl{
          .coder = blosc2_create_cctx(CparamsOf(options)),
          .decoder = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS),
          .blob = std::vector<std::byte>(static_cast<size_t>(chunksize) + BLOSC2_MAX_OVERHEAD)}) {}

BlobCoder::~BlobCoder() {
  blosc2_free_ctx(impl_->coder);
  blosc2_free_ctx(impl_->decoder);
}

absl::StatusOr<Bytes> BlobCoder::Compress(Bytes raw) {
  const int size =
      blosc2_compress_ctx(impl_->coder, raw.data(), static_cast<int32_t>(raw.size()),
                          impl_->blob.data(), static_cast<int32_t>(impl_->blob.size()));
  if (size <= 0) return absl::InternalError("C-Blosc2 cannot compress");
  return Bytes(impl_->blob).first(static_cast<size_t>(size));
}

absl::Status BlobCoder::Decompress(Bytes blob, MutableBytes raw) {
  const int size =
      blosc2_decompress_ctx(impl_->decoder, blob.data(), static_cast<int32_t>(blob.size()),
                            raw.data(), static_cast<int32_t>(raw.size()));
  return size == std::ssize(raw) ? absl::OkStatus()
                                 : absl::InternalError("C-Blosc2 cannot decompress");
}

#else

struct BlobCoder::Impl {
  CompressionOptions options;
  std::vector<std::byte> blob;
};

BlobCoder::BlobCoder(const CompressionOptions& options, int32_t chunksize)
    : impl_(new Impl{
          .options = options,
          .blob = std::vector<std::byte>(MaxCompressedSize(static_cast<size_t>(chunksize)))}) {}

BlobCoder::~BlobCoder() = default;

absl::StatusOr<Bytes> BlobCoder::Compress(Bytes raw) {
  ASSIGN_OR_RETURN(const size_t size, CompressChunk(raw, impl_->options, impl_->blob));
  return Bytes(impl_->blob).first(size);
}

absl::Status BlobCoder::Decompress(Bytes blob, MutableBytes raw) {
  return DecompressChunk(blob, raw);
}

#endif

}  // namespace cairn::bench
