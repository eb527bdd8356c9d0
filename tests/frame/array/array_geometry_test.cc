#include "engine/frame/array/array_geometry.h"

#include <limits>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/status.h"

namespace cairn::frame {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int32_t kMax32 = std::numeric_limits<int32_t>::max();

// Shape 5 x 7, chunks of 3 x 5, blocks of 2 x 3.
ArrayGeometry Example() {
  return *ArrayGeometry::Make({.shape = {5, 7}, .chunkshape = {3, 5}, .blockshape = {2, 3}}, 1);
}

using Numbers = std::vector<int64_t>;

// The chunks that a box touches.
Numbers ChunksOf(const ArrayGeometry& geometry, const Box& box) {
  Numbers chunks;
  EXPECT_TRUE(geometry
                  .ForEachChunk(box,
                                [&](const ChunkPart& part) {
                                  chunks.push_back(part.nchunk);
                                  return absl::OkStatus();
                                })
                  .ok());
  return chunks;
}

// in_chunk, in_box and nbytes of all runs, one after the other.
Numbers RunsOf(const ArrayGeometry& geometry, const Box& box) {
  Numbers runs;
  EXPECT_TRUE(geometry
                  .ForEachChunk(box,
                                [&](const ChunkPart& part) {
                                  return geometry.ForEachRun(box, part, [&](const Run& run) {
                                    runs.insert(runs.end(), {run.in_chunk, run.in_box, run.nbytes});
                                    return absl::OkStatus();
                                  });
                                })
                  .ok());
  return runs;
}

TEST(ArrayGeometryTest, CountsPaddingOfChunksAndBlocks) {
  const ArrayGeometry geometry = Example();
  EXPECT_EQ(geometry.nchunks(), 4);
  EXPECT_EQ(geometry.chunksize(), 24);
  EXPECT_EQ(geometry.blocksize(), 6);
}

TEST(ArrayGeometryTest, VisitsOnlyTouchedChunks) {
  const ArrayGeometry geometry = Example();
  EXPECT_EQ(ChunksOf(geometry, {{0, 0}, {3, 5}}), (Numbers{0}));
  EXPECT_EQ(ChunksOf(geometry, {{2, 0}, {2, 5}}), (Numbers{0, 2}));
  EXPECT_EQ(ChunksOf(geometry, {{0, 0}, {5, 7}}), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(ChunksOf(geometry, {{2, 3}, {1, 0}}), Numbers{});
}

TEST(ArrayGeometryTest, FindsRowsInTheirBlocks) {
  // Rows 1 and 2, columns 2 to 4: they cut all four blocks of chunk 0.
  EXPECT_EQ(RunsOf(Example(), {{1, 2}, {2, 3}}),
            (Numbers{5, 0, 1, /**/ 9, 1, 2, /**/ 14, 3, 1, /**/ 18, 4, 2}));
}

TEST(ArrayGeometryTest, JoinsRowsThatLieSideBySide) {
  const ArrayGeometry geometry =
      *ArrayGeometry::Make({.shape = {8, 6}, .chunkshape = {4, 6}, .blockshape = {2, 6}}, 2);
  EXPECT_EQ(RunsOf(geometry, {{1, 0}, {5, 6}}),
            (Numbers{12, 0, 12, /**/ 24, 12, 24, /**/ 0, 36, 24}));
}

// Compares with the runs of all boxes of an array.
void ExpectPositionsOfRuns(const ArrayGeometry& geometry) {
  const Index& shape = geometry.shape();
  for (Box box{}; box.start[0] < shape[0]; ++box.start[0]) {
    for (box.start[1] = 0; box.start[1] < shape[1]; ++box.start[1]) {
      for (box.shape[0] = 0; box.start[0] + box.shape[0] <= shape[0]; ++box.shape[0]) {
        for (box.shape[1] = 0; box.start[1] + box.shape[1] <= shape[1]; ++box.shape[1]) {
          const Numbers runs = RunsOf(geometry, box);
          std::optional<int64_t> expected;
          if (runs.size() == 3) {
            expected = ChunksOf(geometry, box)[0] * geometry.chunksize() + runs[0];
          }
          EXPECT_EQ(geometry.PositionOfRun(box), expected)
              << box.start[0] << " " << box.start[1] << ", " << box.shape[0] << " x "
              << box.shape[1];
        }
      }
    }
  }
}

TEST(ArrayGeometryTest, FindsTheOnlyRunOfABox) {
  ExpectPositionsOfRuns(Example());
  ExpectPositionsOfRuns(
      *ArrayGeometry::Make({.shape = {8, 6}, .chunkshape = {4, 6}, .blockshape = {2, 6}}, 2));
  ExpectPositionsOfRuns(
      *ArrayGeometry::Make({.shape = {6, 4}, .chunkshape = {6, 1}, .blockshape = {3, 1}}, 4));
}

TEST(ArrayGeometryTest, SaysWhetherAPartIsAllThatAChunkHolds) {
  std::vector<bool> all;
  const Box box{{0, 0}, {4, 7}};
  ASSERT_TRUE(Example()
                  .ForEachChunk(box,
                                [&](const ChunkPart& part) {
                                  all.push_back(part.all_items);
                                  return absl::OkStatus();
                                })
                  .ok());
  EXPECT_EQ(all, (std::vector<bool>{true, true, false, false}));
}

TEST(ArrayGeometryTest, StopsAtTheFirstError) {
  int visits = 0;
  const absl::Status status = Example().ForEachChunk({{0, 0}, {5, 7}}, [&](const ChunkPart&) {
    return ++visits == 2 ? absl::DataLossError("two") : absl::OkStatus();
  });
  EXPECT_TRUE(IsDamage(status, "two"));
  EXPECT_EQ(visits, 2);
}

TEST(ArrayGeometryTest, TakesAnArrayWithoutDimensionsForOneItem) {
  const auto geometry = ArrayGeometry::Make({.shape = {}, .chunkshape = {}, .blockshape = {}}, 4);
  ASSERT_TRUE(IsOk(geometry));
  EXPECT_EQ(geometry->nchunks(), 1);
  EXPECT_EQ(geometry->chunksize(), 4);
  const auto box = geometry->MakeBox({}, {});
  ASSERT_TRUE(IsOk(box));
  EXPECT_EQ(RunsOf(*geometry, *box), (Numbers{0, 0, 4}));
}

TEST(ArrayGeometryTest, ChecksBoxes) {
  const ArrayGeometry geometry = Example();
  const auto make = [&](Numbers start, Numbers shape) { return geometry.MakeBox(start, shape); };
  EXPECT_TRUE(IsOk(make({5, 7}, {0, 0})));
  EXPECT_TRUE(Fails(make({0}, {1, 1}), absl::StatusCode::kInvalidArgument, "start of 1"));
  EXPECT_TRUE(Fails(make({0, 0}, {1, 1, 1}), absl::StatusCode::kInvalidArgument, "shape of 3"));
  for (const auto& [start, n] : {std::pair<int64_t, int64_t>{-1, 1},
                                 {0, -1},
                                 {0, 8},
                                 {7, 1},
                                 {8, 0},
                                 {kMax, 1},
                                 {1, kMax}}) {
    EXPECT_TRUE(Fails(make({0, start}, {1, n}), absl::StatusCode::kOutOfRange, "dimension 1"));
  }
}

TEST(ArrayGeometryTest, RefusesShapesThatNoFrameCanHave) {
  const auto refuses = [](const ArrayInfo& array, int32_t typesize, std::string_view part) {
    return Fails(ArrayGeometry::Make(array, typesize), absl::StatusCode::kInvalidArgument, part);
  };
  EXPECT_TRUE(refuses({{5}, {3, 3}, {1}}, 1, "shape has 1 dimensions, chunkshape 2, blockshape 1"));
  EXPECT_TRUE(refuses({{-1}, {3}, {1}}, 1, "dimension 0 has shape -1"));
  EXPECT_TRUE(refuses({{1, 1}, {1, 0}, {1, 1}}, 1, "dimension 1 has shape 1, chunks of 0"));
  EXPECT_TRUE(refuses({{1}, {1}, {-1}}, 1, "blocks of -1"));
  EXPECT_TRUE(refuses({{9}, {kMax32}, {1}}, 1, "over 2147483"));
  EXPECT_TRUE(refuses({{9, 9}, {1 << 16, 1 << 16}, {1, 1}}, 1, "over 2147483"));
  EXPECT_TRUE(refuses({{9}, {1 << 20}, {1 << 20}}, 1 << 12, "over 2147483"));
  EXPECT_TRUE(refuses({{9, 9, 9}, {kMax32, kMax32, kMax32}, {kMax32, kMax32, kMax32}}, 1, "over"));
  // The padding alone is too much.
  EXPECT_TRUE(refuses({{9}, {(1 << 30) + 1}, {1 << 30}}, 1, "over 2147483"));
  EXPECT_TRUE(refuses({{kMax, 2}, {1, 1}, {1, 1}}, 1, "over 2^63"));
  EXPECT_TRUE(refuses({{kMax}, {1}, {1}}, 2, "over 2^63"));
  EXPECT_TRUE(refuses({{kMax}, {1 << 20}, {1 << 20}}, 1, "over 2^63")) << "padded";
  EXPECT_TRUE(IsOk(ArrayGeometry::Make({{kMax}, {1}, {1}}, 1)));
  const std::vector<int64_t> many(17, 1);
  const std::vector<int32_t> many32(17, 1);
  EXPECT_TRUE(Fails(ArrayGeometry::Make({many, many32, many32}, 1),
                    absl::StatusCode::kUnimplemented, "17 dimensions, at most 16"));
}

TEST(ArrayGeometryTest, AcceptsDimensionsWithoutItems) {
  for (const ArrayInfo& array : {ArrayInfo{{0, 7}, {3, 5}, {2, 3}},
                                 ArrayInfo{{7, 0}, {3, 0}, {2, 0}}, ArrayInfo{{0}, {0}, {3}}}) {
    const auto geometry = ArrayGeometry::Make(array, 4);
    ASSERT_TRUE(IsOk(geometry));
    EXPECT_EQ(geometry->nchunks(), 0);
    const auto box = geometry->MakeBox(Numbers(array.shape.size(), 0), array.shape);
    ASSERT_TRUE(IsOk(box));
    EXPECT_EQ(geometry->NbytesOf(*box), 0);
    EXPECT_EQ(ChunksOf(*geometry, *box), Numbers{});
  }
}

}  // namespace
}  // namespace cairn::frame
