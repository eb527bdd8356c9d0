// Finds the parts of a chunk, or of bytes that may not be one.
#ifndef CAIRN_FUZZ_CHUNK_LAYOUT_H_
#define CAIRN_FUZZ_CHUNK_LAYOUT_H_

#include <cstddef>
#include <vector>

#include "cairn/types.h"

namespace cairn::fuzz {

// All of it lies inside the chunk.
struct ByteRange {
  size_t begin = 0;
  size_t size = 0;
};

// As far as the bytes make sense; empty where they do not.
struct ChunkLayout {
  explicit ChunkLayout(Bytes chunk);

  std::vector<size_t> positions;   // fields: where a block starts
  std::vector<size_t> sizes;       // fields: the compressed size of a stream
  std::vector<ByteRange> streams;  // what those sizes are of; runs have none
};

}  // namespace cairn::fuzz

#endif  // CAIRN_FUZZ_CHUNK_LAYOUT_H_
