// The table of chunks in the vlmetalayer `cairn.fp`, read in place: what the index says too little
// of.
#ifndef CAIRN_ENGINE_FRAME_INDEX_CHUNK_TABLE_H_
#define CAIRN_ENGINE_FRAME_INDEX_CHUNK_TABLE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/chunk.h"
#include "cairn/types.h"

namespace cairn::frame {

// For each chunk its fingerprint, an XXH3-64, and its stored size; 0 where they are not known:
// special chunks of the index, and chunks that another library wrote. Tables of older Cairns have
// no sizes. Immutable and thread-safe.
class ChunkTable {
 public:
  // Entries of both columns as little-endian bytes.
  struct Columns {
    Bytes fingerprints;
    Bytes sizes;
  };

  // `layer` is the content of the vlmetalayer: a plain copy, or a special chunk of zeros.
  static absl::StatusOr<ChunkTable> Open(Chunk layer, int64_t nchunks);
  // The layer that Open reads.
  static std::vector<std::byte> Encode(const Columns& columns);

  bool has_sizes() const { return has_sizes_; }
  // Entries [first, first + count): where they lie, or in `zeros` where they lie nowhere.
  Columns Part(int64_t first, int64_t count, std::vector<std::byte>& zeros) const;
  uint64_t FingerprintAt(int64_t nchunk) const;
  int32_t SizeAt(int64_t nchunk) const;

 private:
  ChunkTable(Chunk layer, bool has_sizes) : layer_(std::move(layer)), has_sizes_(has_sizes) {}

  Chunk layer_;
  bool has_sizes_;
  Columns columns_;  // empty: all zeros
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_INDEX_CHUNK_TABLE_H_
