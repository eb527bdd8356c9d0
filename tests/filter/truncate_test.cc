#include <vector>

#include <gtest/gtest.h>

#include "engine/filter/filters.h"
#include "tests/filter/test_blocks.h"

namespace cairn::filter {
namespace {

int Bits(Filter filter, int meta, int32_t typesize) {
  const auto bits = BitsToClear({.filter = filter, .meta = static_cast<uint8_t>(meta)}, typesize);
  if (bits.ok()) return *bits;
  EXPECT_EQ(bits.status().code(), absl::StatusCode::kInvalidArgument);
  return -1;
}

TEST(TruncateTest, PositivePrecisionIsKeptAndNegativeIsCleared) {
  EXPECT_EQ(Bits(Filter::kTruncPrec, 10, 4), 13);
  EXPECT_EQ(Bits(Filter::kTruncPrec, -10, 4), 10);
  EXPECT_EQ(Bits(Filter::kTruncPrec, 52, 8), 0);
  EXPECT_EQ(Bits(Filter::kIntTrunc, 10, 2), 6);
  EXPECT_EQ(Bits(Filter::kIntTrunc, -63, 8), 63);
  EXPECT_EQ(Bits(Filter::kIntTrunc, 8, 1), 0);
}

TEST(TruncateTest, ParametersOutsideTheFormatAreRefused) {
  for (const int meta : {0, 24, -23, -24, 127, -128}) {
    EXPECT_EQ(Bits(Filter::kTruncPrec, meta, 4), -1) << meta;
  }
  for (const int meta : {0, 53, -52}) EXPECT_EQ(Bits(Filter::kTruncPrec, meta, 8), -1) << meta;
  for (const int meta : {0, 17, -16}) EXPECT_EQ(Bits(Filter::kIntTrunc, meta, 2), -1) << meta;
  for (const int typesize : {1, 2, 3, 16}) {
    EXPECT_EQ(Bits(Filter::kTruncPrec, 5, typesize), -1) << typesize;
  }
  for (const int typesize : {3, 16}) {
    EXPECT_EQ(Bits(Filter::kIntTrunc, 5, typesize), -1) << typesize;
  }
}

TEST(TruncateTest, ClearsTheLowBitsOfCompleteElementsOnly) {
  const std::vector<std::byte> ones(11, std::byte{0xff});
  std::vector<std::byte> dst(11);
  ClearLowBits(4, 12, ones, dst);
  EXPECT_EQ(dst, MakeBytes({0, 0xf0, 255, 255, 0, 0xf0, 255, 255, 255, 255, 255}));
  ClearLowBits(1, 3, ones, dst);
  EXPECT_EQ(dst, std::vector<std::byte>(11, std::byte{0xf8}));
  ClearLowBits(8, 63, ones, dst);
  EXPECT_EQ(dst, MakeBytes({0, 0, 0, 0, 0, 0, 0, 0x80, 255, 255, 255}));
  ClearLowBits(2, 9, ones, dst);
  EXPECT_EQ(dst, MakeBytes({0, 0xfe, 0, 0xfe, 0, 0xfe, 0, 0xfe, 0, 0xfe, 255}));
}

TEST(TruncateTest, NanStaysNan) {
  // NaN with the lowest bit of the fraction, and with its sign; R's NA is such a one.
  std::vector<std::byte> dst(8);
  ClearLowBitsOfFloats(4, 13, MakeBytes({1, 0, 0x80, 0x7f, 1, 0, 0x80, 0xff}), dst);
  EXPECT_EQ(dst, MakeBytes({0, 0, 0xc0, 0x7f, 0, 0, 0xc0, 0xff}));
  ClearLowBitsOfFloats(8, 42, MakeBytes({0xa2, 7, 0, 0, 0, 0, 0xf0, 0x7f}), dst);
  EXPECT_EQ(dst, MakeBytes({0, 0, 0, 0, 0, 0, 0xf8, 0x7f}));
  // The others are cleared alone: a NaN of which a bit is left, infinity, and a number.
  ClearLowBitsOfFloats(4, 13, MakeBytes({1, 0, 0xa0, 0x7f, 0, 0, 0x80, 0x7f}), dst);
  EXPECT_EQ(dst, MakeBytes({0, 0, 0xa0, 0x7f, 0, 0, 0x80, 0x7f}));
  ClearLowBitsOfFloats(4, 22, MakeBytes({255, 255, 0x7f, 0x7f, 1, 2, 3, 4}), dst);
  EXPECT_EQ(dst, MakeBytes({0, 0, 0x40, 0x7f, 0, 0, 0, 4}));
}

}  // namespace
}  // namespace cairn::filter
