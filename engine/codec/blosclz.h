// BloscLZ, the byte-oriented LZ77 of Blosc.
#ifndef CAIRN_ENGINE_CODEC_BLOSCLZ_H_
#define CAIRN_ENGINE_CODEC_BLOSCLZ_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"

#include "cairn/types.h"

namespace cairn::codec {

// Reused from stream to stream; what it writes depends on the bytes and the level only.
class BloscLzEncoder {
 public:
  // Returns the size of the stream in dst, always below that of src, or 0 when it does not fit or a
  // sample of src promises too little for the level (1..9). The stream begins and ends with
  // literals.
  size_t Encode(Bytes src, MutableBytes dst, int clevel);

 private:
  // The number of the first of `size` bytes that are about to be parsed. Bytes are numbered through
  // all parses, so that what an earlier parse left in places_ is too far away to be a match and
  // nothing needs clearing.
  uint32_t Number(size_t size);

  std::unique_ptr<uint32_t[]> places_;  // by hash of a few bytes: where they were seen last
  uint32_t next_number_ = 0;
};

// Fills dst exactly from all of src, whatever the bytes of src are. kDataLoss, with dst in any
// state, when src is malformed or decodes to another size. Accepts a match as the last opcode.
absl::Status DecodeBloscLz(Bytes src, MutableBytes dst);

}  // namespace cairn::codec

#endif  // CAIRN_ENGINE_CODEC_BLOSCLZ_H_
