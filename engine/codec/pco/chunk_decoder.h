// Decodes the pages of a chunk of pco into numbers.
#ifndef CAIRN_ENGINE_CODEC_PCO_CHUNK_DECODER_H_
#define CAIRN_ENGINE_CODEC_PCO_CHUNK_DECODER_H_

#include <cstddef>
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

  // Fills `out` with little endian numbers, from number `first` on, of the page that `in` is at,
  // which has `count` of them. Leaves `in` after the page if the last one is among them.
  //
  // Errors: kDataLoss if what is decoded of the page is malformed or too short.
  virtual absl::Status DecodePage(BitReader& in, size_t count, size_t first, MutableBytes out) = 0;
};

}  // namespace cairn::pco

#endif  // CAIRN_ENGINE_CODEC_PCO_CHUNK_DECODER_H_
