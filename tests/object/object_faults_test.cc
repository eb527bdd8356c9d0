// Frames in an object store on the far side of a bad network.
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/object_store.h"
#include "engine/base/bytes.h"
#include "engine/format/sparse_names.h"
#include "engine/frame/stage/object_sink.h"
#include "engine/object/memory_object_store.h"
#include "tests/object/rigged_store.h"
#include "tests/support/bytes.h"
#include "tests/support/fault_object_store.h"
#include "tests/support/frames.h"
#include "tests/support/object_frame.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

class ObjectFaultsTest : public ObjectFrameTest {
 protected:
  ObjectFaultsTest() { ReachThrough(faulty_); }

  // The next put of such a name meets the fault.
  void Plan(std::string_view part, StoreFault fault) {
    faulty_->SetChoice([part = std::string(part), fault, done = false](auto name) mutable {
      if (done || name.find(part) == std::string_view::npos) return StoreFault::kNone;
      done = true;
      return fault;
    });
  }

  const std::shared_ptr<FaultObjectStore> faulty_ = std::make_shared<FaultObjectStore>(store_, 1);
};

TEST_F(ObjectFaultsTest, ACommitThatIsSentTwiceIsMadeOnce) {
  Make(2);
  Writer writer = OpenWriter();
  Plan("journal/", StoreFault::kRepeated);
  ASSERT_TRUE(IsOk(writer.Append(MakeItems(100, 5))));
  ASSERT_TRUE(IsOk(writer.Commit()));
  Plan("journal/", StoreFault::kRepeated);
  ASSERT_TRUE(IsOk(writer.UpdateChunk(1, MakeItems(kChunk, 6))));
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(faulty_->faults(), 2);
  Buffer all = Concatenated({MakeItems(kChunk), MakeItems(kChunk, 6), MakeItems(100, 5)});
  ExpectHolds(Open().snapshot(), all);
}

// The record may lie outside of the journal, in the place of another writer's record, which is
// garbage by now.
TEST_F(ObjectFaultsTest, ACommitThatTookLongerThanTheGraceIsNotAcknowledged) {
  Make(2);
  ObjectFileOptions options;
  options.grace = std::chrono::seconds(1);
  Reopen(options);
  Writer writer = OpenWriter();
  ASSERT_TRUE(IsOk(writer.SetVlmetalayer("a", MakeItems(5))));
  faulty_->SetChoice([](std::string_view name) {
    if (name.starts_with("f/journal/")) std::this_thread::sleep_for(std::chrono::seconds(1));
    return StoreFault::kNone;
  });
  EXPECT_TRUE(Fails(writer.Commit(), absl::StatusCode::kDeadlineExceeded, "too late"));
}

TEST_F(ObjectFaultsTest, AFrameThatIsReplacedTakesNoMoreCommits) {
  Make(2);
  Writer first = OpenWriter();
  Writer second = OpenWriter();
  Frame reader = Open();
  ASSERT_TRUE(IsOk(first.Append(MakeItems(10, 5))));
  ASSERT_TRUE(IsOk(first.Commit()));
  Make(3, true);
  for (Writer* writer : {&first, &second}) {
    ASSERT_TRUE(IsOk(writer->Append(MakeItems(20, 6))));
    for (int i = 0; i < 2; ++i) {
      EXPECT_TRUE(Fails(writer->Commit(), absl::StatusCode::kFailedPrecondition, "replaced"));
    }
    writer->Rollback();
    EXPECT_FALSE(writer->Append(MakeItems(20, 6)).ok());
  }
  ExpectHolds(Open().snapshot(), MakeItems(3 * kChunk));
  ExpectHolds(reader.snapshot(), MakeItems(2 * kChunk));
}

TEST_F(ObjectFaultsTest, AFrameCanBeReplacedAfterOneWhoDiedOnTheWay) {
  Make(2);
  Plan("chunks.b2frame", StoreFault::kLost);
  CreateOptions options = Sparse();
  options.overwrite = true;
  {
    auto writer = Frame::BeginCreate("f", options);
    ASSERT_TRUE(IsOk(writer));
    ASSERT_TRUE(IsOk(writer->Append(MakeItems(kChunk, 9))));
    EXPECT_TRUE(Fails(writer->Commit(), absl::StatusCode::kDeadlineExceeded, "no answer"));
  }
  ExpectHolds(Open().snapshot(), MakeItems(2 * kChunk));
  Make(3, true);
  ExpectHolds(Open().snapshot(), MakeItems(3 * kChunk));
}

TEST_F(ObjectFaultsTest, AFrameWhoseIndexIsSentTwiceIsMade) {
  Plan("chunks.b2frame", StoreFault::kRepeated);
  Make(2);
  ExpectHolds(Open().snapshot(), MakeItems(2 * kChunk));
  Plan("chunks.b2frame", StoreFault::kRepeated);
  Make(3, true);
  ExpectHolds(Open().snapshot(), MakeItems(3 * kChunk));
}

TEST_F(ObjectFaultsTest, AChunkThatIsSentTwiceIsCommitted) {
  Make(2);
  Writer writer = OpenWriter();
  // The first one finds numbers for those after it.
  for (uint64_t i = 1; i <= 3; ++i) {
    Plan(".chunk", StoreFault::kRepeated);
    ASSERT_TRUE(IsOk(writer.Append(MakeItems(kChunk, i))));
    ASSERT_TRUE(IsOk(writer.Commit()));
  }
  EXPECT_EQ(faulty_->faults(), 3);
  ExpectHolds(Open().snapshot(), Concatenated({MakeItems(2 * kChunk), MakeItems(kChunk, 1),
                                               MakeItems(kChunk, 2), MakeItems(kChunk, 3)}));
}

TEST_F(ObjectFaultsTest, AChunkThatIsSentTwiceIsCommittedWhenItCanBeReadAgain) {
  Make(2);
  Writer writer = OpenWriter();
  ASSERT_TRUE(IsOk(writer.Append(MakeItems(kChunk, 1))));
  Plan(".chunk", StoreFault::kRepeated);
  ASSERT_TRUE(IsOk(writer.Append(MakeItems(kChunk, 2))));
  faulty_->SetChances({.reads_unavailable = 100});
  EXPECT_TRUE(Fails(writer.Commit(), absl::StatusCode::kUnavailable, "no answer to a read"));
  faulty_->SetChances({});
  ASSERT_TRUE(IsOk(writer.Commit()));
  ExpectHolds(Open().snapshot(),
              Concatenated({MakeItems(2 * kChunk), MakeItems(kChunk, 1), MakeItems(kChunk, 2)}));
}

// An edit of a frame of variable chunks reads the size of the chunk that was there.
TEST_F(ObjectFaultsTest, AChunkThatIsOnItsWayCanBeEdited) {
  const auto slow = std::make_shared<RiggedStore>();
  ReachThrough(slow);
  CreateOptions options = Sparse();
  options.chunksize = ChunkSize::Variable();
  auto writer = Frame::BeginCreate("f", options);
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Append(MakeItems(10, 1))));
  slow->delay = std::chrono::milliseconds(50);
  for (uint64_t i = 2; i <= 4; ++i) ASSERT_TRUE(IsOk(writer->Append(MakeItems(10, i))));
  ASSERT_TRUE(IsOk(writer->UpdateChunk(1, MakeItems(20, 5))));
  ASSERT_TRUE(IsOk(writer->DeleteChunks(3, 1)));
  ASSERT_TRUE(IsOk(writer->Commit()));
  EXPECT_EQ(Content(), Concatenated({MakeItems(10, 1), MakeItems(20, 5), MakeItems(10, 3)}));
}

TEST_F(ObjectFaultsTest, AWriterGoesOnAfterAChunkThatCouldNotBePut) {
  Make(2);
  Writer writer = OpenWriter();
  ASSERT_TRUE(IsOk(writer.Append(MakeItems(kChunk, 5))));
  for (const StoreFault fault : {StoreFault::kUnavailable, StoreFault::kLost}) {
    Plan(".chunk", fault);
    const absl::Status appended = writer.Append(MakeItems(2 * kChunk, 6));
    EXPECT_FALSE(appended.ok() && writer.Commit().ok());
    writer.Rollback();
    ASSERT_TRUE(IsOk(writer.Append(MakeItems(7, 7))));
    ASSERT_TRUE(IsOk(writer.Commit()));
  }
  ExpectHolds(Open().snapshot(),
              Concatenated({MakeItems(2 * kChunk), MakeItems(7, 7), MakeItems(7, 7)}));
}

// The list of garbage is as old as what it knows of the frame.
TEST_F(ObjectFaultsTest, ACollectorThatStallsShortensNoGrace) {
  store_->SetNow(1000);
  ObjectFileOptions options;
  options.grace = std::chrono::seconds(100);
  Reopen(options);
  Make(4);
  store_->SetNow(2000);
  Writer writer = OpenWriter();
  Writer collector = OpenWriter();
  std::optional<Frame> reader;
  bool listed = false;
  faulty_->OnRead([&](std::string_view name) {
    listed |= name == "f/";
    if (!listed || name != "f/chunks.b2frame") return;
    faulty_->OnRead(nullptr);
    store_->SetNow(2500);
    reader.emplace(Open());
    ASSERT_TRUE(IsOk(writer.UpdateChunk(1, MakeItems(kChunk, 11))));
    ASSERT_TRUE(IsOk(writer.Checkpoint()));
  });
  ASSERT_TRUE(IsOk(collector.Reclaim()));
  ASSERT_TRUE(reader.has_value());
  for (const int64_t now : {2500, 2599}) {
    store_->SetNow(now);
    ASSERT_TRUE(IsOk(collector.Reclaim()));
    ExpectHolds(reader->snapshot(), MakeItems(4 * kChunk));
  }
  store_->SetNow(2600);
  EXPECT_GT(collector.Reclaim()->freed, kChunk / 2);
}

TEST_F(ObjectFaultsTest, ObjectsOfAFrameThatWasReplacedAreCollected) {
  store_->SetNow(1000);
  ObjectFileOptions options;
  options.grace = std::chrono::seconds(100);
  Reopen(options);
  // The journal of the next may begin before that of the one before, or after it.
  for (int i = 0; i < 8; ++i) {
    Make(2, true);
    Writer writer = OpenWriter();
    ASSERT_TRUE(IsOk(writer.Append(MakeItems(10))));
    ASSERT_TRUE(IsOk(writer.Commit()));
  }
  Make(2, true);
  Writer writer = OpenWriter();
  for (const int64_t now : {2000, 3000}) {
    store_->SetNow(now);
    ASSERT_TRUE(IsOk(writer.Reclaim()));
  }
  const auto left = store_->List("f/", "", 1000);
  ASSERT_TRUE(IsOk(left));
  EXPECT_EQ(left->objects.size(), 3U);  // the index and two chunks
  ExpectHolds(Open().snapshot(), MakeItems(2 * kChunk));
}

class ObjectLanesTest : public testing::Test {
 protected:
  static Buffer Chunk(uint64_t seed) { return Compressed(MakeItems(64, seed), OfTypesize(1)); }
  std::vector<std::string> Names() { return NamesOf(store_->List("", "", 1000)); }
  static std::vector<std::string> NamesOf(const absl::StatusOr<ObjectListing>& listing) {
    std::vector<std::string> names;
    for (const ObjectInfo& object : listing->objects) names.push_back(object.name);
    return names;
  }

  const std::shared_ptr<object::MemoryObjectStore> store_ =
      std::make_shared<object::MemoryObjectStore>();
};

TEST_F(ObjectLanesTest, AWriterThatRollsBackRemovesNoObjectOfAnother) {
  frame::ObjectSink sink(store_, {});
  const auto first = sink.Append(Chunk(1));
  ASSERT_TRUE(IsOk(first));
  const std::string other = format::ChunkFileName(*first + 1);
  ASSERT_TRUE(IsOk(store_->PutIfAbsent(other, Chunk(2))));
  ASSERT_TRUE(IsOk(sink.Append(Chunk(3))));
  EXPECT_TRUE(Fails(sink.Flush(), absl::StatusCode::kAborted, other));
  sink.Discard();
  const auto there = store_->Get(other);
  ASSERT_TRUE(IsOk(there));
  EXPECT_EQ(there->bytes, Chunk(2));
}

TEST_F(ObjectLanesTest, AWriterThatRollsBackRemovesWhatWasSentTwice) {
  const auto faulty = std::make_shared<FaultObjectStore>(store_, 1);
  frame::ObjectSink sink(faulty, {});
  const auto first = sink.Append(Chunk(1));
  ASSERT_TRUE(IsOk(first));
  faulty->SetChances({.repeated = 100});
  ASSERT_TRUE(IsOk(sink.Append(Chunk(2))));
  sink.Discard();
  EXPECT_EQ(Names(), std::vector<std::string>{format::ChunkFileName(*first)});
}

// A request to remove the object of the first may still be on its way. Lanes are chosen at random
// among 65,536: of three, two are the same in one run of 20,000.
TEST_F(ObjectLanesTest, NumbersOfObjectsThatAreRemovedAreNotUsedAgainSoon) {
  std::set<int64_t> numbers;
  for (const bool is_garbage : {true, false, true}) {
    frame::ObjectSink sink(store_, {});
    for (uint64_t chunk = 0; chunk < 3; ++chunk) {
      const auto number = sink.Append(Chunk(chunk));
      ASSERT_TRUE(IsOk(number));
      EXPECT_TRUE(numbers.insert(*number).second) << *number;
    }
    if (is_garbage) {
      ASSERT_TRUE(IsOk(sink.Flush()));
    } else {
      sink.Discard();
    }
    ASSERT_TRUE(IsOk(store_->Delete(Names())));
  }
}

TEST_F(ObjectLanesTest, AWriterThatRolledBackKeepsItsLane) {
  frame::ObjectSink sink(store_, {});
  const auto first = sink.Append(Chunk(1));
  ASSERT_TRUE(IsOk(first));
  ASSERT_TRUE(IsOk(sink.Append(Chunk(2))));
  sink.Discard();
  EXPECT_EQ(Names(), std::vector<std::string>{format::ChunkFileName(*first)});
  EXPECT_EQ(*sink.Append(Chunk(3)), *first + 2);
}

// Numbers are free in between, where chunks were updated before the frame was uploaded.
TEST_F(ObjectLanesTest, NoLaneIsTakenThatAChunkOfTheFrameIsIn) {
  std::vector<int64_t> used;
  for (int64_t lane = 0; lane < int64_t{1} << 23; ++lane) {
    if (lane % 16 != 0) used.push_back(lane * 256 + 7);
  }
  frame::ObjectSink sink(store_, used);
  for (int i = 0; i < 20; ++i) {
    const auto number = sink.Append(Chunk(1));
    ASSERT_TRUE(IsOk(number));
    EXPECT_EQ(*number / 256 % 16, 0);
  }
}

}  // namespace
}  // namespace cairn::test
