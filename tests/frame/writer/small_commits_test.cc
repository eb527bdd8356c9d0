// Tests what small commits write, what they leave in the file, and when Close writes a checkpoint.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/recover.h"
#include "tests/support/bytes.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/files.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"

namespace cairn::test {
namespace {

constexpr int32_t kItem = 64;

class SmallCommitsTest : public testing::TestWithParam<Layout> {
 protected:
  CreateOptions Options(int32_t chunksize) {
    CreateOptions options = PlainCopies(chunksize);
    options.file_system = Unowned(&files_);
    options.layout = GetParam();
    return options;
  }
  Frame Open() {
    auto frame = Frame::Open(path_, {.file_system = Unowned(&files_)});
    EXPECT_TRUE(IsOk(frame));
    return *std::move(frame);
  }
  int64_t BytesWritten() {
    int64_t sum = 0;
    for (const Operation& op : files_.TakeLog()) {
      if (op.kind == Operation::Kind::kWrite) sum += std::ssize(op.bytes);
    }
    return sum;
  }
  // A frame whose index alone is larger than what Close writes in any case.
  Buffer MakeManyChunks() {
    constexpr int64_t kChunks = 15'000;
    Buffer items = MakeNoise(kChunks, 1);
    EXPECT_TRUE(IsOk(WriteFrame(path_, Options(1), items)));
    return items;
  }
  // Opens the frame, appends and closes it.
  void Cycle(Bytes items) {
    Frame frame = Open();
    auto writer = frame.OpenWriter();
    ASSERT_TRUE(IsOk(writer));
    ASSERT_TRUE(IsOk(writer->Append(items)));
    ASSERT_TRUE(IsOk(writer->Close()));
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
  FaultFileSystem files_;
};

INSTANTIATE_TEST_SUITE_P(Layouts, SmallCommitsTest,
                         testing::Values(Layout::kContiguous, Layout::kSparse));

TEST_P(SmallCommitsTest, CloseOfASmallFrameLeavesNoJournal) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, Options(1000), MakeNoise(1500, 1))));
  ASSERT_NO_FATAL_FAILURE(Cycle(MakeNoise(10, 2)));
  EXPECT_EQ(Open().snapshot().info().journal_size, 0);
}

// Other Blosc2s read the index of the last checkpoint.
TEST_P(SmallCommitsTest, CloseDoesNotWriteALargeIndexForFewNews) {
  Buffer all = MakeManyChunks();
  const int64_t frame_size = Open().snapshot().info().frame_size;
  Frame frame = Open();
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  files_.StartLog();
  all.push_back(std::byte{7});
  ASSERT_TRUE(IsOk(writer->Append(Bytes(all).last(1))));
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_LE(BytesWritten(), 1000);
  EXPECT_EQ(Open().snapshot().info().frame_size, frame_size);
  EXPECT_EQ(DataOf(Open().snapshot()).value(), all);
}

TEST_P(SmallCommitsTest, CheckpointWritesTheIndexWhateverItCosts) {
  MakeManyChunks();
  ASSERT_NO_FATAL_FAILURE(Cycle(MakeNoise(1, 2)));
  EXPECT_GT(Open().snapshot().info().journal_size, 0);
  Frame frame = Open();
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Checkpoint()));
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_EQ(Open().snapshot().info().journal_size, 0);
}

TEST_P(SmallCommitsTest, RecoverWritesTheIndexWhateverItCosts) {
  MakeManyChunks();
  ASSERT_NO_FATAL_FAILURE(Cycle(MakeNoise(1, 2)));
  ASSERT_TRUE(IsOk(Recover(path_)));
  EXPECT_EQ(Open().snapshot().info().journal_size, 0);
}

TEST_P(SmallCommitsTest, CyclesOfOpenAppendAndCloseLeaveTheFileSmall) {
  constexpr int kCycles = 500;
  Buffer all = MakeNoise(300'000, 1);
  ASSERT_TRUE(IsOk(WriteFrame(path_, Options(1 << 20), all)));
  files_.StartLog();
  int64_t written = 0;
  for (int i = 0; i < kCycles; ++i) {
    const Buffer items = MakeNoise(kItem, static_cast<uint64_t>(i));
    ASSERT_NO_FATAL_FAILURE(Cycle(items));
    all.insert(all.end(), items.begin(), items.end());
    written += BytesWritten();
  }
  EXPECT_LE(SizeOnDisk(path_), 4 * std::ssize(all));
  EXPECT_LE(written, 12 * std::ssize(all));
  EXPECT_EQ(DataOf(Open().snapshot()).value(), all);
}

TEST_P(SmallCommitsTest, WriteAtMostFourTimesWhatIsGiven) {
  constexpr int kCommits = 20'000;
  for (const Durability durability : {Durability::kProcess, Durability::kMachine}) {
    CreateOptions options = Options(4 << 20);
    options.overwrite = true;
    auto frame = Frame::Create(path_, options);
    ASSERT_TRUE(IsOk(frame));
    auto writer = frame->OpenWriter();
    ASSERT_TRUE(IsOk(writer));
    files_.StartLog();
    int64_t written = 0;
    for (int i = 0; i < kCommits; ++i) {
      ASSERT_TRUE(IsOk(writer->Append(MakeNoise(kItem, static_cast<uint64_t>(i)))));
      ASSERT_TRUE(IsOk(writer->Commit(durability)));
      if (i % 100 == 0) written += BytesWritten();
    }
    ASSERT_TRUE(IsOk(writer->Close()));
    written += BytesWritten();
    EXPECT_LE(written, 4 * kCommits * kItem);
  }
}

}  // namespace
}  // namespace cairn::test
