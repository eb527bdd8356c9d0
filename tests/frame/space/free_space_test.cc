#include "engine/frame/space/free_space.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace cairn::frame {
namespace {

using format::DeadExtent;

TEST(FreeSpaceTest, NothingFromTheIndexOnIsFree) {
  FreeSpace free(100, 1000);
  EXPECT_TRUE(free.Add({900, 1200}));
  EXPECT_TRUE(free.Add({2000, 2100}));
  EXPECT_FALSE(free.Add({950, 960}));
  EXPECT_EQ(free.pool().List(), (std::vector<Extent>{{900, 1000}}));
  free.Check();
}

TEST(FreeSpaceTest, BytesThatAreSetAsideComeBackUnlessTheyAreKept) {
  FreeSpace free(100, 1000);
  free.Add({200, 300});
  free.Add({600, 900});
  free.SetAside(700);
  EXPECT_EQ(free.pool().List(), (std::vector<Extent>{{200, 300}, {600, 700}}));
  free.ReturnAside();
  EXPECT_EQ(free.pool().List(), (std::vector<Extent>{{200, 300}, {600, 900}}));
  free.SetAside(700);
  free.KeepAside();
  free.ReturnAside();
  EXPECT_EQ(free.size(), 200);
}

TEST(FreeSpaceTest, LineLeavesRoomForWhatIsUsedAndForWhatCommitsNeed) {
  const FreeSpace::Slack slack = {.part = 4, .least = 10, .for_commits = true};
  FreeSpace free(0, 1000);
  free.Add({200, 800});
  EXPECT_EQ(free.SetLine(slack, {}), 400 + 100 + 10);
  EXPECT_FALSE(free.is_held());
  free.BeginAfter(1000, 90);
  EXPECT_EQ(free.SetLine(slack, {}), 400 + 100 + 10 + 90);
  // Dead bytes that died with the last checkpoint are about to be free, older ones are held.
  const DeadSpace just_died({{.bytes = {800, 900}, .born = 1, .died = 5}}, 5);
  EXPECT_EQ(free.SetLine(slack, just_died), 300 + 75 + 10 + 90);
  const DeadSpace older({{.bytes = {800, 900}, .born = 1, .died = 4}}, 5);
  EXPECT_EQ(free.SetLine(slack, older), 900);
  EXPECT_TRUE(free.is_held());
  EXPECT_EQ(FreeSpace(0, 1000).SetLine(slack, {}), INT64_MAX);
}

TEST(FreeSpaceTest, TakesTimesWhatIsUsed) {
  FreeSpace free(0, 1000);
  free.Add({0, 501});
  EXPECT_TRUE(free.TakesTimes(2, 500));
  EXPECT_FALSE(free.TakesTimes(2, 501));
  EXPECT_FALSE(free.TakesTimes(4, 0));
}

}  // namespace
}  // namespace cairn::frame
