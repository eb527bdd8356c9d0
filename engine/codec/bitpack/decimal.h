// Floats that are decimals, such as prices and most measurements: whole numbers divided by a power
// of ten, or multiplied by the float next to its inverse.
#ifndef CAIRN_ENGINE_CODEC_BITPACK_DECIMAL_H_
#define CAIRN_ENGINE_CODEC_BITPACK_DECIMAL_H_

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>

#include "engine/codec/numbers/number.h"

namespace cairn::bitpack {

// The way from whole numbers to floats.
struct Scale {
  int power = 0;  // of ten
  bool multiplied = false;
  bool operator==(const Scale&) const = default;
};

template <numbers::Latent L>
struct DecimalsOf;

template <>
struct DecimalsOf<uint64_t> {
  using Float = double;
  static constexpr double kMaxWhole = 0x1p51;
  static constexpr std::array<double, 19> kPowers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,
                                                     1e7,  1e8,  1e9,  1e10, 1e11, 1e12, 1e13,
                                                     1e14, 1e15, 1e16, 1e17, 1e18};
  static constexpr std::array<double, 19> kInverses = {
      1e0,   1e-1,  1e-2,  1e-3,  1e-4,  1e-5,  1e-6,  1e-7,  1e-8, 1e-9,
      1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15, 1e-16, 1e-17, 1e-18};
  // Added to this, the bits of a whole number are those of a double, which is greater by
  // 1.5 * 2^52. This is how all processors convert fast.
  static constexpr uint64_t kBitsOfZero = 0x4338000000000000;
  static double FloatOf(uint64_t whole) {
    return std::bit_cast<double>(whole + kBitsOfZero) - 0x1.8p52;
  }
};

template <>
struct DecimalsOf<uint32_t> {
  using Float = float;
  static constexpr double kMaxWhole = 0x1p24;
  static constexpr std::array<float, 11> kPowers = {1e0F, 1e1F, 1e2F, 1e3F, 1e4F, 1e5F,
                                                    1e6F, 1e7F, 1e8F, 1e9F, 1e10F};
  static constexpr std::array<float, 11> kInverses = {1e0F,  1e-1F, 1e-2F, 1e-3F, 1e-4F, 1e-5F,
                                                      1e-6F, 1e-7F, 1e-8F, 1e-9F, 1e-10F};
  static float FloatOf(uint32_t whole) { return static_cast<float>(static_cast<int32_t>(whole)); }
};

template <typename L>
concept HasDecimals = std::same_as<L, uint32_t> || std::same_as<L, uint64_t>;

template <HasDecimals L>
inline constexpr int kMaxPower = static_cast<int>(DecimalsOf<L>::kPowers.size()) - 1;

// Returns what whole numbers are divided or multiplied by.
template <HasDecimals L>
typename DecimalsOf<L>::Float FactorOf(Scale scale) {
  const auto power = static_cast<size_t>(scale.power);
  return scale.multiplied ? DecimalsOf<L>::kInverses[power] : DecimalsOf<L>::kPowers[power];
}

// Returns the bits of the float that a whole number, in two's complement, stands for. `factor` is
// that of the scale.
template <bool kMultiplied, HasDecimals L>
L BitsOfDecimal(L whole, typename DecimalsOf<L>::Float factor) {
  const auto value = DecimalsOf<L>::FloatOf(whole);
  return std::bit_cast<L>(kMultiplied ? value * factor : value / factor);
}

// Returns the whole number next to a float times `power`, which has the scale's power of ten. Sets
// `exact` to false unless it stands for the float.
template <bool kMultiplied, HasDecimals L>
L WholeOfFloat(L bits, double power, typename DecimalsOf<L>::Float factor, bool& exact) {
  const double scaled =
      static_cast<double>(std::bit_cast<typename DecimalsOf<L>::Float>(bits)) * power;
  const auto whole = static_cast<L>(std::bit_cast<uint64_t>(scaled + 0x1.8p52) -
                                    DecimalsOf<uint64_t>::kBitsOfZero);
  const bool fits = scaled > -DecimalsOf<L>::kMaxWhole && scaled < DecimalsOf<L>::kMaxWhole;
  exact = fits & (BitsOfDecimal<kMultiplied, L>(whole, factor) == bits);
  return whole;
}

}  // namespace cairn::bitpack

#endif  // CAIRN_ENGINE_CODEC_BITPACK_DECIMAL_H_
