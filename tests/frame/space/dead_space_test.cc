#include "engine/frame/space/dead_space.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

using format::DeadExtent;
using frame::DeadSpace;

// Died with checkpoints 3 and 5, of which 5 is the last one.
std::vector<DeadExtent> SomeDead() {
  return {{.bytes = {100, 110}, .born = 1, .died = 5},
          {.bytes = {200, 220}, .born = 2, .died = 3},
          {.bytes = {300, 330}, .born = 4, .died = 5},
          {.bytes = {400, 440}, .born = 1, .died = 5}};
}

std::vector<Extent> Release(DeadSpace& dead, int64_t most, uint64_t held_born) {
  std::vector<Extent> given;
  dead.Release(
      most, [&](uint64_t born, uint64_t) { return born == held_born; },
      [&](const Extent& bytes) { given.push_back(bytes); });
  return given;
}

TEST(DeadSpaceTest, GivesWhatNoReaderNeedsInSmallSteps) {
  DeadSpace dead(SomeDead(), 5);
  EXPECT_EQ(Release(dead, 1, 1), (std::vector<Extent>{}));
  EXPECT_TRUE(dead.is_releasing());
  EXPECT_EQ(Release(dead, 2, 1), (std::vector<Extent>{{300, 330}, {200, 220}}));
  EXPECT_EQ(Release(dead, 100, 1), (std::vector<Extent>{}));
  EXPECT_FALSE(dead.is_releasing());
  EXPECT_EQ(dead.count(), 2);
  dead.BeginRelease();
  EXPECT_EQ(Release(dead, 100, 0), (std::vector<Extent>{{400, 440}, {100, 110}}));
  EXPECT_TRUE(dead.empty());
}

TEST(DeadSpaceTest, AsksOnceOfExtentsThatLiveAndDieTogether) {
  DeadSpace dead(SomeDead(), 5);
  int64_t asked = 0;
  const auto is_held = [&](uint64_t, uint64_t) { return ++asked > 0; };
  for (int i = 0; i < 4; ++i) dead.Release(1, is_held, [](const Extent&) {});
  EXPECT_EQ(asked, 3);
  dead.BeginRelease();
  dead.Release(100, is_held, [](const Extent&) {});
  EXPECT_EQ(asked, 6) << "readers come and go";
}

TEST(DeadSpaceTest, KnowsWhatIsLeftAtEachStep) {
  DeadSpace dead(SomeDead(), 5);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(dead.List(), SomeDead());
    EXPECT_EQ(dead.end(), 440);
    EXPECT_EQ(dead.EndOfOlder(), 220);
    EXPECT_EQ(dead.JustDied(INT64_MAX), 80);
    EXPECT_EQ(dead.BytesBetween(200, 420), 20 + 30 + 20);
    EXPECT_EQ(dead.BytesBetween(440, 1000), 0);
    EXPECT_EQ(dead.JustDied(310), 20);
    EXPECT_EQ(dead.FirstAfter(0), 100);
    EXPECT_EQ(dead.FirstAfter(110), 200);
    EXPECT_EQ(dead.FirstAfter(329), 300);
    EXPECT_EQ(dead.FirstAfter(440), INT64_MAX);
    EXPECT_EQ(dead.CountAfter(0), 4);
    EXPECT_EQ(dead.CountAfter(219), 3);
    EXPECT_EQ(dead.CountAfter(220), 2);
    EXPECT_EQ(dead.CountAfter(440), 0);
    dead.Release(
        1, [](uint64_t, uint64_t) { return true; }, [](const Extent&) {});
  }
  dead.BeginRelease();
  Release(dead, 100, 1);
  EXPECT_EQ(dead.EndOfOlder(), 0);
  EXPECT_EQ(dead.JustDied(INT64_MAX), 50);
  EXPECT_EQ(dead.FirstAfter(110), 400);
}

TEST(DeadSpaceTest, LastOnesMayGoOn) {
  DeadSpace dead(SomeDead(), 5);
  dead.ExtendLast(430);
  EXPECT_EQ(dead.end(), 440) << "not back";
  dead.ExtendLast(500);
  EXPECT_EQ(dead.end(), 500);
  EXPECT_EQ(dead.JustDied(INT64_MAX), 80 + 60);
}

TEST(DeadSpaceTest, HasNothingAtFirst) {
  const DeadSpace dead;
  EXPECT_TRUE(dead.empty());
  EXPECT_FALSE(dead.is_releasing());
  EXPECT_EQ(dead.end(), 0);
  EXPECT_EQ(dead.FirstAfter(0), INT64_MAX);
}

}  // namespace
}  // namespace cairn::test
