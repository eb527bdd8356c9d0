// Objects of a collection that no state needs any more.
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/collection.h"
#include "cairn/frame.h"
#include "engine/collection/ledger/object_copy.h"
#include "engine/collection/objects/member_store.h"
#include "engine/format/sparse_names.h"
#include "tests/collection/objects/object_collection.h"
#include "tests/support/fault_object_store.h"

namespace cairn::test {
namespace {

class ObjectGarbageTest : public ObjectCollectionTest {
 protected:
  static constexpr int64_t kGrace = 24 * 60 * 60;

  ObjectGarbageTest() { Pass(0); }

  // Lets time pass by the store's clock.
  void Pass(int64_t seconds) { store_->SetNow(now_ += seconds); }
  std::set<std::string> Names(const std::string& prefix) const {
    std::set<std::string> names;
    const auto listing = store_->List("weather/" + prefix, "", 1000);
    EXPECT_TRUE(IsOk(listing));
    for (const ObjectInfo& object : listing->objects) names.insert(object.name);
    return names;
  }
  // Counts the chunks and indexes of members.
  size_t CountOfMembers() const {
    size_t count = 0;
    for (const std::string& name : Names("")) {
      count += name.starts_with("weather/embed.b2e/") ? 0 : 1;
    }
    return count;
  }
  void Collect() {
    CollectionWriter writer = OpenWriter();
    ASSERT_TRUE(IsOk(writer.Compact("/a")));
    ASSERT_TRUE(IsOk(writer.Commit()));
  }
  void ExpectWhole(const Content& content) {
    EXPECT_EQ(Stored(), content);
    const auto report = Open().snapshot().Verify();
    ASSERT_TRUE(IsOk(report));
    EXPECT_TRUE(report->findings.empty());
  }

  // Returns how many copies the checkpoint of the ledger has. Each is that of an object in the
  // store.
  size_t CountCopies() const {
    OpenOptions in;
    in.file_system = In().members.file_system;
    const auto ledger = Frame::Open("weather/embed.b2e", in);
    EXPECT_TRUE(IsOk(ledger));
    if (!ledger->snapshot().HasVlmetalayer(collection::kCopiesLayer)) return 0;
    const auto copies =
        collection::ParseCopies(*ledger->snapshot().GetVlmetalayer(collection::kCopiesLayer));
    EXPECT_TRUE(IsOk(copies));
    for (const collection::ObjectCopy& copy : *copies) {
      const std::string object = copy.kind == collection::ObjectCopy::Kind::kIndex
                                     ? collection::IndexObjectName(copy.id, copy.number)
                                     : format::ChunkFileName(static_cast<int64_t>(copy.number));
      const auto there = store_->Get("weather" + copy.member + ".b2nd/" + object);
      EXPECT_TRUE(IsOk(there)) << copy.member;
      EXPECT_TRUE(!there.ok() || there->bytes == copy.bytes) << copy.member;
    }
    return copies->size();
  }

  int64_t now_ = 1'800'000'000;
};

// A name may be that of another object when the one before has lost it.
TEST_F(ObjectGarbageTest, CheckpointsHaveNoCopiesOfGarbage) {
  Make({{"/a", Range(0, 250)}, {"/gone", Range(0, 250)}, {"/still", Range(0, 250)}});
  for (int i = 0; i < 4; ++i) {
    CollectionWriter writer = OpenWriter();
    ASSERT_TRUE(IsOk(writer.Edit("/a")->WriteItems(0, Ints(250, 1 + i))));
    absl::Status staged;
    if (i == 1) staged = writer.Remove("/gone");
    if (i == 2) staged = Stage(writer, "/gone", Range(0, 450));
    if (i == 3) staged = writer.Edit("/a")->ResizeArray(std::vector<int64_t>{150});
    ASSERT_TRUE(IsOk(staged));
    ASSERT_TRUE(IsOk(writer.Commit()));
    for (int collected = 0; collected < 3; ++collected) {
      Collect();
      const size_t of_gone = i == 1 ? 0 : i == 0 ? 3 + 1 : 5 + 1;
      const size_t of_a = i == 3 ? 2 + 1 : 3 + 1;
      EXPECT_EQ(CountCopies(), of_a + 4 + of_gone) << i;
      Pass(kGrace);
    }
  }
}

TEST_F(ObjectGarbageTest, WhatNoStateNeedsIsRemovedAfterTheGrace) {
  Make({{"/a", Range(0, 250)}, {"/gone", Range(0, 250)}});
  const CollectionSnapshot before = Open().snapshot();
  {
    CollectionWriter writer = OpenWriter();
    ASSERT_TRUE(IsOk(writer.Edit("/a")->WriteItems(0, Ints(250, 7))));
    ASSERT_TRUE(IsOk(writer.Remove("/gone")));
    ASSERT_TRUE(IsOk(writer.Commit()));
  }
  Pass(kGrace);
  Collect();
  Pass(kGrace - 10);
  Collect();
  EXPECT_EQ(ContentOf(before), (Content{{"/a", Range(0, 250)}, {"/gone", Range(0, 250)}}));
  EXPECT_FALSE(Names("gone.b2nd/").empty());
  Pass(10);
  Collect();
  EXPECT_EQ(Names("gone.b2nd/").size(), 1U);  // an index tells that a member was there
  Pass(kGrace);
  Collect();
  Pass(kGrace);
  Collect();
  EXPECT_TRUE(Names("gone.b2nd/").empty());
  // Three chunks, the index, and that of the frame.
  EXPECT_EQ(Names("a.b2nd/").size(), 3U + 1 + 1);
  ExpectWhole({{"/a", Ints(250, 7)}});
}

TEST_F(ObjectGarbageTest, WhatDeadWritersLeftIsRemoved) {
  Make({{"/a", Range(0, 250)}});
  const size_t count = CountOfMembers();
  {
    CollectionWriter writer = OpenWriter();
    ASSERT_TRUE(IsOk(Stage(writer, "/a", Range(250, 700))));
    ASSERT_TRUE(IsOk(Stage(writer, "/b", Range(250, 700))));
  }
  EXPECT_GT(CountOfMembers(), count);
  Pass(kGrace / 2);
  Collect();
  Pass(kGrace);
  Collect();
  EXPECT_EQ(CountOfMembers(), count);
  ExpectWhole({{"/a", Range(0, 250)}});
}

TEST_F(ObjectGarbageTest, WhatACommitMayStillNameStays) {
  Make({{"/a", Range(0, 250)}});
  CollectionWriter slow = OpenWriter();
  ASSERT_TRUE(IsOk(Stage(slow, "/a", Range(250, 700))));
  ASSERT_TRUE(IsOk(Stage(slow, "/b", Range(0, 700))));
  Pass(kGrace / 2 - 1);
  Collect();
  Pass(kGrace);
  Collect();
  ASSERT_TRUE(IsOk(slow.Commit()));
  Collect();
  Pass(kGrace);
  Collect();
  ExpectWhole({{"/a", Range(0, 700)}, {"/b", Range(0, 700)}});
}

// The frame that shows a member alone is renewed before anything is removed.
TEST_F(ObjectGarbageTest, AMemberOpenedAloneStaysWhole) {
  Make({{"/a", Range(0, 250)}});
  for (int i = 0; i < 3; ++i) {
    CollectionWriter writer = OpenWriter();
    ASSERT_TRUE(IsOk(writer.Edit("/a")->WriteItems(0, Ints(250, i))));
    ASSERT_TRUE(IsOk(writer.Commit()));
    Pass(kGrace);
    Collect();
    Pass(kGrace);
    Collect();
    OpenOptions in;
    in.file_system = In().members.file_system;
    const auto frame = Frame::Open("weather/a.b2nd", in);
    ASSERT_TRUE(IsOk(frame));
    Ints alone(250);
    ASSERT_TRUE(IsOk(frame->snapshot().ReadItems(0, alone)));
    EXPECT_EQ(alone, Ints(250, i));
  }
}

TEST_F(ObjectGarbageTest, AFrameThatWasNotRenewedIsRenewedBeforeItsChunksGo) {
  Make({{"/a", Range(0, 250)}});
  const auto hindered = std::make_shared<FaultObjectStore>(store_, 1);
  hindered->SetChoice([](std::string_view name) {
    return name.ends_with("chunks.b2frame") && !name.starts_with("weather/embed.b2e/")
               ? StoreFault::kUnavailable
               : StoreFault::kNone;
  });
  CollectionWriter writer = OpenWriter(hindered);
  ASSERT_TRUE(IsOk(writer.Edit("/a")->WriteItems(0, Ints(250, 7))));
  ASSERT_TRUE(IsOk(writer.Commit()));
  ASSERT_TRUE(IsOk(writer.Compact("/a")));
  ASSERT_TRUE(IsOk(writer.Commit()));
  for (int i = 0; i < 3; ++i) {
    Pass(kGrace);
    Collect();
  }
  OpenOptions in;
  in.file_system = In().members.file_system;
  const auto frame = Frame::Open("weather/a.b2nd", in);
  ASSERT_TRUE(IsOk(frame));
  Ints alone(250);
  ASSERT_TRUE(IsOk(frame->snapshot().ReadItems(0, alone)));
  EXPECT_EQ(alone, Ints(250, 7));
}

TEST_F(ObjectGarbageTest, AWriterThatIsBehindRemovesNothingNew) {
  Make({{"/a", Range(0, 250)}});
  CollectionWriter behind = OpenWriter();
  ASSERT_TRUE(IsOk(behind.Compact("/a")));
  ASSERT_TRUE(IsOk(behind.Commit()));
  CollectionWriter writer = OpenWriter();
  ASSERT_TRUE(IsOk(Stage(writer, "/a", Range(250, 700))));
  ASSERT_TRUE(IsOk(Stage(writer, "/b", Range(0, 700))));
  ASSERT_TRUE(IsOk(writer.Commit()));
  for (int i = 0; i < 3; ++i) {
    Pass(kGrace);
    ASSERT_TRUE(IsOk(behind.Compact("/a")));
    ASSERT_TRUE(IsOk(behind.Commit()));
  }
  ExpectWhole({{"/a", Range(0, 700)}, {"/b", Range(0, 700)}});
}

// As in a commit that is followed by a checkpoint, once in a quarter of the grace.
TEST_F(ObjectGarbageTest, CommitsCollectGarbageNowAndThen) {
  Make({{"/a", Range(0, 250)}, {"/gone", Range(0, 250)}});
  CollectionWriter writer = OpenWriter();
  ASSERT_TRUE(IsOk(writer.Remove("/gone")));
  for (int quarter = 0; quarter < 12; ++quarter) {
    for (int32_t n = 0; n < 260; ++n) {
      ASSERT_TRUE(IsOk(writer.Edit("/a")->WriteItems(0, Ints(1, n))));
      ASSERT_TRUE(IsOk(writer.Commit()));
    }
    Pass(kGrace / 4);
  }
  EXPECT_TRUE(Names("gone.b2nd/").empty());
  EXPECT_LE(Names("embed.b2e/members/").size(), 10U);
  Ints expected = Range(0, 250);
  expected[0] = 259;
  ExpectWhole({{"/a", expected}});
}

TEST_F(ObjectGarbageTest, FramesAndCollectionsOfOthersStay) {
  Make({{"/a", Range(0, 250)}});
  const auto inner = Collection::Create("weather/inner", In());
  ASSERT_TRUE(IsOk(inner));
  {
    auto writer = Collection::Open("weather/inner", In())->OpenWriter();
    ASSERT_TRUE(IsOk(writer));
    ASSERT_TRUE(IsOk(Stage(*writer, "/day/b", Range(0, 250))));
    ASSERT_TRUE(IsOk(writer->Commit()));
  }
  CreateOptions options = Numbers();
  options.array->shape = {500};
  options.file_system = In().members.file_system;
  ASSERT_TRUE(IsOk(Frame::Create("weather/frame.b2nd", options)));
  const size_t inner_names = Names("inner/").size();
  const size_t frame_names = Names("frame.b2nd/").size();
  for (int i = 0; i < 3; ++i) {
    Pass(kGrace);
    Collect();
  }
  EXPECT_EQ(Names("inner/").size(), inner_names);
  EXPECT_EQ(Names("frame.b2nd/").size(), frame_names);
  const auto opened = Collection::Open("weather/inner", In());
  ASSERT_TRUE(IsOk(opened));
  EXPECT_EQ(ContentOf(opened->snapshot()), (Content{{"/day/b", Range(0, 250)}}));
  CollectionWriter writer = OpenWriter();
  EXPECT_TRUE(Fails(writer.Add("/inner/day/b", Numbers()), absl::StatusCode::kFailedPrecondition,
                    "another collection"));
  EXPECT_TRUE(IsOk(writer.Add("/other/day/b", Numbers())));
}

TEST_F(ObjectGarbageTest, ObjectsOfOthersStay) {
  Make({{"/a", Range(0, 250)}});
  const std::set<std::string> others = {"weather/readme.txt", "weather/a.b2nd/notes",
                                        "weather/day/x.chunk", "weather/a.b2nd/index/1.2"};
  for (const std::string& name : others) ASSERT_TRUE(IsOk(store_->PutIfAbsent(name, {})));
  Pass(kGrace);
  Collect();
  Pass(kGrace);
  Collect();
  for (const std::string& name : others) EXPECT_TRUE(IsOk(store_->Head(name))) << name;
}

}  // namespace
}  // namespace cairn::test
