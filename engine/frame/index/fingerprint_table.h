// The table of fingerprints in the vlmetalayer `cairn.fp`, read in place.
#ifndef CAIRN_ENGINE_FRAME_INDEX_FINGERPRINT_TABLE_H_
#define CAIRN_ENGINE_FRAME_INDEX_FINGERPRINT_TABLE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/chunk.h"
#include "cairn/types.h"

namespace cairn::frame {

// One XXH3-64 a chunk; 0 where there is none: special chunks of the index, and chunks that another
// library wrote. Immutable and thread-safe.
class FingerprintTable {
 public:
  // `layer` is the content of the vlmetalayer: a plain copy, or a special chunk of zeros.
  static absl::StatusOr<FingerprintTable> Open(Chunk layer, int64_t nchunks);
  // The layer that Open reads, of entries as little-endian bytes.
  static std::vector<std::byte> Encode(Bytes entries);

  // Entries [first, first + count) as little-endian bytes: where they lie, or in `zeros` where they
  // lie nowhere.
  Bytes Part(int64_t first, int64_t count, std::vector<std::byte>& zeros) const;
  uint64_t At(int64_t nchunk) const;

 private:
  static constexpr int64_t kEntrySize = sizeof(uint64_t);

  FingerprintTable(Chunk layer, Bytes entries) : layer_(std::move(layer)), entries_(entries) {}

  Chunk layer_;
  Bytes entries_;  // empty: all zeros
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_INDEX_FINGERPRINT_TABLE_H_
