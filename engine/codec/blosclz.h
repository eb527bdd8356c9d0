// BloscLZ, Blosc's byte-oriented LZ77 codec.
#ifndef CAIRN_ENGINE_CODEC_BLOSCLZ_H_
#define CAIRN_ENGINE_CODEC_BLOSCLZ_H_

#include <cstddef>

#include "absl/status/status.h"

#include "cairn/types.h"

namespace cairn::codec {

// The most literals that one opcode stands for.
inline constexpr size_t kMaxLiterals = 32;

// Fills dst exactly from all of src, whatever the bytes of src are. Accepts a match as the last
// opcode.
//
// Errors: kDataLoss if src is malformed or decodes to another size. The bytes of dst are then
// unspecified.
absl::Status DecodeBloscLz(Bytes src, MutableBytes dst);

}  // namespace cairn::codec

#endif  // CAIRN_ENGINE_CODEC_BLOSCLZ_H_
