// The table of chunks in the vlmetalayer `cairn.fp`, read in place. It holds facts that the index
// lacks.
#ifndef CAIRN_ENGINE_FRAME_INDEX_CHUNK_TABLE_H_
#define CAIRN_ENGINE_FRAME_INDEX_CHUNK_TABLE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/chunk.h"
#include "cairn/types.h"
#include "engine/base/binary_value.h"
#include "engine/chunk/header.h"

namespace cairn::frame {

// Holds for each chunk its fingerprint, an XXH3-64, and its stored size. They are 0 if they are not
// known, as for special chunks of the index and for chunks that another library wrote. Tables of
// older Cairns have no sizes. Immutable and thread-safe.
class ChunkTable {
 public:
  // Entries of both columns as little-endian bytes.
  struct Columns {
    Bytes fingerprints;
    Bytes sizes;
  };

  // Bytes of the layer before the columns.
  static constexpr size_t kHeadSize = chunk::kHeaderSize + kBinaryHead;

  // Opens a table. `layer` is the content of the vlmetalayer: a plain copy, or a special chunk of
  // zeros, which older Cairns wrote.
  static absl::StatusOr<ChunkTable> Open(Chunk layer, int64_t nchunks);
  // Returns the layer of a table that the caller puts after it: `columns` bytes, or none if all of
  // them are zeros.
  static std::vector<std::byte> Head(int64_t columns);

  bool has_sizes() const { return has_sizes_; }
  // Returns entries [first, first + count), in place, or in `zeros` if the table stores none.
  Columns Part(int64_t first, int64_t count, std::vector<std::byte>& zeros) const;
  uint64_t FingerprintAt(int64_t nchunk) const;
  int32_t SizeAt(int64_t nchunk) const;

 private:
  ChunkTable(Chunk layer, bool has_sizes) : layer_(std::move(layer)), has_sizes_(has_sizes) {}

  Chunk layer_;
  bool has_sizes_;
  Columns columns_;  // empty if all are zeros
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_INDEX_CHUNK_TABLE_H_
