#include "engine/frame/state/block_cache.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "tests/support/bytes.h"
#include "tests/support/counting_file_system.h"
#include "tests/support/files.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"

namespace cairn::frame {
namespace {

using Answer = BlockCache::Answer;

constexpr int64_t kCacheBytes = 8 << 20;

BlockKey KeyOf(uint64_t owner, int64_t value, int64_t block) {
  return {.owner = owner, .entry = {.value = value, .fingerprint = 7}, .block = block};
}

// Asks for the first byte of a block, and keeps it when that is worth it. Its bytes are `content`.
Answer Ask(BlockCache& cache, const BlockKey& key, int64_t nbytes, std::byte content) {
  std::byte byte{};
  const Answer answer = cache.Read(key, nbytes, nbytes - 1, MutableBytes(&byte, 1));
  EXPECT_TRUE(answer != Answer::kHit || byte == content);
  if (answer == Answer::kAgain) {
    auto bytes = std::make_unique<std::byte[]>(static_cast<size_t>(nbytes));
    FillBytes({bytes.get(), static_cast<size_t>(nbytes)}, content);
    cache.Insert(key, nbytes, std::move(bytes));
  }
  return answer;
}

TEST(BlockCacheTest, KeepsWhatIsAskedForASecondTime) {
  BlockCache cache(kCacheBytes);
  const BlockKey key = KeyOf(1, 100, 0);
  EXPECT_EQ(Ask(cache, key, 4096, std::byte{5}), Answer::kMiss);
  EXPECT_EQ(cache.kept_bytes(), 0);
  EXPECT_EQ(Ask(cache, key, 4096, std::byte{5}), Answer::kAgain);
  EXPECT_EQ(cache.kept_bytes(), 4096);
  EXPECT_EQ(Ask(cache, key, 4096, std::byte{5}), Answer::kHit);
}

TEST(BlockCacheTest, TakesNoBlockForAnother) {
  BlockCache cache(kCacheBytes);
  for (int i = 0; i < 2; ++i) Ask(cache, KeyOf(1, 100, 0), 4096, std::byte{5});
  EXPECT_EQ(Ask(cache, KeyOf(2, 100, 0), 4096, std::byte{6}), Answer::kMiss) << "another owner";
  EXPECT_EQ(Ask(cache, KeyOf(1, 101, 0), 4096, std::byte{6}), Answer::kMiss) << "another place";
  EXPECT_EQ(Ask(cache, KeyOf(1, 100, 1), 4096, std::byte{6}), Answer::kMiss) << "another block";
  BlockKey other = KeyOf(1, 100, 0);
  other.entry.fingerprint = 8;
  EXPECT_EQ(Ask(cache, other, 4096, std::byte{6}), Answer::kMiss) << "another chunk";
}

TEST(BlockCacheTest, StaysWithinItsMemoryWhateverTheSizesOfBlocks) {
  BlockCache cache(kCacheBytes);
  for (int64_t i = 0; i < 3000; ++i) {
    const int64_t nbytes = int64_t{1} << (7 + i % 17);
    for (int k = 0; k < 3; ++k) Ask(cache, KeyOf(1, i, 0), nbytes, static_cast<std::byte>(i));
    ASSERT_LE(cache.kept_bytes(), kCacheBytes);
  }
  EXPECT_GT(cache.kept_bytes(), 0);
  EXPECT_EQ(Ask(cache, KeyOf(1, 9, 9), kCacheBytes, {}), Answer::kMiss);
  EXPECT_EQ(Ask(cache, KeyOf(1, 9, 9), kCacheBytes, {}), Answer::kMiss) << "too large";
}

TEST(BlockCacheTest, ScanPushesNothingOut) {
  BlockCache cache(kCacheBytes);
  for (int i = 0; i < 2; ++i) Ask(cache, KeyOf(1, 0, 0), 1 << 20, std::byte{1});
  EXPECT_EQ(Ask(cache, KeyOf(1, 0, 0), 1 << 20, std::byte{1}), Answer::kHit);
  for (int64_t i = 1; i < 3; ++i) Ask(cache, KeyOf(1, i, 0), 1 << 20, {});
  EXPECT_EQ(Ask(cache, KeyOf(1, 0, 0), 1 << 20, std::byte{1}), Answer::kHit);
}

TEST(BlockCacheTest, WhatWasNotAskedForLongestMakesRoom) {
  BlockCache cache(kCacheBytes);
  constexpr int64_t kQuarter = kCacheBytes / 4;  // so large that all share one set
  for (int64_t i = 0; i < 4; ++i) {
    for (int k = 0; k < 2; ++k) Ask(cache, KeyOf(1, i, 0), kQuarter, static_cast<std::byte>(i));
  }
  EXPECT_EQ(cache.kept_bytes(), kCacheBytes);
  EXPECT_EQ(Ask(cache, KeyOf(1, 0, 0), kQuarter, std::byte{0}), Answer::kHit);
  EXPECT_EQ(Ask(cache, KeyOf(1, 4, 0), kQuarter, std::byte{4}), Answer::kMiss);
  for (const int64_t i : {0, 2, 3}) {
    EXPECT_EQ(Ask(cache, KeyOf(1, i, 0), kQuarter, static_cast<std::byte>(i)), Answer::kHit) << i;
  }
  EXPECT_EQ(Ask(cache, KeyOf(1, 1, 0), kQuarter, std::byte{1}), Answer::kMiss);
}

TEST(BlockCacheTest, WhatIsKeptGoesOnAsWhatComesInItsPlace) {
  BlockCache cache(kCacheBytes);
  const std::vector<std::byte> next(4096, std::byte{6});
  for (int i = 0; i < 2; ++i) Ask(cache, KeyOf(1, 100, 0), 4096, std::byte{5});
  cache.Replace(KeyOf(1, 100, 0), KeyOf(1, 200, 0), next);
  EXPECT_EQ(cache.kept_bytes(), 4096);
  EXPECT_EQ(Ask(cache, KeyOf(1, 200, 0), 4096, std::byte{6}), Answer::kHit);
  EXPECT_EQ(Ask(cache, KeyOf(1, 100, 0), 4096, std::byte{5}), Answer::kMiss);
  cache.Replace(KeyOf(1, 300, 0), KeyOf(1, 400, 0), next);
  EXPECT_EQ(Ask(cache, KeyOf(1, 400, 0), 4096, std::byte{6}), Answer::kMiss) << "not kept before";
}

TEST(BlockCacheTest, KeepsNothingWithoutMemory) {
  BlockCache cache(0);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Ask(cache, KeyOf(1, 100, 0), 4096, std::byte{5}), Answer::kMiss);
  }
}

TEST(BlockCacheTest, ThreadsNeverSeeAnothersBytes) {
  BlockCache cache(kCacheBytes);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&cache, t] {
      for (int i = 0; i < 5000; ++i) {
        const int64_t value = (i * 7 + t) % 40;
        Ask(cache, KeyOf(1, value, 0), 64 << 10, static_cast<std::byte>(value));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(cache.kept_bytes(), kCacheBytes);
}

// Frames whose items are read again and again while they change.
class CachedReadsTest : public testing::Test {
 protected:
  static constexpr int64_t kItems = 20'000;

  CachedReadsTest() {
    CreateOptions options;
    options.chunksize = 8192;
    options.compression.typesize = 4;
    options.compression.blocksize = 1024;
    auto frame = Frame::Create(path_, options);
    EXPECT_TRUE(IsOk(frame));
    frame_.emplace(*std::move(frame));
    auto writer = frame_->OpenWriter();
    for (int32_t i = 0; i < kItems; ++i) model_.push_back(i);
    EXPECT_TRUE(IsOk(writer->Append(std::as_bytes(std::span(model_)))));
    EXPECT_TRUE(IsOk(writer->Close()));
  }

  static void ExpectItems(const Snapshot& snapshot, const std::vector<int32_t>& model) {
    ASSERT_EQ(snapshot.info().nitems, std::ssize(model));
    for (int round = 0; round < 3; ++round) {
      for (size_t i = 0; i < model.size(); i += 61) {
        int32_t item = -1;
        ASSERT_TRUE(
            IsOk(snapshot.ReadItems(static_cast<int64_t>(i), std::span<int32_t>(&item, 1))));
        ASSERT_EQ(item, model[i]) << i;
      }
    }
  }
  void Change(Writer& writer, size_t first, int32_t by) {
    std::vector<int32_t> changed(model_.begin() + static_cast<std::ptrdiff_t>(first),
                                 model_.begin() + static_cast<std::ptrdiff_t>(first) + 100);
    for (int32_t& item : changed) item += by;
    ASSERT_TRUE(
        IsOk(writer.WriteItems(static_cast<int64_t>(first), std::as_bytes(std::span(changed)))));
    std::ranges::copy(changed, model_.begin() + static_cast<std::ptrdiff_t>(first));
  }

  const test::TempDir dir_;
  const std::string path_ = dir_.Path("f");
  std::optional<Frame> frame_;
  std::vector<int32_t> model_;
};

TEST_F(CachedReadsTest, SeeEveryCommitAndEverySnapshotItsOwn) {
  auto reader = Frame::Open(path_);
  auto writer = frame_->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  const Snapshot before = reader->snapshot();
  const std::vector<int32_t> old = model_;
  ASSERT_NO_FATAL_FAILURE(ExpectItems(before, old));
  for (size_t i = 0; i < 12; ++i) {
    Change(*writer, i * 1500, 1'000'000 + static_cast<int32_t>(i));
    ASSERT_NO_FATAL_FAILURE(ExpectItems(*writer->StagedSnapshot(), model_)) << "staged";
    if (i % 3 == 2) {
      ASSERT_TRUE(IsOk(writer->Checkpoint()));
    } else {
      ASSERT_TRUE(IsOk(writer->Commit(Durability::kProcess)));
    }
    ASSERT_NO_FATAL_FAILURE(ExpectItems(frame_->snapshot(), model_));
    ASSERT_NO_FATAL_FAILURE(ExpectItems(*reader->Refresh(), model_));
    ASSERT_NO_FATAL_FAILURE(ExpectItems(before, old));
  }
}

TEST_F(CachedReadsTest, SeeWhatCameInPlaceOfWhatWasRolledBack) {
  auto writer = frame_->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  const std::vector<int32_t> committed = model_;
  for (int32_t i = 1; i <= 4; ++i) {
    model_ = committed;
    Change(*writer, 5000, i * 1'000'000);
    ASSERT_NO_FATAL_FAILURE(ExpectItems(*writer->StagedSnapshot(), model_));
    writer->Rollback();
    ASSERT_NO_FATAL_FAILURE(ExpectItems(*writer->StagedSnapshot(), committed));
  }
}

TEST_F(CachedReadsTest, ReadTheHeaderOfAChunkOnce) {
  test::CountingFileSystem files;
  const auto reader = Frame::Open(path_, {.use_mmap = false, .file_system = Unowned(&files)});
  ASSERT_TRUE(IsOk(reader));
  const Snapshot snapshot = reader->snapshot();
  int32_t item = -1;
  const std::span<int32_t> room(&item, 1);
  ASSERT_TRUE(IsOk(snapshot.ReadItems(5, room)));
  const int64_t before = files.calls();
  ASSERT_TRUE(IsOk(snapshot.ReadItems(3000, room)));
  EXPECT_EQ(item, 3000);
  EXPECT_EQ(files.calls() - before, 2) << "a header and its chunk";
}

TEST_F(CachedReadsTest, NeedNoFileForASmallChunkAfterACheckpoint) {
  test::CountingFileSystem files;
  auto reader = Frame::Open(path_, {.use_mmap = false, .file_system = Unowned(&files)});
  ASSERT_TRUE(IsOk(reader));
  std::vector<std::byte> chunk(8192);
  for (const int64_t nchunk : {3, 1, 3, 1}) {
    ASSERT_TRUE(IsOk(reader->snapshot().ReadChunk(nchunk, chunk)));
  }
  auto writer = frame_->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  Change(*writer, 10'000, 5);
  ASSERT_TRUE(IsOk(writer->Checkpoint()));
  const absl::StatusOr<Snapshot> after = reader->Refresh();
  ASSERT_TRUE(IsOk(after));
  ASSERT_TRUE(IsOk(after->ReadChunk(0, chunk)));  // and the index
  const int64_t calls = files.calls();
  ASSERT_TRUE(IsOk(after->ReadChunk(3, chunk)));
  EXPECT_EQ(files.calls(), calls);
  EXPECT_TRUE(std::ranges::equal(chunk, std::as_bytes(std::span(model_)).subspan(3 * 8192, 8192)));
}

TEST_F(CachedReadsTest, SeeTheFrameAfterReclaimAndCompact) {
  auto reader = Frame::Open(path_);
  ASSERT_NO_FATAL_FAILURE(ExpectItems(reader->snapshot(), model_));
  {
    auto writer = frame_->OpenWriter();
    Change(*writer, 3000, 77);
    ASSERT_TRUE(IsOk(writer->Checkpoint()));
    ASSERT_TRUE(IsOk(writer->Reclaim()));
    Change(*writer, 3000, 78);
    ASSERT_TRUE(IsOk(writer->Close()));
  }
  ASSERT_NO_FATAL_FAILURE(ExpectItems(*reader->Refresh(), model_));
  ASSERT_TRUE(IsOk(frame_->Compact()));
  ASSERT_NO_FATAL_FAILURE(ExpectItems(*reader->Refresh(), model_));
  ASSERT_NO_FATAL_FAILURE(ExpectItems(*frame_->Refresh(), model_));
}

TEST_F(CachedReadsTest, SeeOneStateFromManyThreadsWhileAWriterCommits) {
  auto writer = frame_->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  const Snapshot before = frame_->snapshot();
  const std::vector<int32_t> old = model_;
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (!done) ASSERT_NO_FATAL_FAILURE(ExpectItems(before, old));
    });
  }
  for (size_t i = 0; i < 30; ++i) {
    Change(*writer, (i * 700) % 19'000, 1);
    ASSERT_TRUE(IsOk(writer->Commit(Durability::kProcess)));
    ASSERT_NO_FATAL_FAILURE(ExpectItems(frame_->snapshot(), model_));
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
}

// Which chunk is damaged is known at its first touch, also when no checkpoint covers it.
TEST_F(CachedReadsTest, FlippedBitInAJournaledChunkIsFoundAtItsFirstTouch) {
  auto writer = frame_->OpenWriter();
  // The second commit shows that the first one was durable.
  for (const size_t first : {5000, 15'000}) {
    Change(*writer, first, 9);
    ASSERT_TRUE(IsOk(writer->Commit()));
  }
  const int64_t nchunk = 5000 * 4 / 8192;
  const int64_t offset = frame_->snapshot().GetEntry(nchunk)->offset.value();
  const test::Buffer good = test::FileBytes(path_);
  test::Buffer raw(8192);
  for (size_t at = static_cast<size_t>(offset) + 32; at < static_cast<size_t>(offset) + 40; ++at) {
    test::Buffer bad = good;
    bad[at] ^= std::byte{1};
    auto opened = Frame::OpenBuffer(bad);
    ASSERT_TRUE(IsOk(opened));
    for (int i = 0; i < 2; ++i) {
      const absl::Status status = opened->snapshot().ReadChunk(nchunk, raw);
      EXPECT_TRUE(absl::IsDataLoss(status)) << status;
      EXPECT_NE(status.message().find("chunk 2"), std::string::npos) << status;
    }
    int32_t item = 0;
    EXPECT_TRUE(absl::IsDataLoss(opened->snapshot().ReadItems(5000, std::span<int32_t>(&item, 1))));
    EXPECT_TRUE(IsOk(opened->snapshot().ReadChunk(nchunk + 1, raw)));
  }
}

}  // namespace
}  // namespace cairn::frame
