#include "engine/frame/space/births.h"

#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace cairn::frame {
namespace {

TEST(BirthsTest, LastBirthOfEachByteCounts) {
  std::mt19937_64 random(3);
  Births births;
  std::map<int64_t, uint64_t> model;
  for (uint64_t generation = 1; generation < 2000; ++generation) {
    const auto begin = static_cast<int64_t>(random() % 300);
    const int64_t end = begin + 1 + static_cast<int64_t>(random() % 40);
    births.Set({begin, end}, generation / 3);
    for (int64_t at = begin; at < end; ++at) model[at] = generation / 3;
    if (generation % 4 == 0) {
      births.Forget({begin / 2, begin});
      model.erase(model.lower_bound(begin / 2), model.lower_bound(begin));
    }
    const auto at = static_cast<int64_t>(random() % 350);
    const auto found = model.find(at);
    ASSERT_EQ(births.Of(at), found == model.end() ? 0 : found->second);
    ASSERT_EQ(births.newest(), generation / 3);
    ASSERT_LE(births.count(), std::ssize(model));
  }
}

TEST(BirthsTest, BytesThatAreBornAgainTakeNoMoreEntries) {
  Births births;
  for (uint64_t generation = 1; generation < 1000; ++generation) {
    births.Set({0, 100}, generation);
    births.Set({40, 50}, generation);
    births.Set({100, 200}, generation);
    ASSERT_EQ(births.count(), 1) << generation;
  }
  births.Clear(true);
  EXPECT_TRUE(births.empty());
  EXPECT_EQ(births.Of(40), 0u);
}

TEST(BirthsTest, NoneIsKeptWhileNobodyAsks) {
  Births births;
  births.Set({0, 100}, 1);
  births.Clear(false);
  births.Set({0, 100}, 2);
  EXPECT_TRUE(births.empty());
  births.Keep();
  births.Set({0, 100}, 3);
  EXPECT_EQ(births.Of(0), 3u);
}

TEST(BirthsTest, BytesThatAreFreeTakeNoEntries) {
  Births births;
  births.Set({10, 40}, 1);
  births.Forget({20, 30});
  EXPECT_EQ(births.count(), 2);
  births.Forget({0, 25});
  births.Forget({30, 100});
  EXPECT_TRUE(births.empty());
}

TEST(BirthsTest, AreListedInPiecesAndBeforeAnEnd) {
  Births births;
  births.Set({10, 20}, 1);
  births.Set({20, 30}, 2);
  births.Set({50, 70}, 3);
  std::vector<format::BornExtent> list;
  EXPECT_TRUE(births.ListFrom(0, 60, 1, list));
  EXPECT_FALSE(births.ListFrom(list.back().bytes.end, 60, 10, list));
  EXPECT_EQ(list, (std::vector<format::BornExtent>{{{10, 20}, 1}, {{20, 30}, 2}, {{50, 60}, 3}}));
}

}  // namespace
}  // namespace cairn::frame
