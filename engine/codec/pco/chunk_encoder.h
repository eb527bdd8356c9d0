// Encodes the numbers of a chunk: chooses a mode, deltas and bins, and writes pages.
#ifndef CAIRN_ENGINE_CODEC_PCO_CHUNK_ENCODER_H_
#define CAIRN_ENGINE_CODEC_PCO_CHUNK_ENCODER_H_

#include <cstdint>
#include <vector>

#include "cairn/types.h"
#include "engine/codec/pco/bins.h"
#include "engine/codec/pco/number.h"

namespace cairn::pco {

struct EncodedChunk {
  std::vector<std::byte> meta;                // its description
  std::vector<std::vector<std::byte>> pages;  // in order
};

// Keeps its memory from chunk to chunk. Not thread-safe.
class ChunkEncoder {
 public:
  // Encodes little endian numbers. `page_count` is how many a page gets, but for
  // the last one. `level` from 1 to 9 is how many bins are tried, 2^level at most.
  EncodedChunk Encode(NumberType type, Bytes numbers, int64_t page_count, int level);

 private:
  LatentSorter sorter_;
};

}  // namespace cairn::pco

#endif  // CAIRN_ENGINE_CODEC_PCO_CHUNK_ENCODER_H_
