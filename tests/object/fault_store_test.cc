#include "tests/object/fault_store.h"

#include <string>

#include <gtest/gtest.h>

#include "tests/object/stores.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

constexpr FaultOdds kNone{.unavailable = 0, .lost = 0, .never = 0, .delayed = 0};

TEST(FaultStoreTest, DoesWhatItLosesTheAnswerOf) {
  const auto base = MakeMemoryObjectStore();
  FaultOdds odds = kNone;
  odds.lost = 100;
  FaultStore store(base, 1, odds);
  EXPECT_TRUE(absl::IsDeadlineExceeded(store.PutIfAbsent("a", BytesOf("1")).status()));
  EXPECT_TRUE(IsOk(base->Head("a")));
}

TEST(FaultStoreTest, WhatIsUnavailableOrNeverDoneIsNotDone) {
  const auto base = MakeMemoryObjectStore();
  FaultOdds odds = kNone;
  odds.unavailable = 100;
  FaultStore unavailable(base, 1, odds);
  EXPECT_TRUE(absl::IsUnavailable(unavailable.PutIfAbsent("a", BytesOf("1")).status()));
  EXPECT_TRUE(absl::IsUnavailable(unavailable.Get("a").status()));
  odds = kNone;
  odds.never = 100;
  FaultStore never(base, 1, odds);
  EXPECT_TRUE(absl::IsDeadlineExceeded(never.PutIfAbsent("a", BytesOf("1")).status()));
  EXPECT_TRUE(absl::IsNotFound(base->Head("a").status()));
}

TEST(FaultStoreTest, DelayedPutsAreDoneLaterUnderTheirCondition) {
  const auto base = MakeMemoryObjectStore();
  FaultOdds odds = kNone;
  odds.delayed = 100;
  FaultStore store(base, 1, odds);
  EXPECT_TRUE(absl::IsDeadlineExceeded(store.PutIfAbsent("a", BytesOf("1")).status()));
  EXPECT_TRUE(absl::IsDeadlineExceeded(store.PutIfAbsent("b", BytesOf("1")).status()));
  ASSERT_TRUE(absl::IsNotFound(base->Head("b").status()));
  ASSERT_TRUE(IsOk(base->PutIfAbsent("b", BytesOf("2"))));
  store.Land();
  EXPECT_EQ(TextOf(base->Get("a")->bytes), "1");
  EXPECT_EQ(TextOf(base->Get("b")->bytes), "2");
}

TEST(FaultStoreTest, DoesTheSameForTheSameSeed) {
  const auto life = [](uint64_t seed) {
    FaultStore store(MakeMemoryObjectStore(), seed);
    std::string codes;
    for (int i = 0; i < 200; ++i) {
      const auto put = store.PutIfAbsent(std::to_string(i % 50), BytesOf(std::to_string(i)));
      codes += static_cast<char>('a' + static_cast<int>(put.status().code()));
    }
    return codes;
  };
  EXPECT_EQ(life(7), life(7));
  EXPECT_NE(life(7), life(8));
}

}  // namespace
}  // namespace cairn::test
