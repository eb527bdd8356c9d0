// Decodes vectors, or single numbers of them.
#ifndef CAIRN_ENGINE_CODEC_BITPACK_VECTOR_DECODER_H_
#define CAIRN_ENGINE_CODEC_BITPACK_VECTOR_DECODER_H_

#include "absl/status/status.h"

#include "cairn/types.h"
#include "engine/codec/bitpack/vector_kernels.h"
#include "engine/codec/numbers/number.h"

namespace cairn::bitpack {

// Decodes the wanted numbers of a vector of `count` numbers. Few numbers are decoded without the
// others. Errors: kDataLoss if the vector is malformed.
template <numbers::Latent L>
absl::Status DecodeVector(numbers::NumberKind kind, Bytes bytes, size_t count,
                          const Target& target);

}  // namespace cairn::bitpack

#endif  // CAIRN_ENGINE_CODEC_BITPACK_VECTOR_DECODER_H_
