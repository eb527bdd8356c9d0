// How arrays are cut where no shapes are given.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "engine/chunk/encode_options.h"
#include "engine/frame/array/array_geometry.h"
#include "engine/frame/array/array_options.h"
#include "tests/support/array_model.h"
#include "tests/support/status.h"

namespace cairn::frame {
namespace {

using test::ArrayMaker;

constexpr int32_t kMiB = 1 << 20;

CompressionOptions Of(int32_t typesize) {
  CompressionOptions options;
  options.typesize = typesize;
  return options;
}

ArrayInfo Choose(const std::vector<int64_t>& shape, int32_t typesize, int32_t chunksize = kMiB) {
  return ChooseShapes({.shape = shape, .chunkshape = {}, .blockshape = {}}, Of(typesize),
                      chunksize);
}

using Extents = std::vector<int32_t>;

TEST(ArrayShapesTest, CutsIntoCubes) {
  const ArrayInfo image = Choose({5000, 5000}, 4);
  EXPECT_EQ(image.chunkshape, (Extents{500, 500}));
  EXPECT_EQ(image.blockshape, (Extents{250, 250}));
  EXPECT_EQ(Choose({1000, 1000, 1000}, 4).chunkshape, (Extents{63, 63, 63}));
}

TEST(ArrayShapesTest, GivesOneChunkToASmallArray) {
  const ArrayInfo array = Choose({100, 30}, 8);
  EXPECT_EQ(array.chunkshape, (Extents{100, 30}));
  EXPECT_EQ(array.blockshape, (Extents{100, 30}));
}

TEST(ArrayShapesTest, GivesToLongDimensionsWhatShortOnesLeaveOver) {
  EXPECT_EQ(Choose({1'000'000, 3}, 4).chunkshape, (Extents{83334, 3}));
  EXPECT_EQ(Choose({3, 1'000'000}, 4).chunkshape, (Extents{3, 83334}));
  EXPECT_EQ(Choose({int64_t{1} << 40}, 1).chunkshape, (Extents{kMiB}));
}

TEST(ArrayShapesTest, TakesADimensionWithoutItemsForOneThatGrows) {
  EXPECT_EQ(Choose({0, 100}, 8).chunkshape, (Extents{1310, 100}));
  EXPECT_EQ(Choose({0}, 1).chunkshape, (Extents{kMiB}));
  EXPECT_EQ(Choose({0, 0}, 1).chunkshape, (Extents{1024, 1024}));
}

TEST(ArrayShapesTest, KeepsWhatIsGiven) {
  ArrayInfo array = {.shape = {1000, 1000}, .chunkshape = {10, 1000}, .blockshape = {}};
  EXPECT_EQ(ChooseShapes(array, Of(4), kMiB).chunkshape, (Extents{10, 1000}));
  array = {.shape = {5000, 5000}, .chunkshape = {}, .blockshape = {64, 64}};
  const ArrayInfo whole_blocks = ChooseShapes(array, Of(4), kMiB);
  EXPECT_EQ(whole_blocks.chunkshape, (Extents{512, 512}));
  EXPECT_EQ(whole_blocks.blockshape, (Extents{64, 64}));
}

TEST(ArrayShapesTest, LeavesAnArrayWithoutDimensionsAsItIs) {
  EXPECT_EQ(Choose({}, 4), (ArrayInfo{.shape = {}, .chunkshape = {}, .blockshape = {}}));
}

TEST(ArrayShapesTest, CutsItemsThatAreLargerThanChunksOneByOne) {
  const ArrayInfo array = Choose({5, 5}, 300, 100);
  EXPECT_EQ(array.chunkshape, (Extents{1, 1}));
  EXPECT_EQ(array.blockshape, (Extents{1, 1}));
}

TEST(ArrayShapesTest, AnyShapeFitsChunksAndBlocksOfTheSizeThatIsWanted) {
  ArrayMaker maker(1);
  for (int i = 0; i < 5000; ++i) {
    const int32_t typesize = 1 << maker.Between(0, 4);
    const auto chunksize = static_cast<int32_t>(int64_t{1} << maker.Between(4, 26));
    const auto ndim = static_cast<size_t>(maker.Between(1, kMaxDimensions));
    std::vector<int64_t> shape(ndim);
    int64_t nitems = 1;
    for (int64_t& extent : shape) {
      extent = int64_t{1} << maker.Between(0, 40 / static_cast<int64_t>(ndim));
      extent += maker.Between(0, extent);
      nitems *= extent;
    }
    const ArrayInfo array = Choose(shape, typesize, chunksize);
    SCOPED_TRACE(testing::PrintToString(array) + " of " + std::to_string(typesize) +
                 " in chunks of " + std::to_string(chunksize));
    const auto geometry = ArrayGeometry::Make(array, typesize);
    ASSERT_TRUE(IsOk(geometry));
    int64_t items = 1;
    for (size_t d = 0; d < ndim; ++d) {
      ASSERT_GE(array.chunkshape[d], 1);
      ASSERT_LE(array.chunkshape[d], shape[d]);
      ASSERT_LE(array.blockshape[d], array.chunkshape[d]);
      items *= array.chunkshape[d];
    }
    const int64_t most = std::max(chunksize / typesize, 1);
    ASSERT_LE(items, most);
    // Rounding to complete items loses at most half in each dimension, and mostly far less.
    ASSERT_GE(items << ndim, std::min(most, nitems));
    ASSERT_LE(geometry->blocksize(),
              std::max(chunk::ChooseBlockSize(Of(typesize), static_cast<int32_t>(items) * typesize),
                       typesize));
  }
}

TEST(ArrayShapesTest, RefusesADtypeThatNumPyDoesNotHave) {
  for (const char* dtype : {"f8x", "float7", "[('a', '<f9')]", "f8]"}) {
    CreateOptions options;
    options.compression.typesize = 8;
    options.array = ArrayInfo{.shape = {10}, .dtype = dtype};
    const auto resolved = ResolveArray(options);
    EXPECT_TRUE(Fails(resolved, absl::StatusCode::kInvalidArgument, "array: ")) << dtype;
  }
}

TEST(ArrayShapesTest, TakesAnyDtypeOfAnotherFormat) {
  CreateOptions options;
  options.compression.typesize = 8;
  options.array = ArrayInfo{.shape = {10}, .dtype = "Point", .dtype_format = 1};
  EXPECT_TRUE(IsOk(ResolveArray(options)));
}

}  // namespace
}  // namespace cairn::frame
