#include "engine/frame/index/chunk_diff.h"

#include <vector>

#include <gtest/gtest.h>

namespace cairn::frame {
namespace {

using Keys = std::vector<uint64_t>;
using Matches = std::vector<int64_t>;

TEST(MatchChunksTest, EqualSequencesMatchOneToOne) {
  EXPECT_EQ(MatchChunks(Keys{7, 8, 9}, Keys{7, 8, 9}), (Matches{0, 1, 2}));
  EXPECT_EQ(MatchChunks(Keys{}, Keys{}), Matches{});
}

TEST(MatchChunksTest, NewKeysMatchNothing) {
  EXPECT_EQ(MatchChunks(Keys{7, 8, 9}, Keys{7, 5, 9, 6}), (Matches{0, -1, 2, -1}));
}

TEST(MatchChunksTest, InsertsAndDeletesMoveWhatFollows) {
  EXPECT_EQ(MatchChunks(Keys{1, 2, 3, 4}, Keys{1, 9, 2, 3, 4}), (Matches{0, -1, 1, 2, 3}));
  EXPECT_EQ(MatchChunks(Keys{1, 2, 3, 4}, Keys{1, 3, 4}), (Matches{0, 2, 3}));
  EXPECT_EQ(MatchChunks(Keys{1, 2, 3, 4}, Keys{3, 4, 5}), (Matches{2, 3, -1}));
}

TEST(MatchChunksTest, NewOrderIsFound) {
  EXPECT_EQ(MatchChunks(Keys{1, 2, 3, 4}, Keys{4, 3, 2, 1}), (Matches{3, 2, 1, 0}));
}

TEST(MatchChunksTest, EachChunkMatchesOnce) {
  EXPECT_EQ(MatchChunks(Keys{5, 1}, Keys{1, 1, 1, 5, 5}), (Matches{-1, 1, -1, 0, -1}));
  EXPECT_EQ(MatchChunks(Keys{6, 6, 6}, Keys{6, 6, 6, 6}), (Matches{0, 1, 2, -1}));
}

}  // namespace
}  // namespace cairn::frame
