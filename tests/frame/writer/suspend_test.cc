// A writer that gives the frame up and takes it again.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/format/journal.h"
#include "tests/support/bytes.h"
#include "tests/support/child_process.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/files.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"

namespace cairn::test {
namespace {

using absl::IsFailedPrecondition;
using absl::IsUnavailable;

class SuspendTest : public testing::TestWithParam<Layout> {
 protected:
  void SetUp() override {
    CreateOptions options = PlainCopies(64);
    options.layout = GetParam();
    options.file_system = Unowned(&files_);
    auto made = Frame::Create(path_, options);
    ASSERT_TRUE(IsOk(made));
    frame_ = *std::move(made);
    auto writer = frame_->OpenWriter();
    ASSERT_TRUE(IsOk(writer));
    writer_ = *std::move(writer);
    Add(*writer_, 100, Durability::kMachine);
  }
  // Commits this many more bytes.
  void Add(Writer& writer, int64_t count, Durability durability = Durability::kMachine) {
    const Buffer items = MakeNoise(static_cast<size_t>(count), ++seed_);
    content_.insert(content_.end(), items.begin(), items.end());
    ASSERT_TRUE(IsOk(writer.Append(items)));
    ASSERT_TRUE(IsOk(writer.Commit(durability)));
  }
  Frame Open() {
    auto frame = Frame::Open(path_, {.file_system = Unowned(&files_)});
    EXPECT_TRUE(IsOk(frame));
    return *std::move(frame);
  }
  // Runs `body` with a writer of another handle while ours is suspended.
  template <typename Body>
  void WriteElsewhere(Body body) {
    ASSERT_TRUE(IsOk(writer_->Suspend()));
    Frame other = Open();
    auto writer = other.OpenWriter();
    ASSERT_TRUE(IsOk(writer));
    body(*writer);
  }
  void ExpectGoesOn() {
    ASSERT_TRUE(IsOk(writer_->Resume()));
    Add(*writer_, 50);
    ExpectHolds(Open().snapshot(), content_);
    ASSERT_TRUE(IsOk(writer_->Close()));
    ExpectHolds(Open().snapshot(), content_);
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
  FaultFileSystem files_;
  std::optional<Frame> frame_;
  std::optional<Writer> writer_;
  Buffer content_;
  unsigned seed_ = 0;
};

TEST_P(SuspendTest, OthersWriteMeanwhileAndTheirCommitsAreBuiltUpon) {
  WriteElsewhere([&](Writer& other) {
    Add(other, 70);
    Add(other, 30, Durability::kProcess);
  });
  ExpectGoesOn();
}

TEST_P(SuspendTest, TurnsMayChangeOften) {
  Frame other = Open();
  ASSERT_TRUE(IsOk(writer_->Suspend()));
  auto second = other.OpenWriter();
  ASSERT_TRUE(IsOk(second));
  for (int i = 0; i < 20; ++i) {
    Add(*second, 30 + i, i % 3 == 0 ? Durability::kProcess : Durability::kMachine);
    ASSERT_TRUE(IsOk(second->Suspend()));
    ASSERT_TRUE(IsOk(writer_->Resume()));
    Add(*writer_, 20 + i, i % 2 == 0 ? Durability::kProcess : Durability::kMachine);
    ASSERT_TRUE(IsOk(writer_->Suspend()));
    ASSERT_TRUE(IsOk(second->Resume()));
  }
  ASSERT_TRUE(IsOk(second->Suspend()));
  ExpectGoesOn();
}

TEST_P(SuspendTest, CheckpointOfAnotherWriterIsBuiltUpon) {
  WriteElsewhere([&](Writer& other) {
    Add(other, 70);
    ASSERT_TRUE(IsOk(other.Close()));
  });
  ExpectGoesOn();
}

TEST_P(SuspendTest, FrameThatWasCompactedIsFollowed) {
  ASSERT_TRUE(IsOk(writer_->Suspend()));
  ASSERT_TRUE(IsOk(Open().Compact()));
  ExpectGoesOn();
}

TEST_P(SuspendTest, SuspendedWriterRefusesEverything) {
  ASSERT_TRUE(IsOk(writer_->Suspend()));
  EXPECT_TRUE(IsFailedPrecondition(writer_->Suspend()));
  EXPECT_TRUE(IsFailedPrecondition(writer_->Append(MakeNoise(10, 1))));
  EXPECT_TRUE(IsFailedPrecondition(writer_->Commit().status()));
  EXPECT_TRUE(IsFailedPrecondition(writer_->StagedSnapshot().status()));
  EXPECT_TRUE(IsFailedPrecondition(writer_->HasWaiters().status()));
  EXPECT_TRUE(IsFailedPrecondition(writer_->Close()));
  writer_->Rollback();
  ExpectGoesOn();
}

TEST_P(SuspendTest, WriterThatIsNotSuspendedCannotResume) {
  EXPECT_TRUE(IsFailedPrecondition(writer_->Resume()));
  Add(*writer_, 10);
}

TEST_P(SuspendTest, StagedEditsAreRefused) {
  ASSERT_TRUE(IsOk(writer_->Append(MakeNoise(10, 1))));
  EXPECT_TRUE(IsFailedPrecondition(writer_->Suspend()));
  writer_->Rollback();
  EXPECT_TRUE(IsOk(writer_->Suspend()));
}

TEST_P(SuspendTest, SnapshotOfStagedEditsIsRefused) {
  ASSERT_TRUE(IsOk(writer_->Append(MakeNoise(200, 1))));
  std::optional<Snapshot> staged = *writer_->StagedSnapshot();
  writer_->Rollback();
  EXPECT_TRUE(IsFailedPrecondition(writer_->Suspend()));
  staged.reset();
  EXPECT_TRUE(IsOk(writer_->Suspend()));
  ExpectGoesOn();
}

TEST_P(SuspendTest, ResumeWaitsAsLongAsAsked) {
  WriteElsewhere([&](Writer& other) {
    EXPECT_TRUE(IsUnavailable(writer_->Resume()));
    EXPECT_TRUE(IsUnavailable(writer_->Resume(std::chrono::milliseconds(10))));
    Add(other, 10);
  });
  ExpectGoesOn();
}

TEST_P(SuspendTest, ForkedChildCannotResume) {
  ASSERT_TRUE(IsOk(writer_->Suspend()));
  EXPECT_EQ(ResultOfChild([&] { return IsFailedPrecondition(writer_->Resume()) ? 1 : 0; }), 1);
  ExpectGoesOn();
}

TEST_P(SuspendTest, FrameThatWasSettledHasAllInItsCheckpoint) {
  const Buffer items = MakeNoise(70, 1);
  content_.insert(content_.end(), items.begin(), items.end());
  ASSERT_TRUE(IsOk(writer_->Append(items)));
  ASSERT_TRUE(IsOk(writer_->Flush()));
  EXPECT_EQ(Open().snapshot().info().journal_size, 0);
  ExpectHolds(Open().snapshot(), content_);
  ASSERT_TRUE(IsOk(writer_->Suspend()));
  EXPECT_TRUE(IsFailedPrecondition(writer_->Flush()));
  ExpectGoesOn();
}

// A thread has waited for that commit, so there is a new receipt to write. The last one may be all
// that tells of damage.
TEST_P(SuspendTest, DeathInTheMiddleOfItLeavesTheReceiptOfTheLastCommit) {
  Add(*writer_, 70, Durability::kProcess);
  const Snapshot committed = Open().snapshot();
  ASSERT_TRUE(IsOk(writer_->Sync(committed)));
  files_.StartLog();
  files_.Inject({.status = absl::AbortedError("killed"), .short_write = true, .disk_gone = true});
  EXPECT_TRUE(absl::IsAborted(writer_->Suspend()));
  ASSERT_EQ(files_.TakeLog().at(0).kind, Operation::Kind::kWrite);
  writer_.reset();
  files_.Heal();
  const std::string file = GetParam() == Layout::kSparse ? path_ + "/chunks.b2frame" : path_;
  Buffer bytes = FileBytes(file);
  const int64_t end = committed.info().frame_size + committed.info().journal_size;
  bytes[static_cast<size_t>(end - format::kReceiptSize - 12)] ^= std::byte{1};
  PutFileBytes(file, bytes);
  EXPECT_TRUE(Open().snapshot().info().journal_damaged);
}

TEST_P(SuspendTest, AfterADurableCommitNothingIsWritten) {
  const int64_t before = files_.operations();
  ASSERT_TRUE(IsOk(writer_->Suspend()));
  ASSERT_TRUE(IsOk(writer_->Resume()));
  EXPECT_EQ(files_.operations(), before);
  ASSERT_TRUE(IsOk(writer_->Suspend()));
  ExpectGoesOn();
}

INSTANTIATE_TEST_SUITE_P(Layouts, SuspendTest,
                         testing::Values(Layout::kContiguous, Layout::kSparse),
                         [](const auto& info) {
                           return info.param == Layout::kSparse ? "Sparse" : "Contiguous";
                         });

// Without a checkpoint in each commit.
class ContiguousSuspendTest : public SuspendTest {};

TEST_P(ContiguousSuspendTest, FrameThatWasReplacedIsFollowed) {
  ASSERT_TRUE(IsOk(writer_->Suspend()));
  CreateOptions options = Cut(4, 32);
  options.overwrite = true;
  options.file_system = Unowned(&files_);
  ASSERT_TRUE(IsOk(Frame::Create(path_, options)));
  ASSERT_TRUE(IsOk(writer_->Resume()));
  ASSERT_TRUE(IsOk(writer_->Append(MakeNoise(400, 5))));
  ASSERT_TRUE(IsOk(writer_->Close()));
  ExpectHolds(Open().snapshot(), MakeNoise(400, 5));
}

TEST_P(ContiguousSuspendTest, WriterThatWaitsIsSeen) {
  Frame frame = *Frame::Open(path_);
  writer_.reset();
  Writer writer = *frame.OpenWriter();
  EXPECT_FALSE(*writer.HasWaiters());
  std::thread other([&] {
    EXPECT_TRUE(IsOk(Frame::Open(path_)->OpenWriter({.wait = std::chrono::seconds(60)})));
  });
  while (!*writer.HasWaiters()) std::this_thread::yield();
  ASSERT_TRUE(IsOk(writer.Suspend()));
  ASSERT_TRUE(IsOk(writer.Resume(std::chrono::seconds(60))));
  EXPECT_FALSE(*writer.HasWaiters());
  other.join();
}

TEST_P(ContiguousSuspendTest, WriterThatEndsSuspendedLeavesNoSpaceReservedAhead) {
  ASSERT_TRUE(IsOk(writer_->Suspend()));
  const auto before = std::filesystem::file_size(path_);
  writer_.reset();
  EXPECT_LT(std::filesystem::file_size(path_), before);
  ExpectHolds(Open().snapshot(), content_);
}

TEST_P(ContiguousSuspendTest, WriterThatEndsAfterACheckpointOfAnotherWritesNothing) {
  WriteElsewhere([&](Writer& other) {
    Add(other, 70);
    ASSERT_TRUE(IsOk(other.Close()));
  });
  const int64_t before = files_.operations();
  writer_.reset();
  EXPECT_EQ(files_.operations(), before);
  EXPECT_TRUE(IsOk(Open().OpenWriter()));
}

TEST_P(ContiguousSuspendTest, AfterADurableCommitOfAnotherWriterNothingIsWritten) {
  Frame other = Open();
  ASSERT_TRUE(IsOk(writer_->Suspend()));
  Writer second = *other.OpenWriter();
  Add(second, 70);
  ASSERT_TRUE(IsOk(second.Suspend()));
  const int64_t before = files_.operations();
  ASSERT_TRUE(IsOk(writer_->Resume()));
  EXPECT_EQ(files_.operations(), before);
  ExpectHolds(writer_->StagedSnapshot().value(), content_);
}

TEST_P(ContiguousSuspendTest, ZerosAheadOfTheJournalAreNotWrittenAgain) {
  for (int i = 0; i < 20; ++i) Add(*writer_, 10);
  files_.StartLog();
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(IsOk(writer_->Suspend()));
    ASSERT_TRUE(IsOk(writer_->Resume()));
    Add(*writer_, 10);
  }
  EXPECT_LE(std::ranges::count(files_.TakeLog(), Operation::Kind::kWrite, &Operation::kind), 30);
  ASSERT_TRUE(IsOk(writer_->Suspend()));
  ExpectGoesOn();
}

TEST_P(ContiguousSuspendTest, WhatIsNotDurableIsWrittenAgainAndSynced) {
  Add(*writer_, 70, Durability::kProcess);
  ASSERT_TRUE(IsOk(writer_->Suspend()));
  files_.StartLog();
  ASSERT_TRUE(IsOk(writer_->Resume()));
  EXPECT_GE(std::ranges::count(files_.TakeLog(), Operation::Kind::kSync, &Operation::kind), 1);
  ASSERT_TRUE(IsOk(writer_->Suspend()));
  ExpectGoesOn();
}

// Among it chunks in free space, which a replay would find; but nothing is replayed.
TEST_P(ContiguousSuspendTest, ChunksInFreeSpaceAreWrittenAgainToo) {
  Add(*writer_, 6000);
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(IsOk(writer_->UpdateChunk(5, MakeNoise(64, ++seed_))));
    ASSERT_TRUE(IsOk(writer_->Checkpoint()));
  }
  const Buffer chunk = MakeNoise(64, ++seed_);
  ASSERT_TRUE(IsOk(writer_->UpdateChunk(5, chunk)));
  std::ranges::copy(chunk, content_.begin() + 5 * 64);
  ASSERT_TRUE(IsOk(writer_->Commit(Durability::kProcess)));
  const ChunkEntry entry = *frame_->snapshot().GetEntry(5);
  ASSERT_LT(*entry.offset, *frame_->snapshot().GetEntry(90)->offset);
  const auto writes_chunk = [&](const Operation& operation) {
    return operation.kind == Operation::Kind::kWrite && operation.offset == *entry.offset;
  };
  ASSERT_TRUE(IsOk(writer_->Suspend()));
  files_.StartLog();
  ASSERT_TRUE(IsOk(writer_->Resume()));
  const std::vector<Operation> log = files_.TakeLog();
  const auto written = std::ranges::find_if(log, writes_chunk);
  ASSERT_NE(written, log.end());
  EXPECT_NE(std::ranges::find(written, log.end(), Operation::Kind::kSync, &Operation::kind),
            log.end());
  ASSERT_TRUE(IsOk(writer_->Suspend()));
  files_.StartLog();
  ASSERT_TRUE(IsOk(writer_->Resume()));
  EXPECT_EQ(std::ranges::count_if(files_.TakeLog(), writes_chunk), 0) << "it is durable now";
  ASSERT_TRUE(IsOk(writer_->Suspend()));
  ExpectGoesOn();
}

// To cut it off each time, and to reserve it again, takes longer than the checkpoint.
TEST_P(ContiguousSuspendTest, CheckpointsInTurnLeaveTheRoomOfTheNextOne) {
  Add(*writer_, 6000);
  for (int round = 0; round < 8; ++round) {
    if (round == 2) files_.StartLog();
    ASSERT_TRUE(IsOk(writer_->SetVlmetalayer("layer", MakeNoise(10, ++seed_))));
    ASSERT_TRUE(IsOk(writer_->Checkpoint()));
    ASSERT_TRUE(IsOk(writer_->Suspend()));
    ExpectHolds(Open().snapshot(), content_);
    ASSERT_TRUE(IsOk(writer_->Resume()));
  }
  EXPECT_EQ(std::ranges::count(files_.TakeLog(), Operation::Kind::kTruncate, &Operation::kind), 0);
  ASSERT_TRUE(IsOk(writer_->Close()));
  EXPECT_EQ(std::filesystem::file_size(path_),
            static_cast<size_t>(Open().snapshot().info().frame_size));
}

TEST_P(ContiguousSuspendTest, WriterWhoseResumeFailedStaysSuspended) {
  Add(*writer_, 70, Durability::kProcess);
  ASSERT_TRUE(IsOk(writer_->Suspend()));
  files_.Inject({.after = 0, .disk_gone = true});
  EXPECT_FALSE(writer_->Resume().ok());
  EXPECT_TRUE(IsFailedPrecondition(writer_->Commit().status()));
  files_.Heal();
  ExpectGoesOn();
}

TEST_P(ContiguousSuspendTest, WhatADeadWriterStagedIsCut) {
  ASSERT_TRUE(IsOk(writer_->Suspend()));
  {
    Frame other = Open();
    Writer second = *other.OpenWriter();
    Add(second, 10);
    ASSERT_TRUE(IsOk(second.Append(MakeNoise(200, 9))));
    ASSERT_TRUE(IsOk(second.StagedSnapshot()));      // to the file
    files_.Inject({.after = 0, .disk_gone = true});  // so it cannot clean up
  }
  files_.Heal();
  ExpectGoesOn();
}

INSTANTIATE_TEST_SUITE_P(Layouts, ContiguousSuspendTest, testing::Values(Layout::kContiguous),
                         [](const auto&) { return "Contiguous"; });

}  // namespace
}  // namespace cairn::test
