// Compaction during writes.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

using namespace std::chrono_literals;

constexpr int32_t kCompactedSize = 400;
constexpr int64_t kCompactedChunks = 100;
// A further chunk comes meanwhile, and only the second pass copies it.
constexpr int64_t kMoreChunks = kCompactedChunks + 1;

class CompactionTest : public testing::Test {
 protected:
  void Make(CreateOptions options) {
    ASSERT_TRUE(IsOk(WriteFrame(path_, options, MakeNoise(kCompactedChunks * kCompactedSize, 1))));
    auto frame = Frame::Open(path_);
    ASSERT_TRUE(IsOk(frame));
    frame_ = *std::move(frame);
    auto writer = frame_->OpenWriter();
    ASSERT_TRUE(IsOk(writer));
    writer_ = *std::move(writer);
  }
  void Commit(int64_t nchunk, unsigned seed) {
    ASSERT_TRUE(IsOk(writer_->UpdateChunk(nchunk, MakeNoise(kCompactedSize, seed))));
    ASSERT_TRUE(IsOk(writer_->Commit(Durability::kProcess)));
  }
  // Compacts by another handle. `edit` runs when the first chunk is copied; the writer lets others
  // have the frame when so many are.
  template <typename Edit>
  absl::StatusOr<CompactReport> CompactBeside(int64_t chunks, Edit edit) {
    auto other = Frame::Open(path_);
    if (!other.ok()) return other.status();
    return other->Compact({.wait = 60s, .progress = [&](int64_t done) {
                             if (done == 1) edit();
                             if (done == chunks) {
                               EXPECT_TRUE(IsOk(writer_->Suspend()));
                               copied_ = BytesBeside();
                             }
                             return true;
                           }});
  }
  // The bytes of the files beside the frame.
  int64_t BytesBeside() const {
    int64_t bytes = 0;
    for (const auto& file : std::filesystem::directory_iterator(dir_.path())) {
      if (file.path() != path_) bytes += static_cast<int64_t>(file.file_size());
    }
    return bytes;
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
  std::optional<Frame> frame_;
  std::optional<Writer> writer_;
  int64_t copied_ = 0;  // bytes, before the lock was free
};

TEST_F(CompactionTest, CommitsGoOnWhileChunksAreCopied) {
  Make(Cut(4, kCompactedSize));
  std::optional<Snapshot> committed;
  const auto report = CompactBeside(kMoreChunks, [&] {
    Commit(0, 2);
    Commit(50, 3);
    ASSERT_TRUE(IsOk(writer_->DeleteChunks(70, 1)));
    ASSERT_TRUE(IsOk(writer_->Append(MakeNoise(2 * kCompactedSize, 4))));
    ASSERT_TRUE(IsOk(writer_->SetVlmetalayer("a", MakeNoise(10, 5))));
    committed = *writer_->Commit(Durability::kProcess);
  });
  ASSERT_TRUE(IsOk(report));
  const Frame compacted = *Frame::Open(path_);
  EXPECT_EQ(*FullContentOf(compacted.snapshot()), *FullContentOf(*committed));
  EXPECT_TRUE(compacted.snapshot().Verify()->ok());
  EXPECT_LT(compacted.snapshot().info().dead_bytes.value_or(INT64_MAX), 5 * kCompactedSize);
  ASSERT_TRUE(IsOk(writer_->Resume()));
  Commit(1, 6);
  EXPECT_EQ(*DataOf(Frame::Open(path_)->snapshot()), *DataOf(*writer_->StagedSnapshot()));
}

TEST_F(CompactionTest, OnlyWhatCommitsChangedIsCopiedUnderTheLock) {
  Make(Cut(4, kCompactedSize));
  ASSERT_TRUE(IsOk(CompactBeside(kMoreChunks, [&] {
    ASSERT_TRUE(IsOk(writer_->Append(MakeNoise(kCompactedSize, 4))));
    Commit(0, 2);
  })));
  EXPECT_GE(copied_, kCompactedChunks * kCompactedSize);
  EXPECT_LT(Frame::Open(path_)->snapshot().info().frame_size, copied_ + 10 * kCompactedSize);
}

TEST_F(CompactionTest, StartsAgainWhenTheFrameMovedToAnotherFile) {
  Make(Cut(4, kCompactedSize));
  Buffer content = ContentOf(frame_->snapshot());
  content.erase(content.begin(), content.begin() + kCompactedSize);
  ASSERT_TRUE(IsOk(CompactBeside(kCompactedChunks, [&] {
    // So that chunks lie elsewhere there.
    ASSERT_TRUE(IsOk(writer_->DeleteChunks(0, 1)));
    ASSERT_TRUE(IsOk(writer_->Commit()));
    ASSERT_TRUE(IsOk(writer_->Suspend()));
    Frame third = *Frame::Open(path_);
    ASSERT_TRUE(IsOk(third.Compact()));
    ASSERT_TRUE(IsOk(writer_->Resume()));
  })));
  const Snapshot compacted = Frame::Open(path_)->snapshot();
  EXPECT_EQ(ContentOf(compacted), content);
  EXPECT_EQ(compacted.info().dead_bytes, 0);
}

TEST_F(CompactionTest, ChunksWithoutFingerprintsAreCopiedOnce) {
  CreateOptions options = Cut(4, kCompactedSize);
  options.fingerprint = FingerprintType::kNone;
  Make(options);
  const auto report = CompactBeside(kCompactedChunks, [&] { Commit(0, 2); });
  ASSERT_TRUE(IsOk(report));
  EXPECT_LT(report->size_after, (kCompactedChunks + 20) * kCompactedSize);
  EXPECT_EQ(Frame::Open(path_)->snapshot().info().dead_bytes.value_or(0), 0);
}

TEST_F(CompactionTest, NothingIsCopiedBesideAWriterWhenThereIsNoTimeToWait) {
  Make(Cut(4, kCompactedSize));
  Frame other = *Frame::Open(path_);
  bool copied = false;
  const auto report = other.Compact({.progress = [&](int64_t) { return copied = true; }});
  EXPECT_TRUE(absl::IsUnavailable(report.status())) << report.status();
  EXPECT_FALSE(copied);
}

TEST_F(CompactionTest, LeavesNothingBesideTheFrameWhenItIsStopped) {
  Make(Cut(4, kCompactedSize));
  Frame other = *Frame::Open(path_);
  const auto report =
      other.Compact({.wait = 60s, .progress = [](int64_t done) { return done < 9; }});
  EXPECT_TRUE(absl::IsCancelled(report.status())) << report.status();
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_.path()), {}), 1);
  Commit(0, 2);
}

}  // namespace
}  // namespace cairn::test
