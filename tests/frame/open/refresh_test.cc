// Tests the cost and the result of looking for newer commits.
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "tests/support/bytes.h"
#include "tests/support/child_process.h"
#include "tests/support/counting_file_system.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"

namespace cairn::test {
namespace {

class RefreshTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(64), MakeNoise(100, 1))));
  }
  Frame Open() {
    auto frame = Frame::Open(path_, {.file_system = Unowned(&files_)});
    EXPECT_TRUE(IsOk(frame));
    return *std::move(frame);
  }
  // Calls that one Refresh costs, the look at the frame's name left out, which comes once a second.
  int64_t CostOfRefresh(Frame& frame) {
    int64_t least = INT64_MAX;
    for (int i = 0; i < 3; ++i) {
      const int64_t before = files_.calls();
      EXPECT_TRUE(IsOk(frame.Refresh()));
      least = std::min(least, files_.calls() - before);
    }
    return least;
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
  CountingFileSystem files_;
};

TEST_F(RefreshTest, CostsNoCallAfterACommitThatWasSeenAndOneBefore) {
  Frame frame = Open();
  EXPECT_EQ(CostOfRefresh(frame), 1);
  Frame other = Open();
  auto writer = other.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(10, 2))));
  ASSERT_TRUE(IsOk(writer->Commit()));
  EXPECT_EQ(frame.Refresh()->info().nbytes, 110);
  EXPECT_EQ(CostOfRefresh(frame), 0);
}

// A page that holds nothing of the journal may be cut away at any time.
TEST_F(RefreshTest, ReadsOnByACallWhereTheJournalEndsWithAPage) {
  CreateOptions options = PlainCopies(1 << 20);
  options.overwrite = true;
  ASSERT_TRUE(IsOk(Frame::Create(path_, options)));
  Frame frame = Open();
  auto writer = Open().OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  int64_t nbytes = 0;
  const auto append = [&](int64_t size) {
    EXPECT_TRUE(IsOk(writer->Append(MakeNoise(static_cast<size_t>(size), 5))));
    const FrameInfo info = writer->Commit(Durability::kProcess)->info();
    nbytes += size;
    return info.frame_size + info.journal_size;
  };
  const int64_t end = append(10);
  const int64_t record = append(10) - end - 10;
  ASSERT_EQ(append(3 * 4096 - (end + 10 + 2 * record) % 4096) % 4096, 0);
  EXPECT_EQ(frame.Refresh()->info().nbytes, nbytes);
  EXPECT_EQ(CostOfRefresh(frame), 1);
  append(20);
  EXPECT_EQ(frame.Refresh()->info().nbytes, nbytes);
  EXPECT_EQ(CostOfRefresh(frame), 0);
  append(2 * 4096 - 20 - 2 * record);
  EXPECT_EQ(frame.Refresh()->info().nbytes, nbytes);
  writer = absl::UnavailableError("gone, and with it what was reserved");
  EXPECT_EQ(std::filesystem::file_size(path_) % 4096, 0u);
  EXPECT_EQ(frame.Refresh()->info().nbytes, nbytes);
}

TEST_F(RefreshTest, SkipsStagedChunksOnce) {
  Frame frame = Open();
  Frame other = Open();
  auto writer = other.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(2 << 20, 2))));  // more than one piece is flushed
  ASSERT_TRUE(IsOk(frame.Refresh()));
  ASSERT_TRUE(IsOk(frame.Refresh()));
  // There is one call where the journal ended, in case another writer began there, and one after
  // it.
  EXPECT_LE(CostOfRefresh(frame), 2);
  ASSERT_TRUE(IsOk(writer->Commit()));
  EXPECT_EQ(frame.Refresh()->info().nbytes, 100 + (2 << 20));
}

TEST_F(RefreshTest, FollowsManySmallCommitsInFewCalls) {
  Frame frame = Open();
  Frame other = Open();
  auto writer = other.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  for (uint64_t i = 0; i < 2000; ++i) {
    ASSERT_TRUE(IsOk(writer->Append(MakeNoise(10, i))));
    ASSERT_TRUE(IsOk(writer->Commit(Durability::kProcess)));
  }
  ASSERT_TRUE(IsOk(writer->Commit()));
  const int64_t before = files_.calls();
  EXPECT_EQ(frame.Refresh()->info().nbytes, 20'100);
  // Chunks that are not known to be durable are checked where they were seen on the way.
  EXPECT_LE(files_.calls() - before, 30);
}

TEST_F(RefreshTest, FindsTheCommitOfAWriterThatBeganWhereADeadOneHadStaged) {
  Frame frame = Open();
  {
    auto dead = Open().OpenWriter();
    ASSERT_TRUE(IsOk(dead));
    ASSERT_TRUE(IsOk(dead->Append(MakeNoise(3 << 20, 2))));
    ASSERT_TRUE(IsOk(frame.Refresh()));
    ASSERT_TRUE(IsOk(frame.Refresh()));
  }
  auto writer = Open().OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(30, 3))));
  ASSERT_TRUE(IsOk(writer->Commit()));
  EXPECT_EQ(frame.Refresh()->info().nbytes, 130);
}

TEST_F(RefreshTest, FindsTheCommitOfAWriterThatRolledBackWhatItHadStaged) {
  Frame frame = Open();
  ASSERT_TRUE(IsOk(frame.Refresh()));
  auto writer = Open().OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  int64_t nbytes = 100;
  for (uint64_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(IsOk(writer->Append(MakeNoise(2 << 20, i))));
    ASSERT_TRUE(IsOk(frame.Refresh()));
    writer->Rollback();
    ASSERT_TRUE(IsOk(writer->Append(MakeNoise(64 * (i + 1), i))));
    ASSERT_TRUE(IsOk(writer->Commit()));
    nbytes += 64 * (static_cast<int64_t>(i) + 1);
    EXPECT_EQ(frame.Refresh()->info().nbytes, nbytes);
  }
}

TEST_F(RefreshTest, FindsTheCommitAfterWhatASnapshotReadsOfARollback) {
  Frame frame = Open();
  auto writer = Open().OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(128, 2))));
  const auto staged = writer->StagedSnapshot();
  ASSERT_TRUE(IsOk(staged));
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(4 << 20, 3))));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(IsOk(frame.Refresh()));
  writer->Rollback();
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(30, 4))));
  ASSERT_TRUE(IsOk(writer->Commit()));
  EXPECT_EQ(frame.Refresh()->info().nbytes, 130);
  EXPECT_EQ(staged->info().nbytes, 228);
  EXPECT_TRUE(staged->Verify()->ok());
}

TEST_F(RefreshTest, FollowsACompactionAtOnce) {
  Frame frame = Open();
  ASSERT_TRUE(IsOk(frame.Refresh()));
  const uint64_t before = frame.snapshot().info().generation;
  {
    auto writer = Open().OpenWriter();
    ASSERT_TRUE(IsOk(writer->DeleteChunks(0, 1)));
    ASSERT_TRUE(IsOk(writer->Commit()));
  }
  ASSERT_TRUE(IsOk(Open().Compact()));
  const auto seen = frame.Refresh();
  ASSERT_TRUE(IsOk(seen));
  EXPECT_GT(seen->info().generation, before + 1);
  EXPECT_EQ(seen->info().dead_bytes, 0);
  EXPECT_EQ(seen->info().nbytes, 36);
}

TEST_F(RefreshTest, NoticesThatAnotherFileHasTheName) {
  Frame frame = Open();
  ASSERT_TRUE(IsOk(frame.Refresh()));
  const std::string other = dir_.Path("other");
  ASSERT_TRUE(IsOk(WriteFrame(other, PlainCopies(64), MakeNoise(77, 2))));
  std::filesystem::rename(other, path_);
  // The frame looks at most once a second.
  for (int looks = 0; frame.Refresh()->info().nbytes != 77; ++looks) {
    ASSERT_LT(looks, 500);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(DataOf(frame.snapshot()).value(), MakeNoise(77, 2));
}

TEST_F(RefreshTest, ChunkThatTheMapShowsWrongIsReadOnceMore) {
  files_.reading().bad_maps = false;
  Frame frame = Open();
  {
    auto writer = Open().OpenWriter();
    ASSERT_TRUE(IsOk(writer->Append(MakeNoise(400, 2))));
    ASSERT_TRUE(IsOk(writer->Commit()));
  }
  files_.reading().bad_maps = true;  // for the longer map that the commit needs
  const auto seen = frame.Refresh();
  ASSERT_TRUE(IsOk(seen));
  Buffer expected = MakeNoise(100, 1);
  const Buffer more = MakeNoise(400, 2);
  expected.insert(expected.end(), more.begin(), more.end());
  EXPECT_EQ(DataOf(*seen).value(), expected);
}

class ForkedWriterTest : public RefreshTest {};

TEST_F(ForkedWriterTest, ChildNeitherWritesNorHarmsItsParent) {
  Frame frame = Open();
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(500, 2))));
  ASSERT_TRUE(IsOk(writer->StagedSnapshot()));  // so that the file has grown
  const int result = ResultOfChild([&] {
    if (!absl::IsFailedPrecondition(writer->Append(MakeNoise(1, 1)))) return 1;
    if (!absl::IsFailedPrecondition(writer->Commit().status())) return 2;
    if (!frame.Refresh().ok()) return 3;
    if (!absl::IsFailedPrecondition(frame.OpenWriter().status())) return 4;
    Writer taken = *std::move(writer);
    { const Writer gone = std::move(taken); }
    { const Frame gone = std::move(frame); }
    // The files that the child opens itself are its own.
    auto own = Frame::Open(path_);
    if (!own.ok()) return 5;
    return absl::IsUnavailable(own->OpenWriter().status()) ? 0 : 6;
  });
  EXPECT_EQ(result, 0);
  EXPECT_TRUE(absl::IsUnavailable(Open().OpenWriter().status()));
  ASSERT_TRUE(IsOk(writer->Commit()));
  EXPECT_EQ(Open().snapshot().info().nbytes, 600);
}

TEST_F(ForkedWriterTest, ChildLeavesAnUnfinishedFrameToItsParent) {
  const std::string path = dir_.Path("new");
  auto writer = Frame::BeginCreate(path, PlainCopies(64));
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(100, 1))));
  EXPECT_EQ(ResultOfChild([&] {
              { const Writer gone = *std::move(writer); }
              return 0;
            }),
            0);
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_EQ(DataOf(Frame::Open(path)->snapshot()).value(), MakeNoise(100, 1));
}

}  // namespace
}  // namespace cairn::test
