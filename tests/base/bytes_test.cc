#include "engine/base/bytes.h"

#include <string>

#include <gtest/gtest.h>

#include "engine/base/checked.h"

namespace cairn {
namespace {

TEST(IsRunTest, SeesTheOneByteThatDiffers) {
  EXPECT_FALSE(IsRun({}));
  EXPECT_TRUE(IsRun(AsBytes("x")));
  std::string text(1000, 'x');
  EXPECT_TRUE(IsRun(AsBytes(text)));
  for (const size_t at : {0, 1, 500, 999}) {
    std::string other = text;
    other[at] = 'y';
    EXPECT_FALSE(IsRun(AsBytes(other))) << at;
  }
}

TEST(CheckedTest, RangesFitOnlyWithoutWrapping) {
  EXPECT_TRUE(RangeFits(0, 10, 10));
  EXPECT_TRUE(RangeFits(10, 0, 10));
  EXPECT_FALSE(RangeFits(1, 10, 10));
  EXPECT_FALSE(RangeFits(-1, 1, 10));
  EXPECT_FALSE(RangeFits(INT64_MAX, INT64_MAX, INT64_MAX));
}

TEST(CheckedTest, OverflowIsEmpty) {
  EXPECT_EQ(CheckedAdd<int32_t>(INT32_MAX, 1), std::nullopt);
  EXPECT_EQ(CheckedMul<int64_t>(int64_t{1} << 40, int64_t{1} << 40), std::nullopt);
  EXPECT_EQ(CheckedMul<int64_t>(6, 7), 42);
}

}  // namespace
}  // namespace cairn
