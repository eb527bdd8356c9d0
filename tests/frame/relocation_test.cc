// Chunks that move down, so that the file gets shorter, and readers that hold them back.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/support/bytes.h"
#include "tests/support/files.h"
#include "tests/support/frame_parts.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

constexpr int32_t kMovedChunk = 4096;
constexpr int64_t kSlack = int64_t{8} << 20;

class RelocationTest : public testing::Test {
 protected:
  void SetUp() override {
    data_ = MakeNoise(200 * kMovedChunk, 1);
    ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(kMovedChunk), data_)));
  }
  Frame Open() const {
    auto frame = Frame::Open(path_);
    EXPECT_TRUE(IsOk(frame));
    return *std::move(frame);
  }
  int64_t Size() const { return static_cast<int64_t>(std::filesystem::file_size(path_)); }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
  Buffer data_;
  std::mt19937_64 random_{7};
};

TEST_F(RelocationTest, FileGetsSmallAgainWhenAReaderLeaves) {
  constexpr int64_t kManyChunks = 2000;
  constexpr int64_t kLive = kManyChunks * kMovedChunk;
  ASSERT_TRUE(IsOk(AppendTo(path_, MakeNoise(kLive - std::ssize(data_), 2))));
  auto writer = Open().OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  const auto update = [&](int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      const auto nchunk = static_cast<int64_t>(random_() % kManyChunks);
      ASSERT_TRUE(IsOk(writer->UpdateChunk(nchunk, MakeNoise(kMovedChunk, random_()))));
      ASSERT_TRUE(IsOk(writer->Commit(Durability::kProcess)));
    }
  };
  update(1000);
  std::optional<Snapshot> held = Open().snapshot();
  update(4000);
  EXPECT_LE(Size(), 2 * kLive + kSlack);
  EXPECT_GT(Size(), 2 * kLive) << "or the test is about nothing";
  held.reset();
  update(4000);
  EXPECT_LT(Size(), kLive * 7 / 4);
  EXPECT_TRUE(Open().snapshot().Verify()->ok());
}

TEST_F(RelocationTest, ReclaimMovesChunksDownAndCutsTheFile) {
  auto writer = Open().OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  for (int64_t i = 0; i < 90; ++i) {  // the first and every other one
    ASSERT_TRUE(IsOk(writer->DeleteChunks(i, 1)));
    data_.erase(data_.begin() + i * kMovedChunk, data_.begin() + (i + 1) * kMovedChunk);
  }
  ASSERT_TRUE(IsOk(writer->Commit()));
  const auto report = writer->Reclaim();
  ASSERT_TRUE(IsOk(report));
  EXPECT_FALSE(report->blocked);
  EXPECT_LT(Size(), std::ssize(data_) * 5 / 4);
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_LT(Size(), std::ssize(data_) * 5 / 4);
  const Snapshot snapshot = Open().snapshot();
  ExpectHolds(snapshot, data_);
  EXPECT_TRUE(snapshot.Verify()->ok());
}

TEST_F(RelocationTest, DamagedChunkIsNotMoved) {
  auto writer = Open().OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->DeleteChunks(0, 100)));
  ASSERT_TRUE(IsOk(writer->Commit()));
  constexpr int64_t kDamaged = 40;
  const ChunkEntry before = *Open().snapshot().GetEntry(kDamaged);
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(*before.offset + 100);
    file.put(static_cast<char>(FileBytes(path_)[static_cast<size_t>(*before.offset) + 100]) ^ 1);
  }
  ASSERT_TRUE(IsOk(writer->Reclaim()));
  const Snapshot snapshot = Open().snapshot();
  EXPECT_LT(snapshot.GetEntry(kDamaged + 1)->offset, before.offset);
  EXPECT_EQ(snapshot.GetEntry(kDamaged)->offset, before.offset);
  EXPECT_EQ(snapshot.GetEntry(kDamaged)->fingerprint, before.fingerprint);
  Buffer read(kMovedChunk);
  EXPECT_TRUE(absl::IsDataLoss(snapshot.ReadChunk(kDamaged, read)));
}

// Chunks that have no fingerprints, since another Blosc2 has edited the frame. It leaves the seal
// that Cairn wrote before.
class ForeignRelocationTest : public RelocationTest {
 protected:
  void SetUp() override {
    RelocationTest::SetUp();
    auto writer = Open().OpenWriter();
    ASSERT_TRUE(IsOk(writer));
    for (int64_t i = 0; i < 90; ++i) {  // the first and every other one
      ASSERT_TRUE(IsOk(writer->DeleteChunks(i, 1)));
      data_.erase(data_.begin() + i * kMovedChunk, data_.begin() + (i + 1) * kMovedChunk);
    }
    ASSERT_TRUE(IsOk(writer->Checkpoint()));
    ASSERT_TRUE(IsOk(writer->Close()));
    std::vector<std::byte> file = FileBytes(path_);
    DropFingerprint(file);
    PutFileBytes(path_, file);
  }
  absl::StatusOr<ReclaimReport> AppendAndReclaim() {
    const Buffer chunk = MakeNoise(kMovedChunk, 11);
    data_.insert(data_.end(), chunk.begin(), chunk.end());
    auto writer = Open().OpenWriter();
    EXPECT_TRUE(IsOk(writer));
    EXPECT_TRUE(IsOk(writer->Append(chunk)));
    EXPECT_TRUE(IsOk(writer->Checkpoint()));
    return writer->Reclaim();
  }
  void ExpectIntact() const {
    const Snapshot snapshot = Open().snapshot();
    ExpectHolds(snapshot, data_);
    EXPECT_TRUE(snapshot.Verify()->ok());
    EXPECT_FALSE(snapshot.GetEntry(0)->fingerprint.has_value());
  }
};

TEST_F(ForeignRelocationTest, ReclaimMovesChunksThatOthersWrote) {
  const auto report = AppendAndReclaim();
  ASSERT_TRUE(IsOk(report));
  EXPECT_FALSE(report->blocked);
  EXPECT_LT(Size(), std::ssize(data_) * 5 / 4);
  ExpectIntact();
}

TEST_F(ForeignRelocationTest, ReclaimKeepsWhatAReaderSeesOfAForeignFrame) {
  const Buffer seen = data_;
  const Frame reader = *Frame::Open(path_, {.use_mmap = false});
  const Snapshot held = reader.snapshot();
  const auto report = AppendAndReclaim();
  ASSERT_TRUE(IsOk(report));
  EXPECT_TRUE(report->blocked);
  EXPECT_EQ(DataOf(held).value(), seen);
  ExpectIntact();
}

TEST_F(ForeignRelocationTest, WhatReclaimFindsBesideAReaderIsUsedWhenThatLeaves) {
  std::optional<Frame> reader = *Frame::Open(path_, {.use_mmap = false});
  std::optional<Snapshot> held = reader->snapshot();
  auto writer = Open().OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->UpdateChunk(0, Bytes(data_).first(kMovedChunk))));
  ASSERT_TRUE(IsOk(writer->Checkpoint()));
  const auto report = writer->Reclaim();
  ASSERT_TRUE(IsOk(report));
  EXPECT_TRUE(report->blocked);
  held.reset();
  reader.reset();
  const int64_t before = Size();
  for (int64_t i = 0; i < 40; ++i) {
    const Bytes chunk = Bytes(data_).subspan(static_cast<size_t>(i * kMovedChunk), kMovedChunk);
    ASSERT_TRUE(IsOk(writer->UpdateChunk(i, chunk)));
    ASSERT_TRUE(IsOk(writer->Checkpoint()));
  }
  EXPECT_LT(Size(), before + 10 * kMovedChunk);
  ASSERT_TRUE(IsOk(writer->Close()));
  ExpectHolds(Open().snapshot(), data_);
}

// Neither what came and went since, nor what a reader that is up to date could see.
TEST_F(RelocationTest, ReclaimFreesBesideAReaderWhatThatDoesNotSee) {
  auto writer = Open().OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  Frame reader = Open();
  const Snapshot held = reader.snapshot();
  const Buffer seen = data_;
  ASSERT_TRUE(IsOk(writer->UpdateChunk(0, MakeNoise(kMovedChunk, 8))));
  ASSERT_TRUE(IsOk(writer->Checkpoint()));  // it might continue to commits before
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(500 * kMovedChunk, 9))));
  ASSERT_TRUE(IsOk(writer->Checkpoint()));
  ASSERT_TRUE(IsOk(writer->DeleteChunks(200, 500)));
  ASSERT_TRUE(IsOk(writer->Commit()));
  const auto report = writer->Reclaim();
  ASSERT_TRUE(IsOk(report));
  EXPECT_TRUE(report->blocked);
  EXPECT_GT(report->freed, 400 * kMovedChunk);
  EXPECT_LT(Size(), 300 * kMovedChunk);
  EXPECT_EQ(DataOf(held).value(), seen);
}

TEST_F(RelocationTest, HoldersOfOlderGenerationsAreNamed) {
  auto writer = Open().OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  Frame reader = Open();
  std::optional<Snapshot> held = reader.snapshot();
  EXPECT_TRUE(reader.OldReaders()->empty()) << "up to date";
  ASSERT_TRUE(IsOk(writer->UpdateChunk(1, MakeNoise(kMovedChunk, 2))));
  ASSERT_TRUE(IsOk(writer->Checkpoint()));
  Frame other = Open();
  const auto holders = other.OldReaders();
  ASSERT_TRUE(IsOk(holders));
  ASSERT_EQ(holders->size(), 1);
  EXPECT_EQ(holders->front().generation, held->info().generation);
  EXPECT_EQ(holders->front().pid, ::getpid());
  ASSERT_TRUE(IsOk(reader.Refresh()));
  held.reset();
  EXPECT_TRUE(other.OldReaders()->empty());
}

}  // namespace
}  // namespace cairn::test
