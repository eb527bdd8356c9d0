#include "engine/base/extent_pool.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(ExtentPoolTest, JoinsNeighbours) {
  ExtentPool pool;
  EXPECT_TRUE(pool.Add({0, 10}));
  EXPECT_TRUE(pool.Add({20, 30}));
  EXPECT_TRUE(pool.Add({10, 20}));
  EXPECT_EQ(pool.List(), (std::vector<Extent>{{0, 30}}));
  EXPECT_EQ(pool.size(), 30);
}

TEST(ExtentPoolTest, RefusesWhatIsThereAlready) {
  ExtentPool pool;
  ASSERT_TRUE(pool.Add({10, 20}));
  for (const Extent& extent :
       {Extent{10, 20}, Extent{0, 11}, Extent{19, 30}, Extent{0, 30}, Extent{12, 13}}) {
    EXPECT_FALSE(pool.Add(extent));
  }
  EXPECT_EQ(pool.List(), (std::vector<Extent>{{10, 20}}));
}

TEST(ExtentPoolTest, TakesFromTheSmallestExtentThatFitsAndTheFirstOfThese) {
  ExtentPool pool;
  ASSERT_TRUE(pool.Add({0, 200}) && pool.Add({300, 400}) && pool.Add({500, 600}));
  EXPECT_EQ(pool.Take(60), 300);
  EXPECT_EQ(pool.Take(40), 360);
  EXPECT_EQ(pool.Take(101), 0);
  EXPECT_EQ(pool.Take(100), 500);
  EXPECT_FALSE(pool.Take(100).has_value());
  EXPECT_EQ(pool.Take(99), 101);
  EXPECT_EQ(pool.size(), 0);
}

TEST(ExtentPoolTest, UsesUpWhatBeginsBeforeTheLine) {
  ExtentPool pool;
  ASSERT_TRUE(pool.Add({0, 100}) && pool.Add({200, 250}) && pool.Add({300, 400}));
  pool.SetLine(201);
  EXPECT_EQ(pool.Take(50), 200);
  EXPECT_EQ(pool.Take(50), 0) << "although 300 follows the line";
  EXPECT_FALSE(pool.TakeBeforeLine(51).has_value());
  EXPECT_EQ(pool.Take(51), 300);
  pool.SetLine(352);
  EXPECT_EQ(pool.TakeBeforeLine(49), 351);
}

TEST(ExtentPoolTest, MovesTheLineInSmallSteps) {
  ExtentPool pool;
  for (int64_t i = 0; i < 10; ++i) ASSERT_TRUE(pool.Add({i * 100, i * 100 + 50}));
  for (const int64_t line : std::vector<int64_t>{450, 950, 0, INT64_MAX, 301}) {
    int calls = 1;
    while (!pool.SetLine(line, 2)) ++calls;
    EXPECT_LE(calls, 6);
    ExtentPool moved = pool;
    int64_t before = 0;
    while (moved.TakeBeforeLine(50).has_value()) ++before;
    EXPECT_EQ(before, std::clamp<int64_t>(line / 100 + (line % 100 != 0 ? 1 : 0), 0, 10))
        << "line " << line;
  }
}

TEST(ExtentPoolTest, ListsInPieces) {
  ExtentPool pool;
  for (int64_t i = 0; i < 10; ++i) ASSERT_TRUE(pool.Add({i * 100, i * 100 + 50}));
  std::vector<Extent> list;
  int calls = 1;
  while (pool.ListFrom(list.empty() ? 0 : list.back().end, 3, list)) ++calls;
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(list, pool.List());
}

TEST(ExtentPoolTest, FindsTheOneExtentThatFitsAmongMany) {
  ExtentPool pool;
  for (int64_t i = 0; i < 10; ++i) ASSERT_TRUE(pool.Add({i * 200, i * 200 + 64 + i}));
  EXPECT_EQ(pool.Take(73), 1800);
  EXPECT_FALSE(pool.Take(73).has_value());
}

TEST(ExtentPoolTest, AgreesWithABitForEachByte) {
  constexpr int64_t kBytes = 500;
  std::mt19937 random(7);
  ExtentPool pool;
  std::vector<bool> free(kBytes);
  const auto set = [&](const Extent& extent, bool value) {
    for (int64_t i = extent.begin; i < extent.end; ++i) free[static_cast<size_t>(i)] = value;
  };
  for (int step = 0; step < 20000; ++step) {
    const auto begin = static_cast<int64_t>(random() % kBytes);
    if (step % 100 == 0) pool.SetLine(begin);
    const Extent extent = {begin, std::min<int64_t>(kBytes, begin + 1 + random() % 40)};
    switch (random() % 3) {
      case 0: {
        bool none = true;
        for (int64_t i = extent.begin; i < extent.end; ++i) none &= !free[static_cast<size_t>(i)];
        ASSERT_EQ(pool.Add(extent), none);
        if (none) set(extent, true);
        break;
      }
      case 1:
        for (const Extent& removed : pool.Remove(extent)) {
          for (int64_t i = removed.begin; i < removed.end; ++i) {
            ASSERT_TRUE(free[static_cast<size_t>(i)]);
          }
          set(removed, false);
        }
        break;
      default:
        if (const auto taken = pool.Take(extent.size()); taken.has_value()) {
          for (int64_t i = 0; i < extent.size(); ++i) {
            ASSERT_TRUE(free[static_cast<size_t>(*taken + i)]);
          }
          set({*taken, *taken + extent.size()}, false);
        }
    }
    int64_t size = 0;
    for (const Extent& each : pool.List()) {
      for (int64_t i = each.begin; i < each.end; ++i) ASSERT_TRUE(free[static_cast<size_t>(i)]);
      size += each.size();
    }
    ASSERT_EQ(size, std::ranges::count(free, true));
    ASSERT_EQ(size, pool.size());
    const std::vector<Extent> all = pool.List();
    const auto largest = std::ranges::max_element(all, {}, &Extent::size);
    const std::optional<Extent> found = pool.Largest();
    ASSERT_EQ(found.has_value() ? found->size() : 0, all.empty() ? 0 : largest->size());
  }
}

}  // namespace
}  // namespace cairn
