// Packed super-chunks of 2015 (2.0.0a2). They have 96 bytes of header, chunks back to back, and a
// table of the places of the data chunks. All numbers are little endian. There is no magic.
#ifndef CAIRN_ENGINE_FORMAT_LEGACY_PACKED_H_
#define CAIRN_ENGINE_FORMAT_LEGACY_PACKED_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/chunk/header.h"

namespace cairn::format::legacy {

inline constexpr int64_t kPackedHeaderSize = 96;
inline constexpr int64_t kPackedEntrySize = 8;
inline constexpr int kPackedFilters = 5;

// Positions count from the start of the super-chunk. 0 means that there is none.
struct PackedHeader {
  int64_t size = 0;  // the whole super-chunk
  Codec codec = Codec::kBloscLz;
  int clevel = 0;
  std::array<Filter, kPackedFilters> filters{};
  int64_t nchunks = 0;
  int64_t unpacked = 0;       // header, table, and the decoded size of all chunks
  int64_t filters_chunk = 0;  // the numbers that additive DELTA adds
  int64_t codec_chunk = 0;
  int64_t metadata_chunk = 0;
  int64_t userdata_chunk = 0;
  int64_t table = 0;  // the end of the chunks

  bool has_delta() const { return filters[0] == Filter::kDelta; }
};

// Parses the header at the start of `bytes`. Fails unless it is one beyond doubt, and every number
// fits a super-chunk of `size` bytes.
absl::StatusOr<PackedHeader> ParsePackedHeader(Bytes bytes, int64_t size);

// Parses the header of a chunk of such a super-chunk. The chunk may have `available` bytes.
absl::StatusOr<chunk::Header> ParsePackedChunk(Bytes bytes, int64_t available);

}  // namespace cairn::format::legacy

#endif  // CAIRN_ENGINE_FORMAT_LEGACY_PACKED_H_
