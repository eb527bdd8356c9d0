#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/base/hash.h"
#include "engine/base/kernel_targets.h"
#include "engine/codec/stream_codec.h"
#include "tests/codec/number_samples.h"
#include "tests/codec/vector_folder.h"
#include "tests/support/files.h"
#include "tests/support/status.h"

namespace cairn::codec {
namespace {

using test::Buffer;
using test::kNumberTypes;
using test::Mixture;
using test::NumberKind;
using test::Numbers;
using test::NumberType;

PluginCall CallFor(NumberType type) {
  return {.typesize = type.size,
          .clevel = 5,
          .meta = static_cast<uint8_t>(static_cast<int>(type.kind) + 1)};
}

// Returns the stream of numbers, which is empty if it is not smaller.
Buffer Encode(NumberType type, Bytes numbers) {
  Buffer stream(numbers.size());
  stream.resize(MakeBitpack()->Compress(numbers, stream, CallFor(type)).value());
  return stream;
}

// Expects that a stream decodes to the numbers, as a whole and one by one.
void ExpectDecodes(NumberType type, const Buffer& numbers, const Buffer& stream) {
  const auto codec = MakeBitpack();
  Buffer back(numbers.size());
  ASSERT_TRUE(IsOk(codec->Decompress(stream, back, CallFor(type))));
  ASSERT_TRUE(back == numbers);
  const auto size = static_cast<size_t>(type.size);
  for (size_t at = 0; at < numbers.size(); at += size) {
    std::fill_n(back.begin() + static_cast<int64_t>(at), size, std::byte{0x5A});
    ASSERT_TRUE(
        IsOk(codec->DecompressPart(stream, back, {.begin = at, .end = at + size}, CallFor(type))));
    ASSERT_TRUE(std::equal(back.begin() + static_cast<int64_t>(at),
                           back.begin() + static_cast<int64_t>(at + size),
                           numbers.begin() + static_cast<int64_t>(at)))
        << "number " << at / size;
  }
}

TEST(BitpackTest, NumbersOfEveryTypeComeBackAsTheyWere) {
  for (const NumberType type : kNumberTypes) {
    for (const Buffer& mixture : Mixture(type)) {
      for (const size_t count : {1, 15, 16, 17, 33, 1000, 1023, 1024, 1025, 3000}) {
        Buffer numbers = mixture;
        numbers.resize(count * static_cast<size_t>(type.size));
        const Buffer stream = Encode(type, numbers);
        if (stream.empty()) continue;  // the numbers do not take less
        ASSERT_NO_FATAL_FAILURE(ExpectDecodes(type, numbers, stream))
            << count << " numbers of " << type.size << " bytes";
      }
    }
  }
}

// Returns numbers of which all have the same few values.
template <typename T>
Buffer OfValues(const std::vector<T>& values, size_t count) {
  std::mt19937 dice(1);
  Buffer numbers(count * sizeof(T));
  for (size_t i = 0; i < count; ++i) {
    StoreLe(numbers.data() + i * sizeof(T), i % 7 == 0 ? values[dice() % values.size()] : T{3});
  }
  return numbers;
}

template <typename T>
void ExpectExtremesSurvive(NumberType type) {
  using Limits = std::numeric_limits<T>;
  const Buffer numbers = OfValues<T>(
      {Limits::min(), Limits::max(), T{0}, static_cast<T>(-1), static_cast<T>(Limits::max() - 1)},
      5000);
  const Buffer stream = Encode(type, numbers);
  if (stream.empty()) return;
  ASSERT_NO_FATAL_FAILURE(ExpectDecodes(type, numbers, stream)) << type.size;
}

TEST(BitpackTest, ExtremesOfIntegersSurvive) {
  ExpectExtremesSurvive<int8_t>({NumberKind::kInt, 1});
  ExpectExtremesSurvive<uint8_t>({NumberKind::kUint, 1});
  ExpectExtremesSurvive<int16_t>({NumberKind::kInt, 2});
  ExpectExtremesSurvive<uint16_t>({NumberKind::kUint, 2});
  ExpectExtremesSurvive<int32_t>({NumberKind::kInt, 4});
  ExpectExtremesSurvive<uint32_t>({NumberKind::kUint, 4});
  ExpectExtremesSurvive<int64_t>({NumberKind::kInt, 8});
  ExpectExtremesSurvive<uint64_t>({NumberKind::kUint, 8});
}

TEST(BitpackTest, AllBitsOfAFloatSurvive) {
  std::mt19937_64 dice(2);
  for (const NumberType type : kNumberTypes) {
    if (type.kind != NumberKind::kFloat) continue;
    // Decimals among any bits at all: NaNs with payloads, infinities, negative zeros, denormals.
    Buffer numbers =
        Numbers(type, 4000, [&](size_t) { return static_cast<double>(dice() % 500) / 100; });
    const auto size = static_cast<size_t>(type.size);
    for (size_t i = 0; i < 4000; i += 50) {
      uint64_t bits = dice();
      if (i % 100 == 0) bits |= size == 2 ? 0x7C00 : size == 4 ? 0x7F800000 : 0x7FF0000000000000;
      if (i % 150 == 0) bits = uint64_t{1} << (8 * size - 1);
      if (i % 350 == 0) bits = dice() % 1000;
      std::byte little[8];
      StoreLe(little, bits);
      std::copy_n(little, size, numbers.data() + i * size);
    }
    const Buffer stream = Encode(type, numbers);
    ASSERT_GT(stream.size(), 0U);
    ASSERT_NO_FATAL_FAILURE(ExpectDecodes(type, numbers, stream)) << type.size;
  }
}

TEST(BitpackTest, EveryHalfFloatSurvives) {
  Buffer numbers(65536 * 2);
  for (uint32_t i = 0; i < 65536; ++i) {
    StoreLe(numbers.data() + size_t{i} * 2, static_cast<uint16_t>(i));
  }
  const NumberType type = {NumberKind::kFloat, 2};
  ASSERT_NO_FATAL_FAILURE(ExpectDecodes(type, numbers, Encode(type, numbers)));
}

TEST(BitpackTest, StreamsAndNumbersAreTheSameWithAllInstructions) {
  for (const NumberType type : kNumberTypes) {
    for (const Buffer& numbers : Mixture(type)) {
      std::optional<Buffer> first;
      for (int64_t left = SupportedTargets(); left != 0; left &= left - 1) {
        SetSupportedTargetsForTest(left & -left);
        const Buffer stream = Encode(type, numbers);
        Buffer back(numbers.size());
        const absl::Status status = stream.empty()
                                        ? absl::OkStatus()
                                        : MakeBitpack()->Decompress(stream, back, CallFor(type));
        SetSupportedTargetsForTest(0);
        if (!first) first = stream;
        EXPECT_TRUE(stream == *first) << type.size;
        ASSERT_TRUE(IsOk(status));
        EXPECT_TRUE(stream.empty() || back == numbers) << type.size;
      }
    }
  }
}

// Returns the bits that a number takes.
template <typename ValueOf>
double BitsOf(NumberType type, const ValueOf& value_of) {
  constexpr size_t kCount = 8192;
  const Buffer numbers = Numbers(type, kCount, value_of);
  const Buffer stream = Encode(type, numbers);
  ExpectDecodes(type, numbers, stream);
  return 8 * static_cast<double>(stream.size()) / kCount;
}

TEST(BitpackSizeTest, NumbersTakeTheBitsOfTheirRange) {
  std::mt19937_64 dice(3);
  const NumberType ints = {NumberKind::kInt, 8};
  const NumberType floats = {NumberKind::kFloat, 8};
  const NumberType singles = {NumberKind::kFloat, 4};
  EXPECT_LT(BitsOf(ints, [](size_t) { return -7.0; }), 0.2);
  EXPECT_LT(BitsOf(ints, [&](size_t) { return static_cast<double>(dice() % 1000) + 1e9; }), 10.2);
  const auto decimal = [&](double scale) { return static_cast<double>(dice() % 1000) * scale; };
  EXPECT_LT(BitsOf(floats, [&](size_t) { return decimal(1) / 100; }), 10.2);
  EXPECT_LT(BitsOf(floats, [&](size_t) { return decimal(0.001); }), 10.2);
  EXPECT_LT(BitsOf(singles, [&](size_t) { return decimal(1) / 10; }), 10.2);
  EXPECT_LT(BitsOf(floats, [&](size_t) { return 1 + std::ldexp(decimal(1), -52); }), 10.2);
}

TEST(BitpackSizeTest, FewOutliersTakeTheirOwnBytesOnly) {
  std::mt19937_64 dice(4);
  const double exceptions = 8.0 * (2 + 8) / 100;
  EXPECT_LT(
      BitsOf({NumberKind::kInt, 8},
             [&](size_t i) { return i % 100 == 0 ? 1e15 : static_cast<double>(dice() % 64); }),
      6.2 + exceptions);
  EXPECT_LT(BitsOf({NumberKind::kFloat, 8},
                   [&](size_t i) {
                     return i % 100 == 0 ? std::nan("") : static_cast<double>(dice() % 64) / 10;
                   }),
            6.2 + exceptions);
}

TEST(BitpackSizeTest, StepsOfAWalkTakeTheBitsOfTheirRange) {
  std::mt19937_64 dice(5);
  double walk = 1e12;
  EXPECT_LT(BitsOf({NumberKind::kInt, 8},
                   [&](size_t) { return walk += 1e6 + static_cast<double>(dice() % 1024); }),
            10.8);
}

TEST(BitpackVectorsTest, StreamsOfEarlierBuildsAreDecoded) {
  const std::string folder = std::string(CAIRN_VECTOR_FOLDER) + "/bitpack/";
  std::ifstream list(folder + "list.txt");
  std::string name;
  size_t size = 0;
  std::string hash;
  int count = 0;
  for (; list >> name >> size >> hash; ++count) {
    Buffer numbers(size);
    ASSERT_TRUE(IsOk(MakeBitpack()->Decompress(test::FileBytes(folder + name), numbers, {})))
        << name;
    EXPECT_EQ(absl::StrFormat("%016x", Xxh3(numbers)), hash) << name;
  }
  EXPECT_GT(count, 30);
}

TEST(BitpackDamageTest, VectorsOutsideTheColumnAreRefused) {
  const NumberType type = {NumberKind::kUint, 4};
  const Buffer numbers =
      Numbers(type, 3000, [](size_t i) { return static_cast<double>(i * i % 777); });
  const Buffer stream = Encode(type, numbers);
  constexpr size_t kHead = 1 + 2 + 1 + 1 + 2 + 2;
  constexpr size_t kEnds = kHead + 2;          // after the size of the column
  ASSERT_EQ(stream[kHead - 2], std::byte{1});  // the version of the format
  const auto refusal = [&](size_t at, uint32_t value) {
    Buffer damaged = stream;
    StoreLe(damaged.data() + at, value);
    Buffer back(numbers.size());
    return MakeBitpack()->Decompress(damaged, back, CallFor(type));
  };
  EXPECT_TRUE(IsDamage(refusal(kEnds, 1 << 20), "bitpack stream: vector from 0 to 1048576"));
  EXPECT_TRUE(IsDamage(refusal(kEnds, 5), "bitpack vector: "));
  EXPECT_TRUE(IsDamage(refusal(kEnds + 12, 0xFF), "bitpack vector: form at "));
}

}  // namespace
}  // namespace cairn::codec
