#include <cmath>
#include <numeric>
#include <random>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/endian.h"
#include "engine/filter/filters.h"
#include "tests/filter/test_blocks.h"
#include "tests/support/status.h"

namespace cairn::filter {
namespace {

constexpr FilterStage Cells(Filter filter, int side) {
  return {.filter = filter, .meta = static_cast<uint8_t>(side)};
}

using Shape = std::vector<int32_t>;

size_t CountOf(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), size_t{1},
                         [](size_t count, int32_t extent) { return count * size_t(extent); });
}

// Returns the number of the cell that holds each element of a block, in row-major order.
std::vector<size_t> CellOfEach(const Shape& shape, int side) {
  std::vector<size_t> cells;
  for (size_t element = 0; element < CountOf(shape); ++element) {
    size_t rest = element;
    size_t cell = 0;
    size_t scale = 1;
    for (size_t d = shape.size(); d-- > 0;) {
      const auto extent = static_cast<size_t>(shape[d]);
      cell += rest % extent / static_cast<size_t>(side) * scale;
      scale *= (extent + static_cast<size_t>(side) - 1) / static_cast<size_t>(side);
      rest /= extent;
    }
    cells.push_back(cell);
  }
  return cells;
}

// Returns floats that differ in size so much that the order of additions shows in their sums.
template <typename T>
std::vector<std::byte> Floats(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(count * sizeof(T));
  for (size_t i = 0; i < count; ++i) {
    const T value = std::ldexp(static_cast<T>(static_cast<int32_t>(random())),
                               static_cast<int>(random() % 40) - 40);
    StoreLe(&bytes[i * sizeof(T)], value);
  }
  return bytes;
}

// Returns a block whose elements are the means of their cells, computed one by one.
template <typename T>
std::vector<std::byte> MeansOf(const Shape& shape, int side, Bytes block) {
  const std::vector<size_t> cells = CellOfEach(shape, side);
  std::vector<T> sums(cells.size());
  std::vector<size_t> counts(cells.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    sums[cells[i]] += LoadLe<T>(&block[i * sizeof(T)]);
    ++counts[cells[i]];
  }
  std::vector<std::byte> means(block.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    StoreLe(&means[i * sizeof(T)], sums[cells[i]] / static_cast<T>(counts[cells[i]]));
  }
  return means;
}

TEST(NdCellTest, StoresTheElementsOfCutCellsTogether) {
  // A block of 3 x 5 in cells of 2 x 2: each value says its place in the block.
  const auto src = MakeBytes({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14});
  std::vector<std::byte> dst(src.size());
  ASSERT_TRUE(IsOk(CellsForward(Cells(Filter::kNdCell, 2), Shape{3, 5}, 1, src, dst)));
  EXPECT_EQ(dst, MakeBytes({0, 1, 5, 6, 2, 3, 7, 8, 4, 9, 10, 11, 12, 13, 14}));
}

TEST(NdCellTest, RoundTripsItemsOfAnySize) {
  const std::vector<Shape> shapes = {{1},     {7},       {64},         {9, 16},         {16, 9},
                                     {3, 40}, {4, 5, 6}, {2, 3, 4, 5}, {2, 2, 2, 2, 3}, {5, 1, 7}};
  for (size_t typesize = 1; typesize <= 16; ++typesize) {
    for (const Shape& shape : shapes) {
      const size_t size = CountOf(shape) * typesize;
      const Block src = RandomBlock(size, static_cast<uint32_t>(size));
      for (const int side : {1, 2, 3, 4, 5, 7}) {
        const FilterStage stage = Cells(Filter::kNdCell, side);
        if (!CheckCells(stage, shape, typesize, size).ok()) continue;
        Block cells(size);
        Block back(size);
        ASSERT_TRUE(IsOk(CellsForward(stage, shape, typesize, src, cells)));
        ASSERT_TRUE(IsOk(CellsBackward(stage, shape, typesize, cells, back)));
        ASSERT_EQ(ToVector(back), ToVector(src)) << typesize << " " << shape.size() << " " << side;
      }
    }
  }
}

template <typename T>
void ExpectMeans() {
  const std::vector<Shape> shapes = {{1},     {37},      {16, 16},     {9, 16},
                                     {30, 7}, {4, 5, 6}, {5, 5, 5, 5}, {4, 4, 4, 4, 4}};
  for (const Shape& shape : shapes) {
    for (const int side : {1, 2, 3, 4, 127}) {
      const FilterStage stage = Cells(Filter::kNdMean, side);
      const size_t size = CountOf(shape) * sizeof(T);
      if (!CheckCells(stage, shape, sizeof(T), size).ok()) continue;
      const auto src = Floats<T>(CountOf(shape), static_cast<uint32_t>(size));
      Block cells(size);
      Block back(size);
      ASSERT_TRUE(IsOk(CellsForward(stage, shape, sizeof(T), src, cells)));
      ASSERT_TRUE(IsOk(CellsBackward(stage, shape, sizeof(T), cells, back)));
      ASSERT_EQ(ToVector(back), MeansOf<T>(shape, side, src)) << shape.size() << " " << side;
    }
  }
}

TEST(NdCellTest, MeansAreThoseOfTheCells) {
  ExpectMeans<float>();
  ExpectMeans<double>();
}

TEST(NdCellTest, RefusesCellsThatNobodyCouldDecode) {
  const auto refuses = [](FilterStage stage, const Shape& shape, size_t typesize,
                          std::string_view part) {
    const size_t size = CountOf(shape) * typesize;
    std::vector<std::byte> src(size);
    std::vector<std::byte> dst(size);
    return Fails(CheckCells(stage, shape, typesize, size), absl::StatusCode::kInvalidArgument,
                 part) &&
           Fails(CellsForward(stage, shape, typesize, src, dst), absl::StatusCode::kInvalidArgument,
                 part);
  };
  const FilterStage cells = Cells(Filter::kNdCell, 4);
  EXPECT_TRUE(refuses(Cells(Filter::kNdCell, 0), {8, 8}, 4, "cell side 0"));
  EXPECT_TRUE(refuses(Cells(Filter::kNdMean, 0), {8, 8}, 4, "cell side 0"));
  EXPECT_TRUE(refuses(Cells(Filter::kNdMean, 128), {8, 8}, 4, "cell side -128"));
  EXPECT_TRUE(refuses(cells, {3, 3}, 4, "cells of 16 elements in a block of 9"));
  EXPECT_TRUE(refuses(cells, {}, 4, "0 dimensions"));
  EXPECT_TRUE(refuses(cells, Shape(9, 1), 4, "9 dimensions"));
  const FilterStage means = Cells(Filter::kNdMean, 4);
  EXPECT_TRUE(refuses(means, {8, 8}, 2, "typesize: expected 4 or 8, got 2"));
  // C-Blosc2 would write what it cannot decode.
  EXPECT_TRUE(refuses(means, {3, 8}, 4, "blockshape 3 x 8: expected 4 or more"));
  EXPECT_TRUE(IsOk(CheckCells(means, Shape{3, 4}, 4, 48)));
  EXPECT_TRUE(IsOk(CheckCells(means, Shape{8, 3}, 4, 96)));
  EXPECT_TRUE(Fails(CheckCells(cells, Shape{8, 8}, 4, 255), absl::StatusCode::kInvalidArgument,
                    "a block of 255 bytes"));
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
