// Updated chunks that wait in memory for their commit.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::frame {
namespace {

using absl::StatusCode;
using test::Buffer;
using test::Cut;

constexpr int32_t kDirtyChunk = 1000;
constexpr int64_t kDirtyChunks = 20;

class DirtyChunksTest : public testing::TestWithParam<int64_t> {
 protected:
  void SetUp() override {
    frame_ = *Frame::Create(path_, Cut(1, kDirtyChunk));
    WriterOptions options;
    options.staged_memory = GetParam();
    writer_ = *frame_->OpenWriter(options);
    for (int64_t i = 0; i < kDirtyChunks; ++i) model_.push_back(Content());
    for (const Buffer& chunk : model_) ASSERT_TRUE(IsOk(writer_->Append(chunk)));
    ASSERT_TRUE(IsOk(writer_->Checkpoint()));
  }

  // Cannot be compressed.
  Buffer Content() { return test::MakeNoise(kDirtyChunk, ++seed_); }
  void Update(int64_t nchunk) {
    model_[static_cast<size_t>(nchunk)] = Content();
    ASSERT_TRUE(IsOk(writer_->UpdateChunk(nchunk, model_[static_cast<size_t>(nchunk)])));
  }
  void ExpectStaged() {
    for (int64_t i = 0; i < std::ssize(model_); ++i) {
      Buffer chunk(model_[static_cast<size_t>(i)].size());
      ASSERT_TRUE(IsOk(writer_->ReadChunk(i, chunk))) << i;
      EXPECT_EQ(chunk, model_[static_cast<size_t>(i)]) << i;
    }
  }
  static void ExpectReads(const Snapshot& snapshot, const std::vector<Buffer>& chunks) {
    Buffer all;
    for (const Buffer& chunk : chunks) test::AddTo(all, chunk);
    test::ExpectHolds(snapshot, all);
  }

  test::TempDir dir_;
  const std::string path_ = dir_.Path("frame");
  std::optional<Frame> frame_;
  std::optional<Writer> writer_;
  std::vector<Buffer> model_;
  uint64_t seed_ = 0;
};

TEST_P(DirtyChunksTest, StagedChunksRead) {
  Update(3);
  Update(7);
  Update(3);
  model_.push_back(Content());
  ASSERT_TRUE(IsOk(writer_->Append(model_.back())));
  Update(kDirtyChunks);
  ExpectStaged();
  const absl::StatusOr<Snapshot> committed = writer_->Commit();
  ASSERT_TRUE(IsOk(committed));
  ExpectReads(*committed, model_);
  ExpectReads(Frame::Open(path_)->snapshot(), model_);
}

TEST_P(DirtyChunksTest, ReadChunkRefusesWhatASnapshotRefuses) {
  Update(3);
  Buffer chunk(kDirtyChunk);
  EXPECT_EQ(writer_->ReadChunk(kDirtyChunks, chunk).code(), StatusCode::kOutOfRange);
  EXPECT_EQ(writer_->ReadChunk(-1, chunk).code(), StatusCode::kOutOfRange);
  chunk.pop_back();
  EXPECT_EQ(writer_->ReadChunk(3, chunk).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(writer_->ReadChunk(4, chunk).code(), StatusCode::kInvalidArgument);
}

TEST_P(DirtyChunksTest, ItemsChangeAcrossChunks) {
  Update(4);
  const Buffer items = test::MakeNoise(2 * kDirtyChunk + 200, 77);
  ASSERT_TRUE(IsOk(writer_->WriteItems(3 * kDirtyChunk + 900, items)));
  Buffer all;
  for (const Buffer& chunk : model_) test::AddTo(all, chunk);
  std::ranges::copy(items, all.begin() + 3 * kDirtyChunk + 900);
  for (size_t i = 0; i < model_.size(); ++i) {
    std::copy_n(all.begin() + static_cast<int64_t>(i) * kDirtyChunk, kDirtyChunk,
                model_[i].begin());
  }
  ExpectStaged();
  ASSERT_TRUE(IsOk(writer_->Commit()));
  ExpectReads(Frame::Open(path_)->snapshot(), model_);
}

TEST_P(DirtyChunksTest, EditsThatMoveChunksTakeUpdatesAlong) {
  Update(5);
  ASSERT_TRUE(IsOk(writer_->DeleteChunks(2, 2)));
  model_.erase(model_.begin() + 2, model_.begin() + 4);
  Update(9);
  model_.insert(model_.begin() + 1, Content());
  ASSERT_TRUE(IsOk(writer_->InsertChunk(1, model_[1])));
  Update(10);
  std::vector<int64_t> order;
  for (int64_t i = std::ssize(model_) - 1; i >= 0; --i) order.push_back(i);
  ASSERT_TRUE(IsOk(writer_->ReorderChunks(order)));
  std::ranges::reverse(model_);
  ExpectStaged();
  ASSERT_TRUE(IsOk(writer_->Commit()));
  ExpectReads(Frame::Open(path_)->snapshot(), model_);
}

TEST_P(DirtyChunksTest, ASnapshotOfStagedEditsStaysAsItIs) {
  Update(5);
  Update(6);
  const std::vector<Buffer> before = model_;
  {
    const absl::StatusOr<Snapshot> staged = writer_->StagedSnapshot();
    ASSERT_TRUE(IsOk(staged));
    Update(5);
    ASSERT_TRUE(IsOk(writer_->StagedSnapshot()));
    ExpectReads(*staged, before);
  }
  ASSERT_TRUE(IsOk(writer_->Commit()));
  ExpectReads(Frame::Open(path_)->snapshot(), model_);
}

TEST_P(DirtyChunksTest, RollbackDropsUpdates) {
  const std::vector<Buffer> before = model_;
  for (int64_t i = 0; i < kDirtyChunks; ++i) Update(i);
  writer_->Rollback();
  model_ = before;
  ExpectStaged();
  ASSERT_TRUE(IsOk(writer_->Commit()));
  ExpectReads(frame_->snapshot(), before);
}

// Room for what is replaced is there after the first two checkpoints.
TEST_P(DirtyChunksTest, UpdatesOfOneCommitTakeNoSpaceTwice) {
  for (int round = 0; round < 2; ++round) {
    for (int64_t i = 0; i < kDirtyChunks; ++i) Update(i);
    ASSERT_TRUE(IsOk(writer_->Checkpoint()));
  }
  const int64_t size = frame_->snapshot().info().frame_size;
  for (int round = 0; round < 50; ++round) {
    for (int64_t i = 0; i < kDirtyChunks / 2; ++i) Update(i);
  }
  ASSERT_TRUE(IsOk(writer_->Commit()));
  ExpectReads(Frame::Open(path_)->snapshot(), model_);
  ASSERT_TRUE(IsOk(writer_->Checkpoint()));
  EXPECT_LT(frame_->snapshot().info().frame_size, size + kDirtyChunks * kDirtyChunk);
}

TEST_P(DirtyChunksTest, RefusedUpdatesChangeNothing) {
  Update(2);
  EXPECT_EQ(writer_->UpdateChunk(kDirtyChunks, Content()).code(), StatusCode::kOutOfRange);
  EXPECT_EQ(writer_->UpdateChunk(2, Buffer(kDirtyChunk - 1)).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(writer_->WriteItems(kDirtyChunks * kDirtyChunk - 1, Buffer(2)).code(),
            StatusCode::kOutOfRange);
  ExpectStaged();
}

// None, a few chunks, and all.
INSTANTIATE_TEST_SUITE_P(Memory, DirtyChunksTest,
                         testing::Values(0, 4 * kDirtyChunk, 7 * kDirtyChunk, 8 << 20));

TEST(DirtyChunksOptionTest, LessThanNothingIsRefused) {
  Frame frame = test::NewInMemory(Cut(1, kDirtyChunk));
  WriterOptions options;
  options.staged_memory = -1;
  EXPECT_EQ(frame.OpenWriter(options).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace cairn::frame
