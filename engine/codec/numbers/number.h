// Numbers and their latents. A latent is an unsigned integer of the same width. The order of
// latents is the order of the numbers.
#ifndef CAIRN_ENGINE_CODEC_NUMBERS_NUMBER_H_
#define CAIRN_ENGINE_CODEC_NUMBERS_NUMBER_H_

#include <concepts>
#include <cstdint>
#include <limits>

namespace cairn::numbers {

enum class NumberKind : uint8_t { kUint, kInt, kFloat };

struct NumberType {
  NumberKind kind = NumberKind::kUint;
  int size = 8;  // bytes: 1, 2, 4 or 8; a float has at least 2
  bool operator==(const NumberType&) const = default;
};

template <typename L>
concept Latent = std::same_as<L, uint8_t> || std::same_as<L, uint16_t> ||
    std::same_as<L, uint32_t> || std::same_as<L, uint64_t>;

template <Latent L>
inline constexpr int kBits = std::numeric_limits<L>::digits;

// The latent in the middle: 0 of signed integers, and 0.0.
template <Latent L>
inline constexpr L kMid = static_cast<L>(L{1} << (kBits<L> - 1));

// Converts the bits of a number. Floats keep their order because negative ones are turned around.
template <Latent L>
constexpr L LatentOf(NumberKind kind, L bits) {
  switch (kind) {
    case NumberKind::kUint:
      return bits;
    case NumberKind::kInt:
      return static_cast<L>(bits ^ kMid<L>);
    case NumberKind::kFloat:
      return static_cast<L>((bits & kMid<L>) != 0 ? ~bits : bits ^ kMid<L>);
  }
  return bits;
}

// The inverse of LatentOf.
template <Latent L>
constexpr L NumberOf(NumberKind kind, L latent) {
  switch (kind) {
    case NumberKind::kUint:
      return latent;
    case NumberKind::kInt:
      return static_cast<L>(latent ^ kMid<L>);
    case NumberKind::kFloat:
      return static_cast<L>((latent & kMid<L>) != 0 ? latent ^ kMid<L> : ~latent);
  }
  return latent;
}

// Returns all ones for values with the highest bit, or else 0.
template <Latent L>
constexpr L SignMask(L value) {
  return static_cast<L>(0 - (value >> (kBits<L> - 1)));
}

}  // namespace cairn::numbers

#endif  // CAIRN_ENGINE_CODEC_NUMBERS_NUMBER_H_
