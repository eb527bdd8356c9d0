// Encodes vectors: chooses what takes the fewest bytes.
#ifndef CAIRN_ENGINE_CODEC_BITPACK_VECTOR_ENCODER_H_
#define CAIRN_ENGINE_CODEC_BITPACK_VECTOR_ENCODER_H_

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "cairn/types.h"
#include "engine/codec/bitpack/decimal.h"
#include "engine/codec/bitpack/vector_head.h"
#include "engine/codec/bitpack/vector_kernels.h"
#include "engine/codec/numbers/number.h"

namespace cairn::bitpack {

// Keeps its memory from vector to vector. Not thread-safe.
template <numbers::Latent L>
class VectorEncoder {
 public:
  // Appends a vector of these numbers. Floats may be decimals of the scale.
  void Encode(numbers::NumberKind kind, std::span<const L> latents, std::optional<Scale> scale,
              std::vector<std::byte>& out);

 private:
  // How a vector is stored.
  struct Plan {
    VectorHead<L> head;
    L flip = 0;        // latents of integers less this are the integers
    size_t bytes = 0;  // without the head
  };

  // Returns the bytes of exceptions.
  static constexpr size_t ExceptionBytes(size_t count) {
    return count * (sizeof(uint16_t) + sizeof(L));
  }
  // Plans decimals, and fills wholes_, where those before stand in for floats that are none.
  Plan PlanDecimals(std::span<const L> latents, Scale scale);
  // Chooses width, base and deltas. `plan` has the rest.
  void Choose(std::span<const L> values, Plan& plan);
  // Makes exceptions of few values that are far from the others, if that saves bytes.
  void CutOutliers(std::span<const L> values, Plan& plan) const;
  // Takes deltas in lanes_, if that saves bytes.
  void TryDeltas(std::span<const L> values, Plan& plan);
  void Write(numbers::NumberKind kind, std::span<const L> latents, std::span<const L> values,
             const Plan& plan, std::vector<std::byte>& out);

  const VectorKernels<L>& kernels_ = KernelsFor<L>();
  std::array<uint8_t, kVector> exact_ = {};
  Values<L> wholes_;
  Values<L> lanes_;
};

extern template class VectorEncoder<uint8_t>;
extern template class VectorEncoder<uint16_t>;
extern template class VectorEncoder<uint32_t>;
extern template class VectorEncoder<uint64_t>;

}  // namespace cairn::bitpack

#endif  // CAIRN_ENGINE_CODEC_BITPACK_VECTOR_ENCODER_H_
