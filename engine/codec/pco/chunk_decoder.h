// Decodes the pages of a chunk of pco into numbers.
#ifndef CAIRN_ENGINE_CODEC_PCO_CHUNK_DECODER_H_
#define CAIRN_ENGINE_CODEC_PCO_CHUNK_DECODER_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/codec/pco/bit_reader.h"
#include "engine/codec/pco/chunk_meta.h"
#include "engine/codec/pco/number.h"

namespace cairn::pco {

// The tables of one chunk. Keeps its memory from chunk to chunk. Not thread-safe.
class ChunkDecoder {
 public:
  // Makes a decoder for numbers of `size` bytes.
  static std::unique_ptr<ChunkDecoder> Make(int size);
  virtual ~ChunkDecoder() = default;

  // Takes the metadata of a chunk of such numbers.
  virtual void BeginChunk(NumberKind kind, ChunkMeta meta) = 0;

  // Decodes the page that `in` is at, and leaves `in` after it. `out` is filled with little
  // endian numbers; its size says how many the page has.
  //
  // Errors: kDataLoss if the page is malformed or too short.
  virtual absl::Status DecodePage(BitReader& in, MutableBytes out) = 0;
};

}  // namespace cairn::pco

#endif  // CAIRN_ENGINE_CODEC_PCO_CHUNK_DECODER_H_
