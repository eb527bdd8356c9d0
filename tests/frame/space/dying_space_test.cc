#include "engine/frame/space/dying_space.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace cairn::frame {
namespace {

using format::DeadExtent;

// The index begins at 1000, and its journal began after checkpoint 3.
DyingSpace WithChunks(std::vector<Extent> in_journal) {
  DyingSpace dying(1000, 3);
  for (const Extent& chunk : in_journal) dying.PlaceInJournal(chunk);
  return dying;
}

DeadExtent Dead(Extent bytes, uint64_t born, uint64_t died) {
  return {.bytes = bytes, .born = born, .died = died};
}

TEST(DyingSpaceTest, JournalDiesExceptChunksThatLiveInIt) {
  DyingSpace dying = WithChunks({{1200, 1250}, {1100, 1150}});
  EXPECT_EQ(dying.BytesInJournal(1300), 200);
  dying.MarkDying({1100, 1150}, {});
  EXPECT_EQ(dying.BytesInJournal(1300), 250);
  EXPECT_EQ(dying.Bytes(1300), 250);
  dying.Check();
  EXPECT_EQ(dying.DeadAfter({}, 7, 1300),
            (std::vector<DeadExtent>{Dead({1000, 1200}, 3, 7), Dead({1250, 1300}, 3, 7)}));
}

TEST(DyingSpaceTest, ChunksBeforeTheIndexDieWithTheirBirths) {
  DyingSpace dying = WithChunks({});
  Births births;
  births.Set({100, 200}, 2);
  dying.MarkDying({100, 150}, births);
  dying.MarkDying({500, 550}, births);
  EXPECT_EQ(dying.Bytes(1100), 200);
  EXPECT_EQ(dying.DeadAfter(DeadSpace({Dead({10, 20}, 1, 2)}, 3), 4, 1100),
            (std::vector<DeadExtent>{Dead({10, 20}, 1, 2), Dead({100, 150}, 2, 4),
                                     Dead({500, 550}, 0, 4), Dead({1000, 1100}, 3, 4)}));
}

// The checkpoint that is being made needs chunks that die after the split.
TEST(DyingSpaceTest, CommitsBesideACheckpointMarkForTheNextOne) {
  DyingSpace dying = WithChunks({{1100, 1150}, {1150, 1200}});
  dying.MarkDying({100, 150}, {});
  dying.Split(5, 1300);
  dying.MarkDying({200, 250}, {});
  dying.MarkDying({1100, 1150}, {});
  dying.PlaceInJournal({1400, 1450});
  EXPECT_EQ(dying.DeadAfterSplit({}),
            (std::vector<DeadExtent>{Dead({100, 150}, 0, 5), Dead({1000, 1100}, 3, 5),
                                     Dead({1200, 1300}, 3, 5)}));
  EXPECT_EQ(dying.chunk_bytes(), 150);
  EXPECT_EQ(dying.live_bytes(), 150);
  dying.EndSplit(1300);
  dying.Check();
  EXPECT_EQ(dying.index_begin(), 1300);
  EXPECT_EQ(dying.journal_since(), 3u);
  EXPECT_EQ(dying.chunk_bytes(), 100);
  EXPECT_EQ(dying.live_bytes(), 50);
}

TEST(DyingSpaceTest, CheckpointWithAJournalOfItsOwnLeavesNothingInTheOldOne) {
  DyingSpace dying = WithChunks({});
  dying.Split(5, 1300);
  dying.PlaceInJournal({1400, 1450});
  dying.EndSplitAndJournal(600);
  dying.Check();
  EXPECT_EQ(dying.index_begin(), 600);
  EXPECT_EQ(dying.journal_since(), 5u);
  EXPECT_EQ(dying.live_bytes(), 0);
}

// As if there had been no split.
TEST(DyingSpaceTest, CancelledSplitChangesNothing) {
  DyingSpace split = WithChunks({{1100, 1150}, {1150, 1200}});
  DyingSpace whole = split;
  split.Split(5, 1300);
  for (DyingSpace* dying : {&split, &whole}) {
    dying->MarkDying({200, 250}, {});
    dying->MarkDying({1100, 1150}, {});
    dying->PlaceInJournal({1400, 1450});
  }
  split.CancelSplit();
  split.CancelSplit();
  split.Check();
  EXPECT_FALSE(split.is_split());
  EXPECT_EQ(split.Bytes(1500), whole.Bytes(1500));
  EXPECT_EQ(split.live_bytes(), whole.live_bytes());
  EXPECT_EQ(split.DeadAfter({}, 6, 1500), whole.DeadAfter({}, 6, 1500));
}

}  // namespace
}  // namespace cairn::frame
