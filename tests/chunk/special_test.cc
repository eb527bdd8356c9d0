#include "engine/chunk/special.h"

#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/hex.h"
#include "tests/support/status.h"

namespace cairn::chunk {
namespace {

SpecialContent Valueless(SpecialValue kind, int32_t typesize = 1) {
  return {.kind = kind, .typesize = typesize, .value = {}};
}

std::string Filled(const SpecialContent& content, int64_t begin, size_t size) {
  std::vector<std::byte> dst(size, std::byte{0xEE});
  const absl::Status status = FillSpecial(content, begin, dst);
  EXPECT_TRUE(IsOk(status));
  return ToHex(dst);
}

TEST(FillSpecialTest, ZerosAndUninitialisedReadAsZeros) {
  EXPECT_EQ(Filled(Valueless(SpecialValue::kZeros), 5, 4), "00000000");
  EXPECT_EQ(Filled(Valueless(SpecialValue::kUninit), 5, 4), "00000000");
}

TEST(FillSpecialTest, NansAreThePositiveQuietOnes) {
  EXPECT_EQ(Filled(Valueless(SpecialValue::kNans, 4), 0, 8), "0000c07f0000c07f");
  EXPECT_EQ(Filled(Valueless(SpecialValue::kNans, 8), 0, 8), "000000000000f87f");
  EXPECT_EQ(Filled(Valueless(SpecialValue::kNans, 4), 6, 3), "c07f00");
}

TEST(FillSpecialTest, OtherTypesizesHaveNoNan) {
  std::byte dst[4];
  for (const int32_t typesize : {1, 2, 3, 5, 16, 255}) {
    EXPECT_TRUE(
        IsDamage(FillSpecial(Valueless(SpecialValue::kNans, typesize), 0, dst), "typesize"));
  }
}

TEST(FillSpecialTest, RepeatsAValueFromAnyPhase) {
  const std::vector<std::byte> value = Hex("01 02 03");
  const SpecialContent content = {.kind = SpecialValue::kRepeat, .value = value};
  for (int64_t begin = 0; begin < 7; ++begin) {
    for (size_t size = 0; size < 20; ++size) {
      std::vector<std::byte> expected(size);
      for (size_t i = 0; i < size; ++i) {
        expected[i] = value[(static_cast<size_t>(begin) + i) % 3];
      }
      EXPECT_EQ(Filled(content, begin, size), ToHex(expected)) << begin << " " << size;
    }
  }
}

TEST(FillSpecialTest, RepeatsTheFirstPartOfAWideValue) {
  EXPECT_EQ(Filled({.kind = SpecialValue::kRepeat, .value = Hex("0102030405")}, 3, 3), "040501");
}

TEST(FillSpecialTest, CountsFromFarPositions) {
  const auto value = Hex("00 01 02 03 04 05 06");
  EXPECT_EQ(Filled({.kind = SpecialValue::kRepeat, .value = value}, 2147483614, 2), "0304")
      << "2147483614 is 3 modulo 7";
}

TEST(FillSpecialTest, RefusesAnEmptyValue) {
  std::byte dst[4];
  EXPECT_TRUE(IsDamage(FillSpecial(Valueless(SpecialValue::kRepeat), 0, dst), "value is empty"));
}

}  // namespace
}  // namespace cairn::chunk
