// WriterOptions::max_file_size.
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/support/bytes.h"
#include "tests/support/dice.h"
#include "tests/support/files.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {
namespace {

constexpr int32_t kLimitedChunk = 4096;
constexpr int64_t kLimit = 200'000;

int64_t Between(int64_t least, int64_t most, Dice& dice) {
  return least + static_cast<int64_t>(dice.Below(static_cast<size_t>(most - least + 1)));
}

class SizeLimitTest : public testing::TestWithParam<Layout> {
 protected:
  void SetUp() override {
    CreateOptions options = PlainCopies(kLimitedChunk);
    options.layout = GetParam();
    options.file_system = Unowned(&files_);
    auto frame = Frame::Create(path_, options);
    ASSERT_TRUE(IsOk(frame));
    frame_.emplace(*std::move(frame));
  }
  void OpenWriter(int64_t limit = kLimit) {
    writer_.reset();
    auto writer = frame_->OpenWriter({.max_file_size = limit});
    ASSERT_TRUE(IsOk(writer));
    writer_.emplace(*std::move(writer));
  }
  // Appends a chunk of noise and commits it; drops it if that is refused.
  absl::Status AppendChunk(uint64_t seed) {
    const Buffer items = MakeNoise(kLimitedChunk, seed);
    absl::Status status = writer_->Append(items);
    if (status.ok()) status = writer_->Commit(Durability::kProcess).status();
    if (!status.ok()) {
      writer_->Rollback();
      return status;
    }
    data_.insert(data_.end(), items.begin(), items.end());
    return status;
  }
  // Until no more is taken.
  void Fill() {
    for (uint64_t i = 0;; ++i) {
      const absl::Status status = AppendChunk(i);
      if (status.ok()) continue;
      EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
      EXPECT_TRUE(absl::StartsWith(status.message(), absl::StrCat(path_, ": "))) << status;
      EXPECT_TRUE(absl::EndsWith(status.message(), absl::StrCat("limit of ", kLimit))) << status;
      return;
    }
  }
  void DeleteFirst(int64_t count) {
    ASSERT_TRUE(IsOk(writer_->DeleteChunks(0, count)));
    ASSERT_TRUE(IsOk(writer_->Commit(Durability::kProcess)));
    data_.erase(data_.begin(), data_.begin() + count * kLimitedChunk);
  }
  Buffer Data() { return DataOf(Frame::Open(path_)->snapshot()).value(); }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
  UnsyncedFileSystem files_;
  std::optional<Frame> frame_;
  std::optional<Writer> writer_;
  Buffer data_;
};

INSTANTIATE_TEST_SUITE_P(Layouts, SizeLimitTest,
                         testing::Values(Layout::kContiguous, Layout::kSparse));

TEST_P(SizeLimitTest, NoAppendPassesIt) {
  ASSERT_NO_FATAL_FAILURE(OpenWriter());
  ASSERT_NO_FATAL_FAILURE(Fill());
  EXPECT_LE(SizeOnDisk(path_), kLimit);
  EXPECT_GT(std::ssize(data_), kLimit * 3 / 4);
  EXPECT_EQ(Data(), data_);
  ASSERT_TRUE(IsOk(writer_->Close()));
  EXPECT_LE(SizeOnDisk(path_), kLimit);
  EXPECT_EQ(Data(), data_);
  EXPECT_TRUE(Frame::Open(path_)->snapshot().Verify()->ok());
}

TEST_P(SizeLimitTest, NoLargeCommitPassesIt) {
  ASSERT_NO_FATAL_FAILURE(OpenWriter());
  EXPECT_TRUE(absl::IsResourceExhausted(writer_->Append(MakeNoise(2 * kLimit, 1))));
  EXPECT_LE(SizeOnDisk(path_), kLimit);
  writer_->Rollback();
  EXPECT_TRUE(IsOk(AppendChunk(1)));
  EXPECT_EQ(Data(), data_);
}

TEST_P(SizeLimitTest, SpaceOfDeletedChunksIsThereAfterCompact) {
  ASSERT_NO_FATAL_FAILURE(OpenWriter());
  ASSERT_NO_FATAL_FAILURE(Fill());
  ASSERT_NO_FATAL_FAILURE(DeleteFirst(20));
  ASSERT_TRUE(IsOk(writer_->Close()));
  ASSERT_TRUE(IsOk(frame_->Compact()));
  ASSERT_NO_FATAL_FAILURE(OpenWriter());
  for (uint64_t i = 0; i < 10; ++i) ASSERT_TRUE(IsOk(AppendChunk(1000 + i))) << i;
  EXPECT_LE(SizeOnDisk(path_), kLimit);
  EXPECT_EQ(Data(), data_);
}

TEST_P(SizeLimitTest, AllElseWorksInAFrameThatIsLarger) {
  ASSERT_NO_FATAL_FAILURE(OpenWriter());
  ASSERT_TRUE(IsOk(writer_->SetVlmetalayer("v", MakeNoise(1000, 1))));
  ASSERT_NO_FATAL_FAILURE(Fill());
  ASSERT_TRUE(IsOk(writer_->Close()));
  ASSERT_NO_FATAL_FAILURE(OpenWriter(1000));
  EXPECT_TRUE(absl::IsResourceExhausted(AppendChunk(1)));
  EXPECT_EQ(Data(), data_);
  ASSERT_TRUE(IsOk(writer_->SetVlmetalayer("v", MakeNoise(10, 1))));
  ASSERT_TRUE(IsOk(writer_->Commit()));
  ASSERT_TRUE(IsOk(writer_->DeleteVlmetalayer("v")));
  ASSERT_TRUE(IsOk(writer_->Checkpoint()));
  ASSERT_NO_FATAL_FAILURE(DeleteFirst(5));
  EXPECT_TRUE(IsOk(writer_->Reclaim()));
  EXPECT_TRUE(IsOk(writer_->Close()));
  EXPECT_TRUE(IsOk(frame_->Compact()));
  EXPECT_EQ(Data(), data_);
}

TEST_P(SizeLimitTest, PendingItemsCanBeClosedAtTheLimit) {
  ASSERT_NO_FATAL_FAILURE(OpenWriter());
  for (uint64_t i = 0;; ++i) {
    const Buffer items = MakeNoise(100, i);
    absl::Status status = writer_->Append(items);
    if (status.ok()) status = writer_->Commit(Durability::kProcess).status();
    if (!status.ok()) break;
    data_.insert(data_.end(), items.begin(), items.end());
  }
  writer_->Rollback();
  EXPECT_TRUE(IsOk(writer_->Close()));
  EXPECT_LE(SizeOnDisk(path_), kLimit);
  EXPECT_EQ(Data(), data_);
}

TEST_P(SizeLimitTest, EditsInAnyOrderLoseNothing) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    ASSERT_NO_FATAL_FAILURE(OpenWriter(Between(50'000, kLimit, dice)));
    for (int step = 0; step < 60; ++step) {
      const int64_t nchunks = std::ssize(data_) / kLimitedChunk;
      switch (Between(0, 9, dice)) {
        case 0:
          if (nchunks == 0) break;
          ASSERT_NO_FATAL_FAILURE(DeleteFirst(Between(1, nchunks, dice)));
          break;
        case 1:
          ASSERT_TRUE(IsOk(writer_->Reclaim()));
          break;
        case 2:
          ASSERT_TRUE(IsOk(writer_->Checkpoint()));
          break;
        case 3:
          ASSERT_TRUE(IsOk(writer_->Close()));
          ASSERT_NO_FATAL_FAILURE(OpenWriter(Between(50'000, kLimit, dice)));
          break;
        default: {
          const absl::Status status = AppendChunk(seed * 1000 + static_cast<uint64_t>(step));
          ASSERT_TRUE(status.ok() || absl::IsResourceExhausted(status)) << status;
          ASSERT_TRUE(!status.ok() || SizeOnDisk(path_) <= kLimit);
        }
      }
      ASSERT_EQ(Data(), data_);
    }
  }
}

TEST_P(SizeLimitTest, NegativeOneIsRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(frame_->OpenWriter({.max_file_size = -1}).status()));
}

}  // namespace
}  // namespace cairn::test
