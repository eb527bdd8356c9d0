#include <vector>

#include <gtest/gtest.h>

#include "engine/filter/filters.h"
#include "tests/filter/test_blocks.h"

namespace cairn::filter {
namespace {

TEST(ByteDeltaTest, EachChannelStartsAnewAndTheRestIsCopied) {
  const auto src = MakeBytes({1, 3, 6, 250, 4, 4, 77});
  std::vector<std::byte> dst(src.size());
  ByteDeltaForward(2, src, dst);
  EXPECT_EQ(dst, MakeBytes({1, 2, 3, 250, 10, 0, 77}));
}

TEST(ByteDeltaTest, RoundTripsOnEveryTarget) {
  ForEachTarget([] {
    for (const int channels : kTypesizes) {
      for (const size_t size : {0, 1, 15, 16, 17, 47, 48, 49, 255, 1000, 40001}) {
        const Block src = RandomBlock(size, 10, 1);
        Block filtered = RandomBlock(size, 11, 2);
        Block back = RandomBlock(size, 12, 3);
        ByteDeltaForward(static_cast<size_t>(channels), src, filtered);
        ByteDeltaBackward(static_cast<size_t>(channels), filtered, back);
        ASSERT_EQ(ToVector(back), ToVector(src)) << channels << " channels, size " << size;
      }
    }
  });
}

TEST(ByteDeltaTest, BuggyOneRestartsWhereSixteenBytesAreNoMore) {
  // Two channels of 19 bytes: the running sum of ones starts again after 16.
  const std::vector<std::byte> ones(39, std::byte{1});
  std::vector<std::byte> expected;
  for (int channel = 0; channel < 2; ++channel) {
    for (int i = 1; i <= 16; ++i) expected.push_back(static_cast<std::byte>(i));
    for (int i = 1; i <= 3; ++i) expected.push_back(static_cast<std::byte>(i));
  }
  expected.push_back(std::byte{1});
  ForEachTarget([&] {
    std::vector<std::byte> dst(ones.size());
    ByteDeltaBuggyBackward(2, ones, dst);
    EXPECT_EQ(dst, expected);
  });
}

}  // namespace
}  // namespace cairn::filter
