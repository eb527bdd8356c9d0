// The arithmetic of arrays that change their shape.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "engine/frame/array/array_geometry.h"
#include "tests/support/array_model.h"

namespace cairn::frame {
namespace {

using test::ArrayMaker;
using Numbers = std::vector<int64_t>;

ArrayGeometry Of(const std::vector<int64_t>& shape, const std::vector<int32_t>& chunkshape) {
  return *ArrayGeometry::Make({.shape = shape, .chunkshape = chunkshape, .blockshape = chunkshape},
                              1);
}

// For each chunk of `to` the number that it had in `from`, or -1: found cell by cell.
Numbers ExpectedChunks(const ArrayGeometry& from, const ArrayGeometry& to) {
  Numbers chunks;
  for (int64_t n = 0; n < to.nchunks(); ++n) {
    Index cell{};
    int64_t rest = n;
    for (size_t d = to.ndim(); d-- > 0;) {
      cell[d] = rest % to.chunk_grid()[d];
      rest /= to.chunk_grid()[d];
    }
    int64_t number = 0;
    for (size_t d = 0; d < to.ndim(); ++d) {
      if (cell[d] >= from.chunk_grid()[d]) number = -1;
      if (number >= 0) number = number * from.chunk_grid()[d] + cell[d];
    }
    chunks.push_back(number);
  }
  return chunks;
}

Numbers EditedChunks(const ArrayGeometry& from, const ArrayGeometry& to, int64_t* edits) {
  Numbers chunks;
  for (int64_t n = 0; n < from.nchunks(); ++n) chunks.push_back(n);
  ResizeGrid(
      from, to,
      [&](int64_t first, int64_t count) {
        ++*edits;
        ASSERT_LE(first + count, std::ssize(chunks));
        chunks.erase(chunks.begin() + first, chunks.begin() + first + count);
      },
      [&](int64_t first, int64_t count) {
        ++*edits;
        ASSERT_LE(first, std::ssize(chunks));
        chunks.insert(chunks.begin() + first, static_cast<size_t>(count), -1);
        ASSERT_LE(std::ssize(chunks), std::max(from.nchunks(), to.nchunks()));
      });
  return chunks;
}

TEST(ArrayResizeTest, ChunksComeAndGoWhereTheirCellsDo) {
  ArrayMaker maker(1);
  for (int i = 0; i < 2000; ++i) {
    const auto ndim = static_cast<size_t>(maker.Between(1, 4));
    std::vector<int32_t> chunkshape(ndim);
    std::vector<int64_t> before(ndim);
    std::vector<int64_t> after(ndim);
    for (size_t d = 0; d < ndim; ++d) {
      chunkshape[d] = static_cast<int32_t>(maker.Between(1, 4));
      before[d] = maker.Between(0, 12);
      after[d] = maker.Between(0, 3) == 0 ? before[d] : maker.Between(0, 12);
    }
    const ArrayGeometry from = Of(before, chunkshape);
    const ArrayGeometry to = Of(after, chunkshape);
    int64_t edits = 0;
    ASSERT_EQ(EditedChunks(from, to, &edits), ExpectedChunks(from, to)) << i;
  }
}

TEST(ArrayResizeTest, TakesFewRunsWhereTheyAreLong) {
  int64_t edits = 0;
  EditedChunks(Of({100, 100}, {1, 1}), Of({50, 100}, {1, 1}), &edits);
  EXPECT_EQ(edits, 1);
  EditedChunks(Of({100, 100}, {1, 1}), Of({150, 100}, {1, 1}), &edits);
  EXPECT_EQ(edits, 2);
}

TEST(ArrayResizeTest, NeverMultipliesWhatNoArrayHas) {
  constexpr int64_t kMany = int64_t{1} << 40;
  int64_t edits = 0;
  EXPECT_EQ(EditedChunks(Of({0, kMany, kMany}, {1, 1, 1}), Of({2, 1, 1}, {1, 1, 1}), &edits),
            (Numbers{-1, -1}));
  EXPECT_EQ(EditedChunks(Of({2, 1, 1}, {1, 1, 1}), Of({0, kMany, kMany}, {1, 1, 1}), &edits),
            Numbers{});
  EXPECT_EQ(edits, 2);
}

TEST(ArrayResizeTest, FindsEachChunkOfWhichMoreOrLessIsSeen) {
  ArrayMaker maker(2);
  for (int i = 0; i < 500; ++i) {
    const auto ndim = static_cast<size_t>(maker.Between(1, 3));
    std::vector<int32_t> chunkshape(ndim);
    std::vector<int64_t> before(ndim);
    std::vector<int64_t> after(ndim);
    for (size_t d = 0; d < ndim; ++d) {
      chunkshape[d] = static_cast<int32_t>(maker.Between(1, 4));
      before[d] = maker.Between(0, 9);
      after[d] = maker.Between(0, 2) == 0 ? before[d] : maker.Between(0, 9);
    }
    const ArrayGeometry from = Of(before, chunkshape);
    const ArrayGeometry to = Of(after, chunkshape);
    // By the items that each chunk shows before and after.
    Numbers expected;
    for (int64_t n = 0; n < from.nchunks(); ++n) {
      int64_t rest = n;
      bool kept = true;
      bool cut = false;
      for (size_t d = ndim; d-- > 0;) {
        const int64_t begin = rest % from.chunk_grid()[d] * chunkshape[d];
        rest /= from.chunk_grid()[d];
        kept = kept && begin < after[d];
        cut = cut || std::min<int64_t>(before[d] - begin, chunkshape[d]) !=
                         std::min<int64_t>(after[d] - begin, chunkshape[d]);
      }
      if (kept && cut) expected.push_back(n);
    }
    Numbers found;
    for (const Box& box : KeptOfCutChunks(from, to)) {
      ASSERT_TRUE(from.ForEachChunk(box,
                                    [&](const ChunkPart& part) {
                                      found.push_back(part.nchunk);
                                      return absl::OkStatus();
                                    })
                      .ok());
    }
    std::ranges::sort(found);
    ASSERT_EQ(found, expected) << i;
  }
}

}  // namespace
}  // namespace cairn::frame
