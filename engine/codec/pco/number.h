// Floats that pco computes with.
//
// pco's format is specified in docs/format.md of the pcodec project. Names here are the names
// there.
#ifndef CAIRN_ENGINE_CODEC_PCO_NUMBER_H_
#define CAIRN_ENGINE_CODEC_PCO_NUMBER_H_

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>

#include "engine/codec/numbers/number.h"

namespace cairn::pco {

using numbers::kBits;
using numbers::kMid;
using numbers::Latent;
using numbers::LatentOf;
using numbers::NumberKind;
using numbers::NumberOf;
using numbers::NumberType;
using numbers::SignMask;

// Half precision by its bits. A product of two is exact in single precision, so it is rounded once.
class Half {
 public:
  Half() = default;
  // Rounds to the nearest, ties to even.
  explicit Half(float value);
  static Half FromBits(uint16_t bits) {
    Half half;
    half.bits_ = bits;
    return half;
  }
  uint16_t bits() const { return bits_; }
  explicit operator float() const;

 private:
  uint16_t bits_ = 0;
};

inline Half::operator float() const {
  const uint32_t sign = uint32_t{bits_ & 0x8000U} << 16;
  const uint32_t exponent = bits_ >> 10 & 0x1FU;
  const uint32_t fraction = bits_ & 0x3FFU;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000U | fraction << 13);
  if (exponent > 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float magnitude = std::ldexp(static_cast<float>(fraction), -24);
  return sign != 0 ? -magnitude : magnitude;
}

inline Half::Half(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000U);
  const uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) {
    bits_ = static_cast<uint16_t>(sign | 0x7E00U | (magnitude >> 13 & 0x3FFU));
  } else if (magnitude >= 0x47800000U) {  // 65,536 and more
    bits_ = static_cast<uint16_t>(sign | 0x7C00U);
  } else if (magnitude >= 0x38800000U) {  // normal numbers; the carry may make an infinity
    const uint32_t rounded = magnitude + 0xFFFU + (magnitude >> 13 & 1U);
    bits_ = static_cast<uint16_t>(sign | ((rounded >> 13) - (112U << 10)));
  } else {
    const float scaled = std::nearbyint(std::ldexp(std::bit_cast<float>(magnitude), 24));
    bits_ = static_cast<uint16_t>(sign | static_cast<uint32_t>(scaled));
  }
}

// Floats as numbers: the type that computes with bits of L, and how many bits its significand has.
template <Latent L>
struct FloatOf;
template <>
struct FloatOf<uint64_t> {
  using Type = double;
  static constexpr int kDigits = 53;
  static double FromBits(uint64_t bits) { return std::bit_cast<double>(bits); }
  static uint64_t ToBits(double value) { return std::bit_cast<uint64_t>(value); }
};
template <>
struct FloatOf<uint32_t> {
  using Type = float;
  static constexpr int kDigits = 24;
  static float FromBits(uint32_t bits) { return std::bit_cast<float>(bits); }
  static uint32_t ToBits(float value) { return std::bit_cast<uint32_t>(value); }
};
template <>
struct FloatOf<uint16_t> {
  using Type = float;  // results are rounded by ToBits
  static constexpr int kDigits = 11;
  static float FromBits(uint16_t bits) { return static_cast<float>(Half::FromBits(bits)); }
  static uint16_t ToBits(float value) { return Half(value).bits(); }
};

template <typename L>
concept FloatLatent = Latent<L> && sizeof(L) >= 2;

// The float that is a whole number, of which `latent` counts from the middle: small ones are the
// integers, and above 2^digits each float is one.
template <FloatLatent L>
typename FloatOf<L>::Type WholeFloatOf(L latent) {
  using F = FloatOf<L>;
  const bool negative = latent < kMid<L>;
  const auto count = static_cast<L>(negative ? kMid<L> - 1 - latent : latent - kMid<L>);
  constexpr L kExact = static_cast<L>(L{1} << F::kDigits);
  const auto magnitude =
      count < kExact ? static_cast<typename F::Type>(count)
                     : F::FromBits(static_cast<L>(F::ToBits(static_cast<typename F::Type>(kExact)) +
                                                  (count - kExact)));
  return negative ? -magnitude : magnitude;
}

// The inverse of WholeFloatOf, for floats that are whole numbers, infinities and NaNs.
template <FloatLatent L>
L LatentOfWholeFloat(typename FloatOf<L>::Type value) {
  using F = FloatOf<L>;
  constexpr L kExact = static_cast<L>(L{1} << F::kDigits);
  constexpr auto kExactFloat = static_cast<typename F::Type>(kExact);
  const auto magnitude = std::fabs(value);
  const L count = magnitude < kExactFloat
                      ? static_cast<L>(magnitude)
                      : static_cast<L>(kExact + (F::ToBits(magnitude) - F::ToBits(kExactFloat)));
  return static_cast<L>(std::signbit(value) ? kMid<L> - 1 - count : kMid<L> + count);
}

}  // namespace cairn::pco

#endif  // CAIRN_ENGINE_CODEC_PCO_NUMBER_H_
