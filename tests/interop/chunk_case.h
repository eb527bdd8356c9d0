// Random settings for a chunk, and what its lossy filters make of the data.
#ifndef CAIRN_TESTS_INTEROP_CHUNK_CASE_H_
#define CAIRN_TESTS_INTEROP_CHUNK_CASE_H_

#include <ostream>
#include <string_view>

#include "cairn/options.h"
#include "tests/interop/data.h"

namespace cairn::interop {

struct ChunkCase {
  CompressionOptions options;
  DataKind kind = DataKind::kZeros;
  Buffer data;
  Buffer filtered;  // `data`, or what the lossy filter leaves of it

  // Returns what the chunk must decode to. Stored chunks skip the filters, lossy ones too.
  const Buffer& WantedFrom(Bytes chunk) const;
};

std::ostream& operator<<(std::ostream& stream, const ChunkCase& c);

inline constexpr Codec kAllCodecs[] = {Codec::kBloscLz, Codec::kLz4, Codec::kLz4Hc, Codec::kZlib,
                                       Codec::kZstd};

std::string_view ToString(Codec codec);

// Typesize as the chunk header has it.
inline int32_t ChunkTypesize(int32_t typesize) { return typesize > 255 ? 1 : typesize; }

bool Uses(const CompressionOptions& options, Filter filter);
// The peer's partial reads are wrong with delta, and fail with a dictionary.
bool PeerCanSlice(const CompressionOptions& options);

// Settings that keep every bit.
CompressionOptions MakeLosslessOptions(Random& random);

// Any settings that an encoder must accept.
ChunkCase MakeChunkCase(Random& random);
// Makes a case without anything that C-Blosc2's encoder gets wrong; see docs/errata.md.
ChunkCase MakePeerChunkCase(Random& random);

}  // namespace cairn::interop

#endif  // CAIRN_TESTS_INTEROP_CHUNK_CASE_H_
