// BloscLZ, the byte-oriented LZ77 of Blosc.
#ifndef CAIRN_ENGINE_CODEC_BLOSCLZ_H_
#define CAIRN_ENGINE_CODEC_BLOSCLZ_H_

#include "absl/status/status.h"

#include "cairn/types.h"

namespace cairn::codec {

// Fills dst exactly from all of src, whatever the bytes of src are. kDataLoss, with dst in any
// state, when src is malformed or decodes to another size. Accepts a match as the last opcode.
absl::Status DecodeBloscLz(Bytes src, MutableBytes dst);

}  // namespace cairn::codec

#endif  // CAIRN_ENGINE_CODEC_BLOSCLZ_H_
