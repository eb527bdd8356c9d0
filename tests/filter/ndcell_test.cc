#include <vector>

#include <gtest/gtest.h>

#include "engine/filter/filters.h"
#include "tests/filter/test_blocks.h"
#include "tests/support/status.h"

namespace cairn::filter {
namespace {

constexpr FilterStage Cells(Filter filter, int side) {
  return {.filter = filter, .meta = static_cast<uint8_t>(side)};
}

TEST(NdCellTest, PutsTheElementsOfCutCellsBack) {
  // A block of 3 x 5 in cells of 2 x 2: each value says its place in the block.
  const std::vector<int32_t> shape = {3, 5};
  const auto src = MakeBytes({0, 1, 5, 6, 2, 3, 7, 8, 4, 9, 10, 11, 12, 13, 14});
  const auto expected = MakeBytes({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14});
  for (const Filter filter : {Filter::kNdCell, Filter::kNdMean}) {
    std::vector<std::byte> dst(src.size());
    ASSERT_TRUE(IsOk(CellsBackward(Cells(filter, 2), shape, 1, src, dst)));
    EXPECT_EQ(dst, expected);
  }
}

TEST(NdCellTest, MovesCompleteElements) {
  const std::vector<int32_t> shape = {2, 2, 2};
  const Block src = RandomBlock(8 * 3, 13);
  Block dst(8 * 3);
  // Cells of one element are in row-major order already, and so is one cell that is the block.
  for (const int side : {1, 2}) {
    ASSERT_TRUE(IsOk(CellsBackward(Cells(Filter::kNdCell, side), shape, 3, src, dst)));
    EXPECT_EQ(ToVector(dst), ToVector(src));
  }
}

TEST(NdCellTest, MeansClipTheirCellsToTheBlock) {
  const std::vector<int32_t> shape = {6, 1};
  const auto src = MakeBytes({0, 1, 2, 3, 4, 5});
  std::vector<std::byte> dst(src.size());
  ASSERT_TRUE(IsOk(CellsBackward(Cells(Filter::kNdMean, 4), shape, 1, src, dst)));
  EXPECT_EQ(dst, src);
  EXPECT_FALSE(CellsBackward(Cells(Filter::kNdCell, 4), shape, 1, src, dst).ok());
}

TEST(NdCellTest, ShapesThatDoNotFitAreDataLoss) {
  const Block src = RandomBlock(16, 14);
  Block dst(16);
  const std::vector<std::vector<int32_t>> shapes = {{3, 5},
                                                    {4, 5},
                                                    {-4, -4},
                                                    {0, 4},
                                                    {1 << 30, 1 << 30, 16},
                                                    {65536, 65536},
                                                    {1, 1, 1, 1, 1, 1, 1, 1, 16},
                                                    {}};
  for (const auto& shape : shapes) {
    const absl::Status status = CellsBackward(Cells(Filter::kNdCell, 1), shape, 1, src, dst);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  }
  for (const int side : {0, 255}) {
    EXPECT_FALSE(
        CellsBackward(Cells(Filter::kNdCell, side), std::vector<int32_t>{4, 4}, 1, src, dst).ok());
  }
  EXPECT_FALSE(
      CellsBackward(Cells(Filter::kNdMean, 200), std::vector<int32_t>{4, 4}, 1, src, dst).ok());
}

}  // namespace
}  // namespace cairn::filter
