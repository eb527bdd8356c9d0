// Increments that are applied in an object store, where others may commit at the same time.
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "cairn/collection.h"
#include "cairn/frame.h"
#include "tests/collection/objects/object_collection.h"
#include "tests/support/fault_object_store.h"
#include "tests/support/object_frame.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

class ObjectFrameIncrementTest : public ObjectFrameTest {
 protected:
  // Makes an increment that appends whole chunks to a frame of three, and such a frame.
  Snapshot MakeIncrement() {
    Make(3);
    const Frame source = Open();
    Writer writer = OpenWriter();
    EXPECT_TRUE(IsOk(writer.Append(MakeItems(2 * kChunk, 5))));
    const auto newest = writer.Commit();
    const std::string path = dir_.Path("increment");
    EXPECT_TRUE(IsOk(newest->CopyTo(path, {.since = source.snapshot()})));
    store_ = std::make_shared<object::MemoryObjectStore>();
    ReachThrough(store_);
    Make(3);
    return Frame::Open(path)->snapshot();
  }

  TempDir dir_;
  const Buffer result_ = Concatenated({MakeItems(3 * kChunk), MakeItems(2 * kChunk, 5)});
};

TEST_F(ObjectFrameIncrementTest, OneOfTwoWritersAppliesAnIncrement) {
  const Snapshot increment = MakeIncrement();
  Writer first = OpenWriter();
  Writer second = OpenWriter();
  ASSERT_TRUE(IsOk(first.ApplyIncrement(increment)));
  ASSERT_TRUE(IsOk(second.ApplyIncrement(increment)));
  ASSERT_TRUE(IsOk(first.Commit()));
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(Fails(second.Commit(), absl::StatusCode::kAborted, "another writer"));
  }
  EXPECT_EQ(Content(), result_);
  second.Rollback();
  ASSERT_TRUE(IsOk(second.ApplyIncrement(increment)));
  ASSERT_TRUE(IsOk(second.Commit()));
  EXPECT_EQ(Content(), result_);
  ASSERT_TRUE(IsOk(second.Append(MakeItems(1))));  // the rule is that of the increment alone
  ASSERT_TRUE(IsOk(first.Append(MakeItems(1))));
  ASSERT_TRUE(IsOk(second.Commit()));
  ASSERT_TRUE(IsOk(first.Commit()));
}

TEST_F(ObjectFrameIncrementTest, AnIncrementIsNotAppliedAfterAnyOtherCommit) {
  const Snapshot increment = MakeIncrement();
  for (const bool checkpoints : {false, true}) {
    Writer first = OpenWriter();
    Writer second = OpenWriter();
    ASSERT_TRUE(IsOk(second.ApplyIncrement(increment)));
    const std::string layer = checkpoints ? "a" : "b";
    ASSERT_TRUE(IsOk(first.SetVlmetalayer(layer, MakeItems(3))));
    ASSERT_TRUE(IsOk(first.Commit()));
    ASSERT_TRUE(IsOk(first.DeleteVlmetalayer(layer)));
    ASSERT_TRUE(IsOk(checkpoints ? first.Checkpoint() : first.Commit().status()));
    EXPECT_EQ(second.Commit().status().code(), absl::StatusCode::kAborted);
  }
  EXPECT_EQ(Content(), MakeItems(3 * kChunk));
}

TEST_F(ObjectFrameIncrementTest, AnIncrementStandsBesideACheckpoint) {
  const Snapshot increment = MakeIncrement();
  Writer first = OpenWriter();
  ASSERT_TRUE(IsOk(first.SetVlmetalayer("a", MakeItems(3))));
  ASSERT_TRUE(IsOk(first.Commit()));
  ASSERT_TRUE(IsOk(first.DeleteVlmetalayer("a")));
  ASSERT_TRUE(IsOk(first.Commit()));
  Writer second = OpenWriter();
  ASSERT_TRUE(IsOk(second.ApplyIncrement(increment)));
  ASSERT_TRUE(IsOk(first.Checkpoint()));
  ASSERT_TRUE(IsOk(second.Commit()));
  EXPECT_EQ(Content(), result_);
}

class ObjectIncrementTest : public ObjectCollectionTest {
 protected:
  // Makes an increment that changes one member, replaces one, adds one and removes one, and a
  // collection that it applies to.
  CollectionSnapshot MakeIncrement() {
    const std::string source_path = dir_.Path("source.b2d");
    EXPECT_TRUE(IsOk(Collection::Create(source_path)));
    Collection source = Collection::Open(source_path).value();
    CollectionWriter writer = source.OpenWriter().value();
    for (const auto& [name, items] : base_) EXPECT_TRUE(IsOk(Stage(writer, name, items)));
    EXPECT_TRUE(IsOk(writer.Commit()));
    const CollectionSnapshot since = source.Refresh().value();
    EXPECT_TRUE(IsOk(Stage(writer, "/changed", Range(200, 400))));
    EXPECT_TRUE(IsOk(writer.Remove("/removed")));
    EXPECT_TRUE(IsOk(Stage(writer, "/added", Range(0, 100))));
    EXPECT_TRUE(IsOk(writer.Commit()));
    const CollectionSnapshot newest = source.Refresh().value();
    result_ = ContentOf(newest);
    const std::string path = dir_.Path("increment.b2z");
    EXPECT_TRUE(IsOk(newest.WriteIncrement(path, since)));
    Make(base_);
    return Collection::Open(path)->snapshot();
  }
  // Opens a collection whose next commit comes after `first`.
  Collection OpenLate(std::function<void()> first) {
    auto late = std::make_shared<FaultObjectStore>(store_, 1);
    Collection collection = Open(late);
    late->SetChoice([first = std::move(first)](std::string_view name) mutable {
      if (first != nullptr && name.starts_with("weather/embed.b2e/journal/")) {
        std::exchange(first, nullptr)();
      }
      return StoreFault::kNone;
    });
    return collection;
  }

  TempDir dir_;
  const Content base_ = {
      {"/changed", Range(0, 200)}, {"/removed", Range(0, 5)}, {"/same", Range(0, 5)}};
  Content result_;
};

TEST_F(ObjectIncrementTest, TwoThatApplyAnIncrementAtOnceApplyItOnce) {
  const CollectionSnapshot increment = MakeIncrement();
  Collection collection = OpenLate([&] { EXPECT_EQ(*Open().ApplyIncrement(increment), true); });
  const auto applied = collection.ApplyIncrement(increment);
  ASSERT_TRUE(IsOk(applied));
  EXPECT_FALSE(*applied);
  EXPECT_EQ(Stored(), result_);
}

TEST_F(ObjectIncrementTest, AnIncrementIsNotAppliedAfterAnEditOfAnotherMember) {
  const CollectionSnapshot increment = MakeIncrement();
  Collection collection = OpenLate([&] {
    CollectionWriter writer = OpenWriter();
    EXPECT_TRUE(IsOk(Stage(writer, "/same", Range(5, 7))));
    EXPECT_TRUE(IsOk(writer.Commit()));
  });
  EXPECT_TRUE(Fails(collection.ApplyIncrement(increment), absl::StatusCode::kFailedPrecondition,
                    "made for a collection"));
  Content content = base_;
  content["/same"] = Range(0, 7);
  EXPECT_EQ(Stored(), content);
}

TEST_F(ObjectIncrementTest, AnIncrementIsAppliedAfterACommitThatChangesNothing) {
  const CollectionSnapshot increment = MakeIncrement();
  Collection collection = OpenLate([&] {
    CollectionWriter writer = OpenWriter();
    EXPECT_TRUE(IsOk(Stage(writer, "/new", Range(5, 7))));
    EXPECT_TRUE(IsOk(writer.Commit()));
    EXPECT_TRUE(IsOk(writer.Remove("/new")));
    EXPECT_TRUE(IsOk(writer.Commit()));
  });
  const auto applied = collection.ApplyIncrement(increment);
  ASSERT_TRUE(IsOk(applied));
  EXPECT_TRUE(*applied);
  EXPECT_EQ(Stored(), result_);
}

}  // namespace
}  // namespace cairn::test
