// Writers of a collection in an object store whose machines sleep, and that outstay the grace.
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "cairn/collection.h"
#include "tests/collection/objects/object_collection.h"
#include "tests/support/shifted_boot_clock.h"

namespace cairn::test {
namespace {

constexpr std::chrono::seconds kGrace = std::chrono::hours(24);

class ObjectCollectionSleepTest : public ObjectCollectionTest {
 protected:
  ObjectCollectionSleepTest() { Sleep(std::chrono::seconds(0)); }

  // The time passes, and this machine sleeps meanwhile.
  void Sleep(std::chrono::seconds time) {
    now_ += time.count();
    store_->SetNow(now_);
    SleepMachine(time);
  }
  // Another machine commits, makes a checkpoint, and removes what the grace allows, for two of
  // them.
  void WorkElsewhere() {
    CollectionWriter other = OpenWriter();
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(IsOk(Stage(other, "/b", {i})));
      ASSERT_TRUE(IsOk(other.Commit()));
      ASSERT_TRUE(IsOk(other.Compact("/b")));
      ASSERT_TRUE(IsOk(other.Commit()));
      Sleep(kGrace);
      other = OpenWriter();
    }
  }

  int64_t now_ = 1'800'000'000;
};

TEST_F(ObjectCollectionSleepTest, SmallObjectsAreKnownForAPartOfTheGrace) {
  Make({{"/a", Range(0, 250)}});
  Collection collection = Open();
  const CollectionSnapshot snapshot = collection.snapshot();
  int64_t before = store_->stats().requests();
  const auto taken = [&] {
    const int64_t now = store_->stats().requests();
    return now - std::exchange(before, now);
  };
  ASSERT_TRUE(IsOk(snapshot.OpenMember("/a")));
  EXPECT_EQ(taken(), 0);  // the ledger has the index
  Sleep(kGrace / 4 - std::chrono::seconds(60));
  ASSERT_TRUE(IsOk(snapshot.OpenMember("/a")));
  EXPECT_EQ(taken(), 0);
  Sleep(std::chrono::seconds(60));
  ASSERT_TRUE(IsOk(snapshot.OpenMember("/a")));
  EXPECT_EQ(taken(), 1);
}

TEST_F(ObjectCollectionSleepTest, AWriterLooksWhetherTheLedgerIsStillThere) {
  Make({{"/a", Range(0, 250)}});
  Collection collection = Open();
  int64_t before = store_->stats().requests();
  const auto taken = [&] {
    const int64_t now = store_->stats().requests();
    return now - std::exchange(before, now);
  };
  ASSERT_TRUE(IsOk(collection.OpenWriter()));
  EXPECT_EQ(taken(), 1);
  Sleep(std::chrono::seconds(30));
  ASSERT_TRUE(IsOk(collection.OpenWriter()));
  EXPECT_EQ(taken(), 1 + 1);  // a head
  WorkElsewhere();
  taken();
  auto writer = collection.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(Stage(*writer, "/a", {250})));
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_EQ(Stored().at("/a"), Range(0, 251));
}

TEST_F(ObjectCollectionSleepTest, WhatWasStagedTooLongAgoIsNotCommitted) {
  Make({{"/a", Range(0, 250)}, {"/b", {}}});
  for (const std::string name : {"/a", "/new"}) {
    CollectionWriter writer = OpenWriter();
    ASSERT_TRUE(IsOk(Stage(writer, name, Range(250, 500))));
    Sleep(kGrace / 2);
    EXPECT_TRUE(Fails(writer.Commit(), absl::StatusCode::kAborted, name));
    writer.Rollback();
    ASSERT_TRUE(IsOk(Stage(writer, name, Range(250, 300))));
    ASSERT_TRUE(IsOk(writer.Commit()));
  }
  EXPECT_EQ(Stored(), (Content{{"/a", Range(0, 300)}, {"/b", {}}, {"/new", Range(250, 300)}}));
}

TEST_F(ObjectCollectionSleepTest, AWriterThatSleptCommitsAfterWhatOthersDid) {
  Make({{"/a", Range(0, 250)}, {"/b", {}}});
  CollectionWriter writer = OpenWriter();
  ASSERT_TRUE(IsOk(Stage(writer, "/a", Range(250, 255))));
  ASSERT_TRUE(IsOk(writer.Commit()));
  WorkElsewhere();
  writer.Rollback();
  ASSERT_TRUE(IsOk(Stage(writer, "/a", Range(255, 400))));
  ASSERT_TRUE(IsOk(Stage(writer, "/b", {3})));
  ASSERT_TRUE(IsOk(Stage(writer, "/c", {3})));
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(Stored(), (Content{{"/a", Range(0, 400)}, {"/b", Range(0, 4)}, {"/c", {3}}}));
}

// Without a rollback, what it knows of members may be gone.
TEST_F(ObjectCollectionSleepTest, AWriterThatSleptLosesNothingOfOthers) {
  Make({{"/a", Range(0, 250)}, {"/b", {}}});
  CollectionWriter writer = OpenWriter();
  ASSERT_TRUE(IsOk(Stage(writer, "/a", Range(250, 255))));
  ASSERT_TRUE(IsOk(writer.Commit()));
  WorkElsewhere();
  Content expected = {{"/a", Range(0, 255)}, {"/b", Range(0, 3)}};
  for (int tries = 0; tries < 3; ++tries) {
    absl::Status made = Stage(writer, "/a", {255});
    if (made.ok()) made = Stage(writer, "/b", {3});
    if (made.ok()) made = writer.Commit().status();
    if (made.ok()) {
      expected = {{"/a", Range(0, 256)}, {"/b", Range(0, 4)}};
      break;
    }
    EXPECT_TRUE(absl::IsAborted(made) || absl::IsDataLoss(made)) << made;
    writer.Rollback();
  }
  EXPECT_EQ(Stored(), expected);
  EXPECT_EQ(expected.at("/b").size(), 4U);
}

}  // namespace
}  // namespace cairn::test
