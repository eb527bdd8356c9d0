// Encodes the numbers of a chunk: chooses a mode, deltas and bins, and writes pages.
#ifndef CAIRN_ENGINE_CODEC_PCO_CHUNK_ENCODER_H_
#define CAIRN_ENGINE_CODEC_PCO_CHUNK_ENCODER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cairn/types.h"
#include "engine/codec/pco/number.h"

namespace cairn::pco {

struct EncodedChunk {
  NumberKind kind = NumberKind::kUint;
  std::vector<std::byte> meta = {};   // its description
  std::vector<std::byte> pages = {};  // one after the other
  std::vector<size_t> page_sizes = {};
};

// Keeps its memory from chunk to chunk. Not thread-safe.
class ChunkEncoder {
 public:
  // Makes an encoder for numbers of `size` bytes.
  static std::unique_ptr<ChunkEncoder> Make(int size);
  virtual ~ChunkEncoder() = default;

  // Encodes little endian numbers as those of the kinds that seem to take the least space. A page
  // gets `page_count` of them, except the last one. At most 2^`level` bins are tried; `level` is
  // from 1 to 10. The chunk stays valid until the next call.
  virtual const EncodedChunk& Encode(std::span<const NumberKind> kinds, Bytes numbers,
                                     int64_t page_count, int level) = 0;
};

}  // namespace cairn::pco

#endif  // CAIRN_ENGINE_CODEC_PCO_CHUNK_ENCODER_H_
