// Tests that handles that were given out stay unchanged, and that files that a writer left are
// removed.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/support/bytes.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"

namespace cairn::test {
namespace {

namespace fs = std::filesystem;

constexpr int32_t kPageChunk = 4096;

class LifetimesTest : public testing::TestWithParam<Layout> {
 protected:
  CreateOptions Options() const {
    CreateOptions options = PlainCopies(kPageChunk);
    options.layout = GetParam();
    return options;
  }
  bool contiguous() const { return GetParam() == Layout::kContiguous; }

  TempDir dir_;
  std::string path_ = dir_.Path("f");
};

TEST_P(LifetimesTest, StagedSnapshotOfANewFrameOutlivesTheDeletionOfEverything) {
  constexpr int kChunks = 260;  // more than stay mapped
  const Buffer items = MakeNoise(kChunks * kPageChunk, 1);
  auto writer = Frame::BeginCreate(path_, Options());
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Append(items)));
  const auto staged = writer->StagedSnapshot();
  ASSERT_TRUE(IsOk(staged));
  ASSERT_TRUE(IsOk(writer->DeleteChunks(0, kChunks)));
  ASSERT_TRUE(IsOk(writer->Commit()));
  EXPECT_EQ(ContentOf(*staged), items);
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_EQ(ContentOf(*staged), items);
  EXPECT_EQ(Frame::Open(path_)->snapshot().info().nchunks, 0);
}

TEST_P(LifetimesTest, FrameThatWasEditedBeforeItsFirstCommitHasNoDeadByte) {
  auto writer = Frame::BeginCreate(path_, Options());
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(8 * kPageChunk, 1))));
  ASSERT_TRUE(IsOk(writer->UpdateChunk(3, MakeNoise(kPageChunk, 2))));
  ASSERT_TRUE(IsOk(writer->DeleteChunks(5, 2)));
  ASSERT_TRUE(IsOk(writer->Close()));
  const auto frame = Frame::Open(path_);
  ASSERT_TRUE(IsOk(frame));
  EXPECT_EQ(frame->snapshot().info().dead_bytes, 0);
  EXPECT_EQ(frame->snapshot().info().nchunks, 6);
}

TEST_P(LifetimesTest, StagedChunkOutlivesSnapshotAndWriter) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, Options(), MakeNoise(kPageChunk, 1))));
  const auto frame = std::make_unique<Frame>(*Frame::Open(path_));
  std::optional<Writer> writer = *frame->OpenWriter();
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(kPageChunk, 2))));
  std::optional<Chunk> chunk = *writer->StagedSnapshot()->GetChunk(1);
  writer.reset();
  // While it lives no writer can overwrite it.
  EXPECT_TRUE(absl::IsUnavailable(frame->OpenWriter().status()));
  Buffer items(kPageChunk);
  ASSERT_TRUE(IsOk(DecompressChunk(chunk->bytes(), items)));
  EXPECT_EQ(items, MakeNoise(kPageChunk, 2));
  chunk.reset();
  EXPECT_TRUE(IsOk(frame->OpenWriter()));
}

TEST_P(LifetimesTest, WriterThatMayNotReplaceCanTryAgain) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, Options(), MakeNoise(kPageChunk, 1))));
  CreateOptions options = Options();
  options.overwrite = true;
  auto writer = Frame::BeginCreate(path_, options);
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(kPageChunk, 2))));
  {
    auto frame = Frame::Open(path_);
    const auto other = frame->OpenWriter();
    ASSERT_TRUE(IsOk(other));
    EXPECT_TRUE(absl::IsUnavailable(writer->Commit().status()));
  }
  ASSERT_TRUE(IsOk(writer->Commit()));
  EXPECT_EQ(ContentOf(Frame::Open(path_)->snapshot()), MakeNoise(kPageChunk, 2));
}

TEST_P(LifetimesTest, NextWriterClearsWhatAFailedOneLeft) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, Options(), MakeNoise(kPageChunk, 1))));
  const auto size = [&] {
    if (contiguous()) return static_cast<int64_t>(fs::file_size(path_));
    int64_t sum = 0;
    for (const auto& file : fs::directory_iterator(path_)) {
      sum += static_cast<int64_t>(file.file_size());
    }
    return sum;
  };
  const int64_t before = size();
  {
    FaultFileSystem files;
    auto frame = Frame::Open(path_, {.file_system = Unowned(&files)});
    auto writer = frame->OpenWriter();
    ASSERT_TRUE(IsOk(writer));
    ASSERT_TRUE(IsOk(writer->Append(MakeNoise(600 * kPageChunk, 2))));
    files.Inject({.after = 0, .disk_gone = true});
    EXPECT_FALSE(writer->Commit().ok());
  }
  EXPECT_GT(size(), before);
  auto frame = Frame::Open(path_);
  ASSERT_TRUE(IsOk(frame->OpenWriter()->Close()));
  EXPECT_EQ(size(), before);
}

INSTANTIATE_TEST_SUITE_P(Layouts, LifetimesTest,
                         testing::Values(Layout::kContiguous, Layout::kSparse),
                         [](const auto& info) {
                           return info.param == Layout::kSparse ? "Sparse" : "Contiguous";
                         });

TEST(InMemoryLifetimesTest, CompactionBetweenTwoWritersLosesNothing) {
  Frame frame = NewInMemory(PlainCopies(64));
  std::atomic<int64_t> appended = 0;
  std::atomic<int64_t> compacted = 0;
  std::atomic<bool> stop = false;
  const auto append = [&] {
    for (int i = 0; i < 50 || compacted == 0; ++i) {
      auto writer = frame.OpenWriter({.wait = std::chrono::seconds(10)});
      if (!writer.ok()) continue;
      if (writer->Append(MakeNoise(64, 1)).ok() && writer->Close().ok()) appended += 64;
    }
  };
  std::thread compactor([&] {
    while (!stop) {
      compacted += frame.Compact().ok() ? 1 : 0;
      // Who waits for the frame shall find it free at times.
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  });
  std::thread first(append);
  std::thread second(append);
  first.join();
  second.join();
  stop = true;
  compactor.join();
  EXPECT_GT(appended, 0);
  EXPECT_GT(compacted, 0);
  EXPECT_EQ(frame.Refresh()->info().nbytes, appended);
}

}  // namespace
}  // namespace cairn::test
