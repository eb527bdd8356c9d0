// Commits whose put has no known outcome: what is committed is settled, and never guessed.
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/object_store.h"
#include "engine/object/memory_object_store.h"
#include "tests/support/bytes.h"
#include "tests/support/fault_object_store.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

constexpr int32_t kFencedChunk = 64;

class ObjectFenceTest : public testing::Test {
 protected:
  void Make() {
    CreateOptions options = Cut(1, kFencedChunk);
    options.layout = Layout::kSparse;
    options.file_system = files_;
    auto writer = Frame::BeginCreate("f", options);
    ASSERT_TRUE(IsOk(writer));
    Add(*writer, 100);
    ASSERT_TRUE(IsOk(writer->Commit()));
    ASSERT_TRUE(IsOk(writer->Close()));
  }
  void Renew() {
    store_ = std::make_shared<object::MemoryObjectStore>();
    faulty_ = std::make_shared<FaultObjectStore>(store_, 1);
    files_ = MakeObjectFileSystem(faulty_);
    all_.clear();
  }
  Frame Open() {
    auto frame = Frame::Open("f", {.file_system = files_});
    EXPECT_TRUE(IsOk(frame));
    return *std::move(frame);
  }
  Writer OpenWriter() {
    auto writer = Open().OpenWriter();
    EXPECT_TRUE(IsOk(writer));
    return *std::move(writer);
  }
  // Appends items like no others.
  Buffer Stage(Writer& writer, size_t count) {
    Buffer items = MakeItems(count, ++seed_);
    EXPECT_TRUE(IsOk(writer.Append(items)));
    return items;
  }
  void Add(Writer& writer, size_t count) { AddTo(all_, Stage(writer, count)); }
  // Sets the faults of the next puts of records and of fences.
  void Plan(std::vector<StoreFault> faults) {
    faulty_->SetChoice([faults = std::move(faults), next = size_t{0}](auto name) mutable {
      if (!name.starts_with("f/journal/") || next == faults.size()) return StoreFault::kNone;
      return faults[next++];
    });
  }
  size_t CountRecords() {
    const auto listing = store_->List("f/journal/", "", 1000);
    EXPECT_TRUE(IsOk(listing));
    return listing->objects.size();
  }
  // To readers and writers of any age.
  void ExpectAll() {
    faulty_->LandAll();
    const Frame frame = Open();
    ExpectHolds(frame.snapshot(), all_);
    const auto report = frame.snapshot().Verify();
    ASSERT_TRUE(IsOk(report));
    EXPECT_TRUE(report->findings.empty());
  }

  std::shared_ptr<object::MemoryObjectStore> store_ = std::make_shared<object::MemoryObjectStore>();
  std::shared_ptr<FaultObjectStore> faulty_ = std::make_shared<FaultObjectStore>(store_, 1);
  std::shared_ptr<FileSystem> files_ = MakeObjectFileSystem(faulty_);
  uint64_t seed_ = 0;
  Buffer all_;  // that is committed
};

TEST_F(ObjectFenceTest, ACommitThatWasLostIsMadeAfterAFence) {
  Make();
  for (const StoreFault fault : {StoreFault::kLost, StoreFault::kDelayed}) {
    Writer writer = OpenWriter();
    const size_t before = CountRecords();
    Plan({fault});
    Add(writer, 30);
    ASSERT_TRUE(IsOk(writer.Commit()));
    EXPECT_EQ(CountRecords() - before, 2U);
    ExpectAll();
    Add(writer, 40);
    ASSERT_TRUE(IsOk(writer.Commit()));
    ExpectAll();
  }
}

// A gateway that answers in the store's place may refuse a put without a reason.
TEST_F(ObjectFenceTest, ACommitThatWasRefusedWronglyIsMadeAfterAFence) {
  using enum StoreFault;
  for (const auto& faults : {std::vector{kRefused},
                             {kRefused, kRefused, kRefused},
                             {kRefused, kDelayed},
                             {kDelayed, kRefused}}) {
    SCOPED_TRACE(faults.size());
    Renew();
    Make();
    Writer writer = OpenWriter();
    Plan(faults);
    Add(writer, 30);
    ASSERT_TRUE(IsOk(writer.Commit()));
    ExpectAll();
    Add(writer, 40);
    ASSERT_TRUE(IsOk(writer.Commit()));
    ExpectAll();
  }
}

TEST_F(ObjectFenceTest, AChunkThatWasRefusedWronglyIsPutAgain) {
  Make();
  Writer writer = OpenWriter();
  Add(writer, 30);  // claims the writer's numbers of chunks
  ASSERT_TRUE(IsOk(writer.Commit()));
  int refused = 0;
  faulty_->SetChoice([&](std::string_view name) {
    return name.ends_with(".chunk") && refused++ < 1 ? StoreFault::kRefused : StoreFault::kNone;
  });
  Add(writer, 200);
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_GT(refused, 1);
  ExpectAll();
}

TEST_F(ObjectFenceTest, ACommitWhoseAnswerWasLostIsFoundMade) {
  Make();
  Writer writer = OpenWriter();
  Plan({StoreFault::kAnswerLost});
  Add(writer, 30);
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(CountRecords(), 1U);
  ExpectAll();
}

// The one that is there first counts, whichever that is.
TEST_F(ObjectFenceTest, AFenceWithoutAKnownOutcomeIsPutAgain) {
  for (const StoreFault fault : {StoreFault::kLost, StoreFault::kAnswerLost, StoreFault::kDelayed,
                                 StoreFault::kUnavailable}) {
    SCOPED_TRACE(static_cast<int>(fault));
    Renew();
    Make();
    Writer writer = OpenWriter();
    Plan({StoreFault::kDelayed, fault, fault});
    Add(writer, 30);
    ASSERT_TRUE(IsOk(writer.Commit()));
    ExpectAll();
  }
}

TEST_F(ObjectFenceTest, ReadersAndWritersPassOverFences) {
  Make();
  Writer first = OpenWriter();
  Writer second = OpenWriter();
  Frame reader = Open();
  for (int round = 0; round < 3; ++round) {
    for (Writer* writer : {&first, &second}) {
      Plan({StoreFault::kDelayed});
      Add(*writer, 50);
      ASSERT_TRUE(IsOk(writer->Commit()));
      ASSERT_TRUE(IsOk(reader.Refresh()));
      ExpectHolds(reader.snapshot(), all_);
      ExpectAll();
    }
    if (round == 1) {
      ASSERT_TRUE(IsOk(second.Checkpoint()));
    }
  }
}

TEST_F(ObjectFenceTest, ACommitOfAnotherWriterInThePlaceOfALostOneIsNoFence) {
  Make();
  Writer first = OpenWriter();
  Writer second = OpenWriter();
  const Buffer late = Stage(first, 30);
  faulty_->SetChoice([&, done = false](std::string_view name) mutable {
    if (done || !name.starts_with("f/journal/")) return StoreFault::kNone;
    done = true;
    return StoreFault::kDelayed;
  });
  // The other writer's commit comes between the put and the fence.
  bool committed = false;
  Add(second, 40);
  faulty_->OnRead([&](std::string_view) { committed = true; });
  ASSERT_TRUE(IsOk(second.Commit()));
  faulty_->OnRead(nullptr);
  ASSERT_TRUE(IsOk(first.Commit()));
  AddTo(all_, late);
  EXPECT_TRUE(committed);
  ExpectAll();
}

TEST_F(ObjectFenceTest, CheckpointsAndReplacementsBeginAfterFences) {
  Make();
  Writer writer = OpenWriter();
  Plan({StoreFault::kDelayed});
  Add(writer, 30);
  ASSERT_TRUE(IsOk(writer.Checkpoint()));
  ExpectAll();
  Plan({StoreFault::kDelayed});
  Add(writer, 30);
  ASSERT_TRUE(IsOk(writer.Commit()));
  CreateOptions options = Cut(1, kFencedChunk);
  options.layout = Layout::kSparse;
  options.file_system = files_;
  options.overwrite = true;
  ASSERT_TRUE(IsOk(Frame::Create("f", options)));
  Stage(writer, 30);
  EXPECT_TRUE(Fails(writer.Commit(), absl::StatusCode::kFailedPrecondition, "replaced"));
  all_.clear();
  ExpectAll();
}

TEST_F(ObjectFenceTest, AfterThreeFencesTheCommitIsRefusedAndTheWriterGoesOn) {
  Make();
  Writer writer = OpenWriter();
  using enum StoreFault;
  Plan({kDelayed, kNone, kDelayed, kNone, kDelayed});
  const Buffer items = Stage(writer, 30);
  EXPECT_TRUE(Fails(writer.Commit(), absl::StatusCode::kUnavailable, "not committed"));
  ExpectAll();
  ASSERT_TRUE(IsOk(writer.Commit()));
  AddTo(all_, items);
  ExpectAll();
}

TEST_F(ObjectFenceTest, ACheckpointThatFailsAfterACommitLeavesTheWriterInOrder) {
  Make();
  Writer writer = OpenWriter();
  Add(writer, 5);
  ASSERT_TRUE(IsOk(writer.Commit()));
  // The lost chunk has the items that a checkpoint must not leave pending.
  int failed = 0;
  faulty_->SetChoice([&](std::string_view name) {
    const bool is_chunk = name.ends_with(".chunk");
    failed += is_chunk;
    return is_chunk ? StoreFault::kLost : StoreFault::kNone;
  });
  for (uint64_t i = 0; i < 200; ++i) {
    ASSERT_TRUE(IsOk(writer.SetVlmetalayer("a", MakeItems(5, i)))) << i;
    ASSERT_TRUE(IsOk(writer.Commit())) << i;
  }
  EXPECT_GT(failed, 0);
  faulty_->SetChoice(nullptr);
  Add(writer, 5);
  ASSERT_TRUE(IsOk(writer.Commit()));
  ExpectAll();
}

TEST_F(ObjectFenceTest, WithoutAnyAnswerTheWriterStops) {
  Make();
  Writer writer = OpenWriter();
  Plan(std::vector(1000, StoreFault::kLost));
  Stage(writer, 30);
  EXPECT_TRUE(Fails(writer.Commit(), absl::StatusCode::kDeadlineExceeded, "no answer"));
  EXPECT_FALSE(writer.Append(MakeItems(5)).ok());
  ExpectAll();
}

// A record that was missing when the frame was opened again may still come until another commit
// takes its place.
TEST_F(ObjectFenceTest, EditsThatAreMadeAgainAreNotThereTwiceWhereBothSetALayer) {
  Make();
  const auto stage = [](Writer& writer, Bytes items, uint64_t batch) {
    ASSERT_TRUE(IsOk(writer.Append(items)));
    ASSERT_TRUE(IsOk(writer.SetVlmetalayer("batch", MakeItems(8, batch))));
  };
  for (const bool comes : {true, false}) {
    const uint64_t batch = ++seed_;
    const Buffer items = MakeItems(30, batch);
    Writer first = OpenWriter();
    std::vector<StoreFault> faults(1000, StoreFault::kLost);
    faults[0] = StoreFault::kDelayed;
    Plan(std::move(faults));
    stage(first, items, batch);
    EXPECT_TRUE(Fails(first.Commit(), absl::StatusCode::kDeadlineExceeded, "no answer"));
    Plan({});
    Writer second = OpenWriter();
    ExpectHolds(Open().snapshot(), all_);
    stage(second, items, batch);
    if (comes) {
      faulty_->LandAll();
      EXPECT_TRUE(Fails(second.Commit(), absl::StatusCode::kAborted, "batch"));
    } else {
      ASSERT_TRUE(IsOk(second.Commit()));
    }
    AddTo(all_, items);
    ExpectAll();
  }
}

}  // namespace
}  // namespace cairn::test
