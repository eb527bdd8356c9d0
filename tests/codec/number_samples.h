// Numbers and records for the tests of codecs of numbers.
#ifndef CAIRN_TESTS_CODEC_NUMBER_SAMPLES_H_
#define CAIRN_TESTS_CODEC_NUMBER_SAMPLES_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "cairn/options.h"
#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/codec/numbers/number.h"
#include "engine/codec/pco/number.h"
#include "tests/support/bytes.h"

namespace cairn::test {

using numbers::NumberKind;
using numbers::NumberType;

inline const NumberType kNumberTypes[] = {
    {NumberKind::kUint, 1}, {NumberKind::kInt, 1},   {NumberKind::kUint, 2},
    {NumberKind::kInt, 2},  {NumberKind::kFloat, 2}, {NumberKind::kUint, 4},
    {NumberKind::kInt, 4},  {NumberKind::kFloat, 4}, {NumberKind::kUint, 8},
    {NumberKind::kInt, 8},  {NumberKind::kFloat, 8}};

// Stores `value` as a number of the type.
inline void StoreNumber(NumberType type, double value, std::byte* to) {
  uint64_t bits = static_cast<uint64_t>(static_cast<int64_t>(value));
  if (type.kind == NumberKind::kFloat) {
    bits = type.size == 2   ? pco::Half(static_cast<float>(value)).bits()
           : type.size == 4 ? pco::FloatOf<uint32_t>::ToBits(static_cast<float>(value))
                            : pco::FloatOf<uint64_t>::ToBits(value);
  }
  std::byte little[8];
  StoreLe(little, bits);
  std::copy_n(little, type.size, to);
}

template <typename ValueOf>
Buffer Numbers(NumberType type, size_t count, const ValueOf& value_of) {
  Buffer numbers(count * static_cast<size_t>(type.size));
  for (size_t i = 0; i < count; ++i) {
    StoreNumber(type, value_of(i), numbers.data() + i * static_cast<size_t>(type.size));
  }
  return numbers;
}

// Returns samples of numbers that need many ways of coding.
inline std::vector<Buffer> Mixture(NumberType type) {
  std::mt19937_64 dice(9);
  const auto noise = [&] { return static_cast<double>(dice() % 2001) / 100 - 10; };
  const auto few_bits_or = [&](int bits) {
    return static_cast<double>(dice() % 4 == 0 ? dice() % 100 : dice() >> (64 - bits));
  };
  double walk = 0;
  double speed = 0;
  std::vector<Buffer> mixture = {
      Numbers(type, 3000, [&](size_t) { return walk += noise(); }),
      Numbers(type, 3000, [&](size_t) { return std::round(noise() * 10) / 10; }),
      Numbers(type, 3000, [&](size_t) { return walk += (speed += noise()); }),
      Numbers(type, 3000, [&](size_t) { return 37.0 * static_cast<double>(dice() % 900); }),
      Numbers(type, 3000, [&](size_t) { return static_cast<float>(noise() / 7); }),
      Numbers(type, 3000, [&](size_t i) { return static_cast<double>(dice() % (1 + i % 700)); }),
      Numbers(type, 3000, [&](size_t) { return few_bits_or(31); }),
      Numbers(type, 3000, [&](size_t) { return few_bits_or(34); })};
  Buffer& random = mixture.emplace_back(3000 * static_cast<size_t>(type.size));
  for (std::byte& byte : random) byte = static_cast<std::byte>(dice());
  // Multiples among NaNs, infinities and others.
  Buffer& mixed = mixture.emplace_back(mixture[1]);
  std::copy_n(random.begin(), random.size() / 10, mixed.begin());
  return mixture;
}

// Records of five columns: a number, bytes, two numbers, three neighbours and a byte.
inline const ItemColumn kColumns[] = {{.kind = 3, .size = 8},
                                      {.kind = 0, .count = 5},
                                      {.kind = 2, .size = 4},
                                      {.kind = 1, .size = 2},
                                      {.kind = 3, .size = 4, .count = 3},
                                      {.kind = 0}};
inline constexpr size_t kRecord = 8 + 5 + 4 + 2 + 12 + 1;

inline Buffer Records(size_t count) {
  std::mt19937_64 dice(6);
  Buffer records(count * kRecord);
  double walk = 100;
  for (size_t i = 0; i < count; ++i) {
    std::byte* const at = records.data() + i * kRecord;
    walk += std::round(static_cast<double>(dice() % 200) - 100) / 100;
    StoreLe(at, walk);
    CopyBytes(AsBytes(i % 3 == 0 ? "north" : "south"), {at + 8, 5});
    StoreLe(at + 13, static_cast<int32_t>(i * 3));
    StoreLe(at + 17, static_cast<uint16_t>(dice() % 1000));
    for (const int j : {0, 1, 2}) StoreLe(at + 19 + 4 * j, static_cast<float>(walk + 10 * j));
    at[31] = static_cast<std::byte>(dice() % 2);
  }
  return records;
}

}  // namespace cairn::test

#endif  // CAIRN_TESTS_CODEC_NUMBER_SAMPLES_H_
