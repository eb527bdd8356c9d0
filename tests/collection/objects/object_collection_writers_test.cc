// Several writers of a collection in an object store, and a store that fails.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/collection.h"
#include "tests/collection/objects/object_collection.h"
#include "tests/support/fault_object_store.h"

namespace cairn::test {
namespace {

class ObjectCollectionWritersTest : public ObjectCollectionTest {
 protected:
  // Sets the faults of the next puts of the ledger's records.
  void Plan(std::vector<StoreFault> faults) {
    faulty_->SetChoice([faults = std::move(faults), next = size_t{0}](auto name) mutable {
      if (!name.starts_with("weather/embed.b2e/journal/") || next == faults.size()) {
        return StoreFault::kNone;
      }
      return faults[next++];
    });
  }

  std::shared_ptr<FaultObjectStore> faulty_ = std::make_shared<FaultObjectStore>(store_, 1);
};

TEST_F(ObjectCollectionWritersTest, WritersOfDifferentMembersAllStand) {
  Make({{"/a", Range(0, 5)}, {"/b", Range(0, 5)}});
  CollectionWriter first = OpenWriter();
  CollectionWriter second = OpenWriter();
  for (int32_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(IsOk(Stage(first, "/a", Range(5 + i * 100, 105 + i * 100))));
    ASSERT_TRUE(IsOk(Stage(second, "/b", {5 + i})));
    ASSERT_TRUE(IsOk(Stage(second, "/new" + std::to_string(i), {i})));
    ASSERT_TRUE(IsOk(first.Commit()));
    ASSERT_TRUE(IsOk(second.Commit()));
  }
  const Content content = Stored();
  EXPECT_EQ(content.size(), 7U);
  EXPECT_EQ(content.at("/a"), Range(0, 505));
  EXPECT_EQ(content.at("/b"), Range(0, 10));
}

TEST_F(ObjectCollectionWritersTest, AppendsToOneMemberFollowEachOther) {
  Make({{"/a", Range(0, 5)}, {"/b", Range(0, 5)}});
  CollectionWriter first = OpenWriter();
  CollectionWriter second = OpenWriter();
  ASSERT_TRUE(IsOk(Stage(first, "/a", Range(5, 300))));
  ASSERT_TRUE(IsOk(Stage(second, "/a", Range(300, 350))));
  ASSERT_TRUE(IsOk(Stage(second, "/b", Range(5, 8))));
  ASSERT_TRUE(IsOk(first.Commit()));
  ASSERT_TRUE(IsOk(second.Commit()));
  ASSERT_TRUE(IsOk(Stage(first, "/a", Range(350, 360))));
  ASSERT_TRUE(IsOk(first.Commit()));
  EXPECT_EQ(Stored(), (Content{{"/a", Range(0, 360)}, {"/b", Range(0, 8)}}));
}

TEST_F(ObjectCollectionWritersTest, EditsThatCollideAreAbortedAsAWhole) {
  Make({{"/a", Range(0, 200)}, {"/b", Range(0, 5)}});
  CollectionWriter first = OpenWriter();
  CollectionWriter second = OpenWriter();
  const Ints ones(100, 1);
  const Ints twos(100, 2);
  ASSERT_TRUE(IsOk(first.Edit("/a")->WriteItems(0, ones)));
  ASSERT_TRUE(IsOk(second.Edit("/a")->WriteItems(0, twos)));
  ASSERT_TRUE(IsOk(Stage(second, "/b", Range(5, 8))));
  ASSERT_TRUE(IsOk(Stage(second, "/c", Range(5, 8))));
  ASSERT_TRUE(IsOk(first.Commit()));
  EXPECT_TRUE(Fails(second.Commit(), absl::StatusCode::kAborted, "/a"));
  EXPECT_TRUE(Fails(second.Commit(), absl::StatusCode::kAborted, "/a"));
  Content content = Stored();
  EXPECT_EQ(content.at("/a").front(), 1);
  EXPECT_EQ(content.at("/b"), Range(0, 5));
  EXPECT_FALSE(content.contains("/c"));
  second.Rollback();
  ASSERT_TRUE(IsOk(second.Edit("/a")->WriteItems(0, twos)));
  ASSERT_TRUE(IsOk(Stage(second, "/b", Range(5, 8))));
  ASSERT_TRUE(IsOk(second.Commit()));
  content = Stored();
  EXPECT_EQ(content.at("/a").front(), 2);
  EXPECT_EQ(content.at("/b"), Range(0, 8));
}

TEST_F(ObjectCollectionWritersTest, NamesThatCollideAreAborted) {
  Make({{"/a", Range(0, 200)}, {"/b", Range(0, 5)}, {"/c", Range(0, 5)}});
  CollectionWriter first = OpenWriter();
  {
    CollectionWriter adds = OpenWriter();
    CollectionWriter edits = OpenWriter();
    CollectionWriter removes = OpenWriter();
    CollectionWriter removes_changed = OpenWriter();
    ASSERT_TRUE(IsOk(Stage(first, "/new", Range(0, 150))));
    ASSERT_TRUE(IsOk(first.Remove("/a")));
    ASSERT_TRUE(IsOk(Stage(first, "/c", Range(5, 6))));
    ASSERT_TRUE(IsOk(Stage(adds, "/new", Range(500, 777))));
    ASSERT_TRUE(IsOk(Stage(edits, "/a", Range(500, 777))));
    ASSERT_TRUE(IsOk(removes.Remove("/a")));
    ASSERT_TRUE(IsOk(removes_changed.Remove("/c")));
    ASSERT_TRUE(IsOk(first.Commit()));
    EXPECT_TRUE(Fails(adds.Commit(), absl::StatusCode::kAborted, "/new"));
    EXPECT_TRUE(Fails(edits.Commit(), absl::StatusCode::kAborted, "/a"));
    EXPECT_TRUE(Fails(removes.Commit(), absl::StatusCode::kAborted, "/a"));
    EXPECT_TRUE(Fails(removes_changed.Commit(), absl::StatusCode::kAborted, "/c"));
    adds.Rollback();
    ASSERT_TRUE(IsOk(Stage(adds, "/new", Range(150, 160))));
    ASSERT_TRUE(IsOk(adds.Commit()));
    edits.Rollback();
    ASSERT_TRUE(IsOk(Stage(edits, "/a", Range(1, 2))));
    ASSERT_TRUE(IsOk(edits.Commit()));
    removes_changed.Rollback();
    ASSERT_TRUE(IsOk(removes_changed.Remove("/c")));
    ASSERT_TRUE(IsOk(removes_changed.Commit()));
  }
  EXPECT_EQ(Stored(), (Content{{"/a", {1}}, {"/b", Range(0, 5)}, {"/new", Range(0, 160)}}));
}

TEST_F(ObjectCollectionWritersTest, AnEditOfAMemberThatWasReplacedIsAborted) {
  Make({{"/a", Range(0, 200)}, {"/b", Range(0, 5)}});
  CollectionWriter first = OpenWriter();
  CollectionWriter second = OpenWriter();
  ASSERT_TRUE(IsOk(Stage(second, "/a", Range(200, 222))));
  ASSERT_TRUE(IsOk(first.Remove("/a")));
  ASSERT_TRUE(IsOk(first.Add("/a", Numbers())));
  ASSERT_TRUE(IsOk(Stage(first, "/a", {7})));
  ASSERT_TRUE(IsOk(first.Commit()));
  EXPECT_TRUE(Fails(second.Commit(), absl::StatusCode::kAborted, "/a: another writer"));
  second.Rollback();
  ASSERT_TRUE(IsOk(Stage(second, "/a", {8})));
  ASSERT_TRUE(IsOk(second.Commit()));
  EXPECT_EQ(Stored().at("/a"), (Ints{7, 8}));
}

// A proxy may refuse the put of an index, or lose the answer.
TEST_F(ObjectCollectionWritersTest, NoCommitNamesAnIndexThatIsNotThere) {
  using enum StoreFault;
  for (const StoreFault fault : {kLost, kRefused, kAnswerLost, kRepeated}) {
    store_ = std::make_shared<object::MemoryObjectStore>();
    faulty_ = std::make_shared<FaultObjectStore>(store_, 1);
    Make();
    CollectionWriter writer = OpenWriter(faulty_);
    faulty_->SetChoice([fault, first = true](std::string_view name) mutable {
      if (name.find("/index/") == name.npos) return kNone;
      return std::exchange(first, false) ? fault : kNone;
    });
    ASSERT_TRUE(IsOk(Stage(writer, "/a", Range(0, 150))));
    ASSERT_TRUE(IsOk(Stage(writer, "/b", Range(0, 150))));
    ASSERT_TRUE(IsOk(writer.Commit()));
    EXPECT_EQ(Stored(), (Content{{"/a", Range(0, 150)}, {"/b", Range(0, 150)}}));
  }
}

TEST_F(ObjectCollectionWritersTest, AWriterNeedNotRepeatTheCheckpointOfAnother) {
  Make({{"/a", {}}, {"/b", {}}});
  CollectionWriter first = OpenWriter();
  CollectionWriter second = OpenWriter();
  ASSERT_TRUE(IsOk(first.Add("/noise", Numbers(2'000'000))));
  ASSERT_TRUE(IsOk(first.Commit()));
  Ints noise(1'100'000);
  uint32_t seed = 1;
  for (int32_t& number : noise) number = static_cast<int32_t>(seed = seed * 1664525 + 1013904223);
  ASSERT_TRUE(IsOk(Stage(first, "/noise", noise)));
  ASSERT_TRUE(IsOk(first.Commit()));
  ASSERT_TRUE(IsOk(Stage(second, "/a", {1})));
  const int64_t before = store_->stats().puts;
  ASSERT_TRUE(IsOk(second.Commit()));
  EXPECT_EQ(store_->stats().puts - before, 2);  // one was too late
  EXPECT_EQ(Stored().at("/noise"), noise);
}

// Enough commits for some checkpoints, and members that others have changed meanwhile.
TEST_F(ObjectCollectionWritersTest, ManyWritersAtOnceLoseNothing) {
  Make({{"/all", {}}});
  constexpr int kWriters = 4;
  constexpr int32_t kCommits = 150;
  std::vector<std::thread> threads;
  std::atomic<bool> running = true;
  for (int i = 0; i < kWriters; ++i) {
    threads.emplace_back([this, i] {
      CollectionWriter writer = OpenWriter();
      const std::string own = "/own" + std::to_string(i);
      for (int32_t n = 0; n < kCommits; ++n) {
        ASSERT_TRUE(IsOk(Stage(writer, "/all", {i * kCommits + n})));
        ASSERT_TRUE(IsOk(Stage(writer, own, {n})));
        ASSERT_TRUE(IsOk(writer.Commit()));
        if (n % 40 == 39) writer = OpenWriter();
      }
    });
  }
  std::thread reader([&] {
    Collection collection = Open();
    for (uint64_t number = 0; running;) {
      const auto now = collection.Refresh();
      ASSERT_TRUE(IsOk(now));
      ASSERT_GE(now->number(), number);
      number = now->number();
      size_t own = 0;
      for (const auto& [name, items] : ContentOf(*now)) own += name == "/all" ? 0 : items.size();
      ASSERT_EQ(IntsOf(*now, "/all").size(), own);
    }
  });
  for (std::thread& thread : threads) thread.join();
  running = false;
  reader.join();
  Content content = Stored();
  Ints all = content.at("/all");
  std::ranges::sort(all);
  EXPECT_EQ(all, Range(0, kWriters * kCommits));
  for (int i = 0; i < kWriters; ++i) {
    EXPECT_EQ(content.at("/own" + std::to_string(i)), Range(0, kCommits));
  }
}

TEST_F(ObjectCollectionWritersTest, ACommitWithoutAnAnswerIsSettled) {
  using enum StoreFault;
  for (const auto& faults : std::vector<std::vector<StoreFault>>{
           {kLost}, {kAnswerLost}, {kDelayed}, {kRefused}, {kRepeated}, {kLost, kAnswerLost}}) {
    store_ = std::make_shared<object::MemoryObjectStore>();
    faulty_ = std::make_shared<FaultObjectStore>(store_, 1);
    Make({{"/a", Range(0, 5)}, {"/b", Range(0, 5)}});
    CollectionWriter writer = OpenWriter(faulty_);
    Plan(faults);
    ASSERT_TRUE(IsOk(Stage(writer, "/a", Range(5, 300))));
    ASSERT_TRUE(IsOk(Stage(writer, "/b", Range(5, 7))));
    ASSERT_TRUE(IsOk(writer.Commit()));
    faulty_->LandAll();
    EXPECT_EQ(Stored(), (Content{{"/a", Range(0, 300)}, {"/b", Range(0, 7)}}));
    ASSERT_TRUE(IsOk(Stage(writer, "/b", Range(7, 9))));
    ASSERT_TRUE(IsOk(writer.Commit()));
    EXPECT_EQ(Stored(), (Content{{"/a", Range(0, 300)}, {"/b", Range(0, 9)}}));
  }
}

TEST_F(ObjectCollectionWritersTest, ACommitThatWasNotMadeCanBeMadeAgain) {
  using enum StoreFault;
  Make({{"/a", Range(0, 5)}});
  CollectionWriter writer = OpenWriter(faulty_);
  Plan({kUnavailable});
  ASSERT_TRUE(IsOk(Stage(writer, "/a", Range(5, 300))));
  ASSERT_TRUE(IsOk(Stage(writer, "/b", Range(0, 150))));
  EXPECT_TRUE(Fails(writer.Commit(), absl::StatusCode::kUnavailable, ""));
  EXPECT_EQ(Stored(), (Content{{"/a", Range(0, 5)}}));
  ASSERT_TRUE(IsOk(Stage(writer, "/b", Range(150, 190))));  // more, between the two
  ASSERT_TRUE(IsOk(Stage(writer, "/a", Range(300, 310))));
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(Stored(), (Content{{"/a", Range(0, 310)}, {"/b", Range(0, 190)}}));
}

// Nobody knows whether the commit will come, so its chunks must stay.
TEST_F(ObjectCollectionWritersTest, ACommitThatComesLateIsWhole) {
  using enum StoreFault;
  Make({{"/a", Range(0, 5)}, {"/b", Range(0, 150)}});
  {
    CollectionWriter writer = OpenWriter(faulty_);
    faulty_->SetChoice([first = true](auto name) mutable {
      if (!name.starts_with("weather/embed.b2e/journal/")) return kNone;
      return std::exchange(first, false) ? kDelayed : kLost;
    });
    ASSERT_TRUE(IsOk(Stage(writer, "/a", Range(5, 300))));
    ASSERT_TRUE(IsOk(Stage(writer, "/c", Range(0, 150))));
    EXPECT_TRUE(Fails(writer.Commit(), absl::StatusCode::kDeadlineExceeded, ""));
    EXPECT_TRUE(Fails(writer.Commit(), absl::StatusCode::kFailedPrecondition, "earlier"));
    EXPECT_TRUE(Fails(writer.Edit("/a"), absl::StatusCode::kFailedPrecondition, "earlier"));
    writer.Rollback();
  }
  faulty_->SetChoice([](auto) { return kNone; });
  EXPECT_EQ(Stored(), (Content{{"/a", Range(0, 5)}, {"/b", Range(0, 150)}}));
  faulty_->LandAll();
  EXPECT_EQ(Stored(),
            (Content{{"/a", Range(0, 300)}, {"/b", Range(0, 150)}, {"/c", Range(0, 150)}}));
}

TEST_F(ObjectCollectionWritersTest, FaultsOfAllKindsLoseNothing) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    store_ = std::make_shared<object::MemoryObjectStore>();
    faulty_ = std::make_shared<FaultObjectStore>(store_, seed);
    Make({{"/a", {}}, {"/b", {}}});
    faulty_->SetChances({.unavailable = 3,
                         .lost = 1,
                         .answer_lost = 2,
                         .delayed = 1,
                         .repeated = 3,
                         .refused = 2,
                         .reads_unavailable = 2});
    Ints expected;
    std::optional<CollectionWriter> writer;
    CollectionWriter other = OpenWriter();
    for (int32_t n = 0; n < 40; ++n) {
      if (n % 3 == 0) {
        ASSERT_TRUE(IsOk(Stage(other, "/other", {n / 3})));
        ASSERT_TRUE(IsOk(other.Commit()));
        ASSERT_EQ(Stored().at("/other"), Range(0, n / 3 + 1));
      }
      if (!writer.has_value()) {
        auto collection = Collection::Open("weather", In(faulty_));
        if (!collection.ok()) continue;
        auto opened = collection->OpenWriter();
        if (!opened.ok()) continue;
        writer.emplace(*std::move(opened));
      }
      const absl::Status staged = [&] {
        const Ints items(60, n);
        const absl::Status a = Stage(*writer, "/a", items);
        return a.ok() ? Stage(*writer, "/b", items) : a;
      }();
      const absl::Status made = staged.ok() ? writer->Commit().status() : staged;
      faulty_->LandOne();
      if (made.ok()) {
        expected.insert(expected.end(), 60, n);
      } else {
        writer->Rollback();
        writer.reset();
        if (absl::IsDeadlineExceeded(made) && staged.ok()) {
          faulty_->LandAll();
          const Ints now = Stored().at("/a");
          if (now.size() == expected.size() + 60) expected.insert(expected.end(), 60, n);
        }
      }
      const Content content = Stored();
      ASSERT_EQ(content.at("/a"), expected) << n << made;
      ASSERT_EQ(content.at("/b"), expected) << n << made;
    }
    EXPECT_GT(expected.size(), 300U);
  }
}

}  // namespace
}  // namespace cairn::test
