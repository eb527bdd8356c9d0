// The loops over the numbers of a vector. They are compiled for each kind of processor, and give
// the same on all.
//
// A vector has up to 1,024 numbers in rows of 16 lanes. Each lane is a string of bits, to which
// each row adds as many as the vector's width, from the lowest bit on. The strings are cut into
// words of the size of a number, and the words of the lanes take turns. So one instruction unpacks
// the numbers of several lanes, whatever the width of registers, and a number lies in one or two
// words.
#ifndef CAIRN_ENGINE_CODEC_BITPACK_VECTOR_KERNELS_H_
#define CAIRN_ENGINE_CODEC_BITPACK_VECTOR_KERNELS_H_

#include <array>
#include <cstdint>
#include <span>

#include "cairn/types.h"
#include "engine/codec/bitpack/decimal.h"
#include "engine/codec/numbers/number.h"

namespace cairn::bitpack {

inline constexpr size_t kLanes = 16;
inline constexpr size_t kVector = 1024;

// The meaning of the packed integers of a vector.
enum class Form : uint8_t {
  kIntegers,   // numbers
  kFloatBits,  // the latents of floats
  kDecimals,   // floats, by a scale
};

// A place for the numbers of a vector, and the range of them that is wanted.
struct Target {
  std::byte* to = nullptr;  // the place of the first wanted number
  size_t stride = 0;        // bytes from one to the next
  // The wanted numbers:
  size_t begin = 0;
  size_t end = 0;
};

template <numbers::Latent L>
using Values = std::array<L, kVector>;

template <numbers::Latent L>
struct VectorKernels {
  // Fills rows with `base` plus integers of `width` bits.
  void (*unpack)(const std::byte* words, int width, size_t rows, L base, Values<L>& values);
  // Turns deltas within each lane into values. The first row holds values.
  void (*sum)(size_t rows, Values<L>& values);
  // Turns what is packed into the bits of numbers.
  void (*finish)(Form form, Scale scale, size_t rows, Values<L>& values);
  // Stores numbers in little endian. A row has neighbours, or a lane if `by_lanes` is true.
  void (*store)(const Values<L>& values, size_t rows, bool by_lanes, const Target& target);

  // Loads the latents of numbers.
  void (*load)(numbers::NumberKind kind, const std::byte* numbers, std::span<L> latents);
  // Turns latents of floats into those of whole numbers, and returns how many of these do not stand
  // for the float. `exact` says which do.
  size_t (*to_decimals)(Scale scale, std::span<const L> latents, L* wholes, uint8_t* exact);
  // Finds the least and the greatest value.
  void (*find_range)(std::span<const L> values, L& least, L& greatest);
  // Packs what values are above `base`.
  void (*pack)(const Values<L>& values, size_t rows, int width, L base, std::byte* words);
};

// Returns the loops for this processor.
template <numbers::Latent L>
const VectorKernels<L>& KernelsFor();

}  // namespace cairn::bitpack

#endif  // CAIRN_ENGINE_CODEC_BITPACK_VECTOR_KERNELS_H_
