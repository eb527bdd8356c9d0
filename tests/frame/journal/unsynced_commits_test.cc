// A writer whose commits promise nothing of a power cut: which syncs it makes, and when.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/support/bytes.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/files.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"

namespace cairn::test {
namespace {

using Kind = Operation::Kind;

bool IsSync(const Operation& operation) {
  return operation.kind == Kind::kSync || operation.kind == Kind::kSyncDirectory;
}

// Bytes of a chunk, which is stored as it is.
constexpr int32_t kCopied = 4096;

class UnsyncedCommitsTest : public testing::Test {
 protected:
  void SetUp() override {
    CreateOptions options = PlainCopies(kCopied);
    options.file_system = Unowned(&files_);
    ASSERT_TRUE(IsOk(Frame::Create(path_, options)));
    Writer writer = Open({});
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(IsOk(writer.Append(MakeNoise(kCopied, i))));
    ASSERT_TRUE(IsOk(writer.Checkpoint()));
    // Now there is free space.
    for (int i = 5; i < 9; ++i)
      ASSERT_TRUE(IsOk(writer.UpdateChunk(i, MakeNoise(kCopied, 90 + i))));
    ASSERT_TRUE(IsOk(writer.Checkpoint()));
    ASSERT_TRUE(IsOk(writer.Close()));
    files_.StartLog();
  }
  Writer Open(WriterOptions options) {
    frame_ = *Frame::Open(path_, {.file_system = Unowned(&files_)});
    auto writer = frame_->OpenWriter(options);
    EXPECT_TRUE(IsOk(writer));
    return *std::move(writer);
  }
  Writer OpenOwing() { return Open({.opening = Durability::kProcess}); }
  void Update(Writer& writer, int64_t nchunk, Durability durability) {
    ASSERT_TRUE(IsOk(writer.UpdateChunk(nchunk, MakeNoise(kCopied, ++seed_))));
    ASSERT_TRUE(IsOk(writer.Commit(durability)));
  }
  int64_t SyncsSoFar() {
    log_ = files_.TakeLog();
    return std::ranges::count_if(log_, IsSync);
  }
  // Writes of the last log that are not at the end of the file as it was.
  int64_t Overwrites(int64_t size) const {
    return std::ranges::count_if(log_, [&](const Operation& operation) {
      return operation.kind == Kind::kWrite && operation.offset < size;
    });
  }
  int64_t Size() const { return static_cast<int64_t>(FileBytes(path_).size()); }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
  FaultFileSystem files_;
  std::optional<Frame> frame_;
  std::vector<Operation> log_;
  uint64_t seed_ = 1000;
};

// The writer writes after the end of the file. Whichever header is on the disk, the bytes that it
// needs stay.
TEST_F(UnsyncedCommitsTest, CommitsForAProcessAloneSyncNothingAndOverwriteNothing) {
  for (int i = 0; i < 5; ++i) {
    const int64_t size = Size();
    Writer writer = OpenOwing();
    Update(writer, i, Durability::kProcess);
    Update(writer, i, Durability::kProcess);
    { const Writer gone = std::move(writer); }
    EXPECT_EQ(SyncsSoFar(), 0);
    EXPECT_EQ(Overwrites(size), 0);
    EXPECT_EQ(std::ranges::count(log_, Kind::kTruncate, &Operation::kind), 0);
  }
}

TEST_F(UnsyncedCommitsTest, SuspendedWritersThatTakeTurnsSyncNothing) {
  Writer one = OpenOwing();
  Frame of_one = *std::move(frame_);
  Update(one, 1, Durability::kProcess);
  ASSERT_TRUE(IsOk(one.Suspend()));
  // The space that the first one has reserved follows the journal. This writer cuts it, and syncs
  // before.
  Writer two = OpenOwing();
  SyncsSoFar();
  for (int i = 0; i < 4; ++i) {
    Update(two, i, Durability::kProcess);
    ASSERT_TRUE(IsOk(two.Suspend()));
    ASSERT_TRUE(IsOk(one.Resume()));
    Update(one, i, Durability::kProcess);
    ASSERT_TRUE(IsOk(one.Suspend()));
    ASSERT_TRUE(IsOk(two.Resume()));
  }
  EXPECT_EQ(SyncsSoFar(), 0);
}

// A commit of another writer before, which may be in the page cache alone, a sync that failed
// having taken the marks of its pages.
TEST_F(UnsyncedCommitsTest, FirstDurableStepWritesAgainWhatWasThereAndSyncsItWithTheNames) {
  constexpr int kSteps = 4;
  for (int step = 0; step < kSteps; ++step) {
    SCOPED_TRACE(step);
    const int64_t begin = Size();
    {
      Writer before = OpenOwing();
      Update(before, 3, Durability::kProcess);
    }
    const int64_t end = Size();
    Writer writer = OpenOwing();
    const auto committed = [&] {
      EXPECT_TRUE(IsOk(writer.UpdateChunk(2, MakeNoise(kCopied, ++seed_))));
      return writer.Commit(Durability::kProcess);
    };
    const Snapshot snapshot = *committed();
    EXPECT_EQ(SyncsSoFar(), 0);
    switch (step) {
      case 0:
        ASSERT_TRUE(IsOk(writer.Commit(Durability::kMachine)));
        break;
      case 1:
        ASSERT_TRUE(IsOk(writer.Sync(snapshot)));
        break;
      case 2:
        ASSERT_TRUE(IsOk(writer.Checkpoint()));
        break;
      default:
        ASSERT_TRUE(IsOk(writer.Close()));
    }
    EXPECT_GT(SyncsSoFar(), 0);
    const auto sync = std::ranges::find(log_, Kind::kSync, &Operation::kind);
    ASSERT_NE(sync, log_.end());
    EXPECT_EQ(sync->sync_mode, SyncMode::kAll);
    const auto is_written = [&](int64_t at) {
      return std::any_of(log_.begin(), sync, [&](const Operation& operation) {
        return operation.kind == Kind::kWrite && operation.offset <= at &&
               at < operation.offset + std::ssize(operation.bytes);
      });
    };
    EXPECT_TRUE(is_written(0));
    EXPECT_TRUE(is_written(begin));
    EXPECT_TRUE(is_written(end - 1));
    EXPECT_GT(std::ranges::count(log_, Kind::kSyncDirectory, &Operation::kind), 0);
  }
}

TEST_F(UnsyncedCommitsTest, WhatOverwritesFreeSpaceIsWrittenAfterTheSync) {
  for (const bool staged_before : {false, true}) {
    const int64_t size = Size();
    Writer writer = Open(
        {.opening = Durability::kProcess, .staged_memory = staged_before ? 0 : int64_t{1} << 20});
    ASSERT_TRUE(IsOk(writer.UpdateChunk(4, MakeNoise(kCopied, ++seed_))));
    ASSERT_TRUE(IsOk(writer.Commit(staged_before ? Durability::kProcess : Durability::kMachine)));
    EXPECT_GT(SyncsSoFar(), 0);
    const auto sync = std::ranges::find(log_, Kind::kSync, &Operation::kind);
    const auto reused = std::ranges::find_if(log_, [&](const Operation& operation) {
      return operation.kind == Kind::kWrite && operation.bytes.size() >= kCopied &&
             operation.offset + kCopied <= size;
    });
    ASSERT_NE(reused, log_.end()) << "the test is about free space";
    EXPECT_LT(sync, reused);
    ASSERT_TRUE(IsOk(writer.Checkpoint()));
    ASSERT_TRUE(IsOk(writer.Close()));
    SyncsSoFar();
  }
}

// Nothing was committed: to ask for durability is enough.
TEST_F(UnsyncedCommitsTest, DurableCommitOfNothingAndCheckpointOfNothingSyncWhatIsThere) {
  {
    Writer writer = OpenOwing();
    ASSERT_TRUE(IsOk(writer.Commit(Durability::kMachine)));
    EXPECT_GT(SyncsSoFar(), 0);
  }
  {
    Writer writer = OpenOwing();
    ASSERT_TRUE(IsOk(writer.Suspend()));
    ASSERT_TRUE(IsOk(writer.Resume()));
    ASSERT_TRUE(IsOk(writer.Commit(Durability::kMachine)));
    EXPECT_GT(SyncsSoFar(), 0);
  }
  Writer writer = OpenOwing();
  ASSERT_TRUE(IsOk(writer.Checkpoint()));
  EXPECT_GT(SyncsSoFar(), 0);
}

// The header on the disk may be one that needs what is cut.
TEST_F(UnsyncedCommitsTest, OpeningSyncsBeforeItCutsWhatADeadWriterLeft) {
  std::vector<std::byte> file = FileBytes(path_);
  const auto size = std::ssize(file);
  file.resize(file.size() + 100, std::byte{1});
  PutFileBytes(path_, file);
  const Writer writer = OpenOwing();
  EXPECT_GT(SyncsSoFar(), 0);
  const auto cut = std::ranges::find_if(log_, [&](const Operation& operation) {
    return operation.kind == Kind::kTruncate && operation.offset == size;
  });
  ASSERT_NE(cut, log_.end());
  EXPECT_LT(std::ranges::find(log_, Kind::kSync, &Operation::kind), cut);
}

}  // namespace
}  // namespace cairn::test
