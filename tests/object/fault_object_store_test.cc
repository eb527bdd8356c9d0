#include "tests/support/fault_object_store.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "tests/object/stores.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

class FaultObjectStoreTest : public testing::Test {
 protected:
  void FailAll(FaultChances chances) { store_.SetChances(chances); }

  const std::shared_ptr<ObjectStore> base_ = MakeMemoryObjectStore();
  FaultObjectStore store_{base_, 1};
};

TEST_F(FaultObjectStoreTest, DoesWhatItLosesTheAnswerOf) {
  FailAll({.answer_lost = 100});
  EXPECT_TRUE(absl::IsDeadlineExceeded(store_.PutIfAbsent("a", BytesOf("1")).status()));
  EXPECT_TRUE(IsOk(base_->Head("a")));
}

TEST_F(FaultObjectStoreTest, WhatIsUnavailableIsNotDone) {
  FailAll({.unavailable = 100, .reads_unavailable = 100});
  EXPECT_TRUE(absl::IsUnavailable(store_.PutIfAbsent("a", BytesOf("1")).status()));
  EXPECT_TRUE(absl::IsUnavailable(store_.Get("a").status()));
  EXPECT_TRUE(absl::IsNotFound(base_->Head("a").status()));
}

TEST_F(FaultObjectStoreTest, WhatIsLostIsNotDone) {
  FailAll({.lost = 100});
  EXPECT_TRUE(absl::IsDeadlineExceeded(store_.PutIfAbsent("a", BytesOf("1")).status()));
  EXPECT_TRUE(absl::IsNotFound(base_->Head("a").status()));
}

TEST_F(FaultObjectStoreTest, DelayedPutsAreDoneLaterUnderTheirCondition) {
  FailAll({.delayed = 100});
  EXPECT_TRUE(absl::IsDeadlineExceeded(store_.PutIfAbsent("a", BytesOf("1")).status()));
  EXPECT_TRUE(absl::IsDeadlineExceeded(store_.PutIfAbsent("b", BytesOf("1")).status()));
  ASSERT_TRUE(absl::IsNotFound(base_->Head("b").status()));
  ASSERT_TRUE(IsOk(base_->PutIfAbsent("b", BytesOf("2"))));
  store_.LandAll();
  EXPECT_EQ(TextOf(base_->Get("a")->bytes), "1");
  EXPECT_EQ(TextOf(base_->Get("b")->bytes), "2");
}

TEST_F(FaultObjectStoreTest, TheAnswerToWhatIsSentTwiceIsThatOfTheSecond) {
  FailAll({.repeated = 100});
  EXPECT_TRUE(absl::IsFailedPrecondition(store_.PutIfAbsent("a", BytesOf("1")).status()));
  EXPECT_EQ(TextOf(base_->Get("a")->bytes), "1");
}

TEST(FaultObjectStoreSeedTest, DoesTheSameForTheSameSeed) {
  const auto life = [](uint64_t seed) {
    FaultObjectStore store(MakeMemoryObjectStore(), seed);
    store.SetChances({.unavailable = 5, .lost = 5, .answer_lost = 5, .delayed = 5});
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
