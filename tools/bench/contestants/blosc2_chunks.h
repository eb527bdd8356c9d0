// Uses C-Blosc2 as a coder of single chunks.
#ifndef CAIRN_TOOLS_BENCH_CONTESTANTS_BLOSC2_CHUNKS_H_
#define CAIRN_TOOLS_BENCH_CONTESTANTS_BLOSC2_CHUNKS_H_

#ifdef CAIRN_HAVE_BLOSC2

#include <blosc2.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "tools/bench/contestants/blosc2_params.h"

namespace cairn::bench {

// Not thread-safe. Keeps its contexts.
class Blosc2Chunks {
 public:
  Blosc2Chunks(const CompressionOptions& options, int threads) {
    blosc2_cparams cparams = CparamsOf(options);
    cparams.nthreads = static_cast<int16_t>(threads);
    blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
    dparams.nthreads = static_cast<int16_t>(threads);
    encoder_ = blosc2_create_cctx(cparams);
    decoder_ = blosc2_create_dctx(dparams);
  }
  ~Blosc2Chunks() {
    blosc2_free_ctx(encoder_);
    blosc2_free_ctx(decoder_);
  }
  Blosc2Chunks(const Blosc2Chunks&) = delete;
  Blosc2Chunks& operator=(const Blosc2Chunks&) = delete;

  absl::StatusOr<size_t> Compress(Bytes raw, MutableBytes dst) {
    const int size = blosc2_compress_ctx(encoder_, raw.data(), static_cast<int32_t>(raw.size()),
                                         dst.data(), static_cast<int32_t>(dst.size()));
    if (size <= 0) return absl::InternalError("C-Blosc2 does not compress");
    return static_cast<size_t>(size);
  }
  absl::Status Decompress(Bytes chunk, MutableBytes raw) {
    const int size =
        blosc2_decompress_ctx(decoder_, chunk.data(), static_cast<int32_t>(chunk.size()),
                              raw.data(), static_cast<int32_t>(raw.size()));
    return size == static_cast<int>(raw.size())
               ? absl::OkStatus()
               : absl::InternalError("C-Blosc2 does not decompress");
  }

 private:
  blosc2_context* encoder_;
  blosc2_context* decoder_;
};

}  // namespace cairn::bench

#endif  // CAIRN_HAVE_BLOSC2

#endif  // CAIRN_TOOLS_BENCH_CONTESTANTS_BLOSC2_CHUNKS_H_
