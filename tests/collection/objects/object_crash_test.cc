// Writers of a collection in an object store that die between any two requests, and readers that
// look between any two.
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/collection.h"
#include "tests/collection/objects/dying_store.h"
#include "tests/collection/objects/object_collection.h"
#include "tests/support/fault_object_store.h"

namespace cairn::test {
namespace {

using Step = std::function<absl::Status(CollectionWriter&)>;

class ObjectCrashTest : public ObjectCollectionTest {
 protected:
  static Content Before() {
    return {{"/a", Range(0, 250)},
            {"/b", Range(0, 7)},
            {"/c", Range(3, 5)},
            {"/d", Range(0, 130)},
            {"/noise", {}}};
  }
  // Changes, removes, replaces and adds members.
  static absl::Status StageAll(CollectionWriter& writer) {
    absl::Status status = Stage(writer, "/a", Range(250, 470));
    if (status.ok()) status = Stage(writer, "/b", Range(7, 9));
    if (status.ok()) status = writer.Remove("/c");
    if (status.ok()) status = writer.Remove("/d");
    if (status.ok()) status = writer.Add("/d", Numbers()).status();
    if (status.ok()) status = Stage(writer, "/d", Range(900, 1100));
    if (status.ok()) status = Stage(writer, "/e", Range(0, 150));
    return status;
  }
  static Content After() {
    return {{"/a", Range(0, 470)},
            {"/b", Range(0, 9)},
            {"/d", Range(900, 1100)},
            {"/e", Range(0, 150)},
            {"/noise", {}}};
  }
  void MakeAnew() {
    store_ = std::make_shared<object::MemoryObjectStore>();
    Content members = Before();
    members.erase("/noise");
    Make(members);
    CollectionWriter writer = OpenWriter();
    ASSERT_TRUE(IsOk(writer.Add("/noise", Numbers(2'000'000))));
    ASSERT_TRUE(IsOk(writer.Commit()));
  }
  // Numbers that do not compress: as pending items they make the ledger long, so that a checkpoint
  // follows the commit.
  static Ints Noise() {
    Ints noise(1'100'000);
    uint32_t seed = 1;
    for (int32_t& number : noise) {
      number = static_cast<int32_t>(seed = seed * 1664525 + 1013904223);
    }
    return noise;
  }
  // Makes commits until the next writer that closes writes a checkpoint.
  void MakeLong() {
    CollectionWriter writer = OpenWriter();
    for (int32_t i = 0; i < 14; ++i) {
      ASSERT_TRUE(IsOk(Stage(writer, i % 2 == 0 ? "/b" : "/c", {i})));
      ASSERT_TRUE(IsOk(writer.Commit()));
    }
  }
  // Lets a writer that makes a commit die after each number of requests.
  void DieEverywhere(const Step& stage, const Content& after, int64_t least) {
    for (int64_t limit = 0;; ++limit) {
      SCOPED_TRACE(limit);
      ASSERT_LT(limit, 200);
      MakeAnew();
      const Content before = Stored();
      const CollectionSnapshot old = Open().snapshot();
      const auto dying = std::make_shared<DyingStore>(store_);
      bool committed = false;
      {
        CollectionWriter writer = OpenWriter(dying);
        dying->DieAfter(limit);
        committed = stage(writer).ok() && writer.Commit().ok();
      }
      const Content now = Stored();
      EXPECT_TRUE(now == before || now == after);
      EXPECT_TRUE(now == after || !committed);
      EXPECT_EQ(ContentOf(old), before);
      // The next writer continues.
      CollectionWriter next = OpenWriter();
      ASSERT_TRUE(IsOk(Stage(next, "/next", Range(0, 101))));
      ASSERT_TRUE(IsOk(Stage(next, "/a", {})));
      ASSERT_TRUE(IsOk(next.Commit()));
      Content more = now;
      more["/next"] = Range(0, 101);
      EXPECT_EQ(Stored(), more);
      if (dying->is_dead()) continue;
      EXPECT_GE(limit, least);
      break;
    }
  }
  // Lets another writer commit between any two requests of a commit and its checkpoint.
  void Interrupt(bool other_checkpoints) {
    for (int64_t place = 0;; ++place) {
      SCOPED_TRACE(place);
      MakeAnew();
      const auto watched = std::make_shared<DyingStore>(store_);
      const auto hindered = std::make_shared<FaultObjectStore>(store_, 1);
      if (!other_checkpoints) {
        hindered->SetChoice([](std::string_view name) {
          return name.find("/index/") == name.npos ? StoreFault::kNone : StoreFault::kUnavailable;
        });
      }
      CollectionWriter writer = OpenWriter(watched);
      CollectionWriter other = OpenWriter(hindered);
      ASSERT_TRUE(IsOk(StageAll(writer)));
      ASSERT_TRUE(IsOk(Stage(writer, "/noise", Noise())));
      int64_t visits = 0;
      watched->OnChange([&] {
        if (visits++ != place) return;
        for (int i = 0; i < 2; ++i) {
          ASSERT_TRUE(IsOk(Stage(other, "/b", Range(0, 120))));
          ASSERT_TRUE(IsOk(other.Commit()));
        }
      });
      ASSERT_TRUE(IsOk(writer.Commit()));
      watched->OnChange(nullptr);
      const size_t of_others = visits > place ? 240 : 0;
      for (CollectionWriter* const each : {&writer, &other, &writer}) {
        ASSERT_TRUE(IsOk(Stage(*each, "/a", {-1})));
        ASSERT_TRUE(IsOk(Stage(*each, "/b", {-1})));
        ASSERT_TRUE(IsOk(each->Commit()));
      }
      Content content = Stored();
      EXPECT_EQ(content["/a"].size(), 470U + 3);
      EXPECT_EQ(content["/b"].size(), 9U + 3 + of_others);
      EXPECT_EQ(content["/noise"].size(), Noise().size());
      if (of_others == 0) break;
    }
  }
};

TEST_F(ObjectCrashTest, AWriterThatDiesAnywhereLeavesTheOldStateOrTheNewOne) {
  DieEverywhere(StageAll, After(), 10);
}

TEST_F(ObjectCrashTest, AWriterThatDiesAsItClosesLosesNothing) {
  for (int64_t limit = 0;; ++limit) {
    SCOPED_TRACE(limit);
    MakeAnew();
    MakeLong();
    const Content before = Stored();
    Content after = before;
    for (int32_t i = 0; i < 120; ++i) after["/a"].push_back(i);
    const CollectionSnapshot old = Open().snapshot();
    const auto dying = std::make_shared<DyingStore>(store_);
    bool committed = false;
    {
      CollectionWriter writer = OpenWriter(dying);
      dying->DieAfter(limit);
      committed = Stage(writer, "/a", Range(0, 120)).ok() && writer.Close().ok();
    }
    const Content now = Stored();
    EXPECT_TRUE(now == before || now == after);
    EXPECT_TRUE(now == after || !committed);
    EXPECT_EQ(ContentOf(old), before);
    CollectionWriter next = OpenWriter();
    ASSERT_TRUE(IsOk(Stage(next, "/c", {-1})));
    ASSERT_TRUE(IsOk(next.Close()));
    Content more = now;
    more["/c"].push_back(-1);
    EXPECT_EQ(Stored(), more);
    if (dying->is_dead()) continue;
    EXPECT_GE(limit, 15);
    break;
  }
}

TEST_F(ObjectCrashTest, WritersThatComeBetweenAsOneClosesLoseNothing) {
  for (int64_t place = 0;; ++place) {
    SCOPED_TRACE(place);
    MakeAnew();
    MakeLong();
    Content content = Stored();
    const auto watched = std::make_shared<DyingStore>(store_);
    CollectionWriter writer = OpenWriter(watched);
    CollectionWriter other = OpenWriter();
    ASSERT_TRUE(IsOk(Stage(writer, "/a", Range(0, 120))));
    int64_t visits = 0;
    watched->OnChange([&] {
      if (visits++ != place) return;
      ASSERT_TRUE(IsOk(Stage(other, "/b", Range(0, 120))));
      ASSERT_TRUE(IsOk(other.Close()));
    });
    ASSERT_TRUE(IsOk(writer.Close()));
    watched->OnChange(nullptr);
    const bool is_between = visits > place;
    for (int32_t i = 0; i < 120; ++i) {
      content["/a"].push_back(i);
      if (is_between) content["/b"].push_back(i);
    }
    EXPECT_EQ(Stored(), content);
    CollectionWriter next = OpenWriter();
    ASSERT_TRUE(IsOk(Stage(next, "/b", {-1})));
    ASSERT_TRUE(IsOk(next.Close()));
    content["/b"].push_back(-1);
    EXPECT_EQ(Stored(), content);
    if (!is_between) break;
  }
}

TEST_F(ObjectCrashTest, AWriterThatDiesInACheckpointLosesNothing) {
  Content after = After();
  after["/noise"] = Noise();
  const Step stage = [](CollectionWriter& writer) {
    const absl::Status status = StageAll(writer);
    return status.ok() ? Stage(writer, "/noise", Noise()) : status;
  };
  DieEverywhere(stage, after, 20);
}

TEST_F(ObjectCrashTest, ReadersSeeAllOfACommitOrNothing) {
  MakeAnew();
  Collection reader = Open();
  const CollectionSnapshot old = reader.snapshot();
  const auto watched = std::make_shared<DyingStore>(store_);
  CollectionWriter writer = OpenWriter(watched);
  ASSERT_TRUE(IsOk(StageAll(writer)));
  ASSERT_TRUE(IsOk(Stage(writer, "/noise", Noise())));
  Content after = After();
  after["/noise"] = Noise();
  bool seen = false;
  watched->OnChange([&] {
    const auto now = reader.Refresh();
    ASSERT_TRUE(IsOk(now));
    const Content content = ContentOf(*now);
    EXPECT_TRUE(content == after || (!seen && content == Before()));
    seen = seen || content == after;
    EXPECT_TRUE(Stored() == content);
    EXPECT_EQ(ContentOf(old), Before());
  });
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_TRUE(seen);
  EXPECT_GE(watched->changes(), 15);
}

TEST_F(ObjectCrashTest, AnotherWriterMayCommitBetweenAnyTwoRequests) { Interrupt(false); }

TEST_F(ObjectCrashTest, AnotherWriterMayMakeACheckpointBetweenAnyTwoRequests) { Interrupt(true); }

}  // namespace
}  // namespace cairn::test
