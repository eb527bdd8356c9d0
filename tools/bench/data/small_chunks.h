// Makes frames of very many small chunks quickly.
#ifndef CAIRN_TOOLS_BENCH_DATA_SMALL_CHUNKS_H_
#define CAIRN_TOOLS_BENCH_DATA_SMALL_CHUNKS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

#include "cairn/options.h"

namespace cairn::bench {

inline constexpr int32_t kSmallChunk = 512;  // decoded bytes of a chunk
inline constexpr int32_t kSmallItem = 8;

// Returns how to create a frame of such chunks, over an old one.
CreateOptions SmallChunkOptions(FingerprintType fingerprint);

// Makes a sealed frame. FingerprintType::kNone gives a frame as other Blosc2s write it, without
// fingerprints and without hashes of index pages.
absl::Status BuildSmallChunks(const std::string& path, FingerprintType fingerprint,
                              int64_t nchunks);

}  // namespace cairn::bench

#endif  // CAIRN_TOOLS_BENCH_DATA_SMALL_CHUNKS_H_
