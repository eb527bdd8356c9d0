// Frames that are objects of a store: read as from the disk, with few requests.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/object_store.h"
#include "tests/object/rigged_store.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
// Neighbours are got together up to this much, of the cache of 64 MiB.
constexpr int64_t kTogether = 2 * kMiB;

class ObjectReadTest : public testing::Test {
 protected:
  // A frame of plain copies of `chunksize` under the name "frame".
  void Make(int64_t nchunks, int32_t chunksize, Layout layout = Layout::kContiguous,
            uint64_t seed = 1) {
    data_ = MakeNoise(static_cast<size_t>(nchunks * chunksize), seed);
    CreateOptions options = PlainCopies(chunksize);
    options.layout = layout;
    options.overwrite = true;
    ASSERT_TRUE(IsOk(WriteFrame(dir_.Path("frame"), options, data_)));
    store_->Upload(dir_.Path("frame"), "frame");
  }
  Frame Open(const ObjectFileOptions& options = {}) {
    files_ = MakeObjectFileSystem(store_, options);
    auto frame = Frame::Open("frame", {.file_system = files_});
    EXPECT_TRUE(IsOk(frame));
    return *std::move(frame);
  }
  int64_t Requests() const { return store_->stats().requests(); }
  // Returns the requests for reading bytes, which must be those of data_.
  int64_t CostOfReading(const Snapshot& snapshot, int64_t begin, int64_t size) {
    const int64_t before = Requests();
    Buffer bytes(static_cast<size_t>(size));
    EXPECT_TRUE(IsOk(snapshot.ReadBytes(begin, bytes)));
    EXPECT_TRUE(std::ranges::equal(
        bytes, Bytes(data_).subspan(static_cast<size_t>(begin), static_cast<size_t>(size))));
    return Requests() - before;
  }

  const TempDir dir_;
  const std::shared_ptr<RiggedStore> store_ = std::make_shared<RiggedStore>();
  std::shared_ptr<FileSystem> files_;
  Buffer data_;
};

TEST_F(ObjectReadTest, OpeningTakesAtMostThreeRequestsAtAnySize) {
  for (const int64_t nchunks : {1, 1000, 30'000, 300'000}) {
    Make(nchunks, 8);
    const int64_t before = Requests();
    const Frame frame = Open();
    EXPECT_LE(Requests() - before, 3) << nchunks;
    EXPECT_EQ(frame.snapshot().info().nchunks, nchunks);
  }
}

TEST_F(ObjectReadTest, OpeningTakesAtMostThreeRequestsWithAnIndexLargerThanTheCache) {
  Make(300'000, 8);
  const int64_t before = Requests();
  const Frame frame = Open({.cache_bytes = kMiB});
  EXPECT_LE(Requests() - before, 3);
  CostOfReading(frame.snapshot(), 0, std::ssize(data_));
}

// Memory is taken for what has come.
TEST_F(ObjectReadTest, SizeThatAStoreClaimsIsNotTrusted) {
  constexpr int64_t kMostSent = 16 * kMiB;
  Make(20, 64);
  for (const int64_t claimed : {int64_t{1} << 30, int64_t{40} << 30, int64_t{1} << 62}) {
    store_->spoil = [&](const GetRequest& request, absl::StatusOr<ObjectPart>& part) {
      if (!part.ok()) return;
      part->object.size = claimed;
      const int64_t rest = claimed - request.range.offset;
      part->bytes.resize(static_cast<size_t>(std::min({request.range.size, rest, kMostSent})));
      // The header agrees: bytes 16 to 24 are the size of the frame, the most significant first.
      for (int i = 0; request.range.offset == 0 && i < 8; ++i) {
        part->bytes[16 + i] = static_cast<std::byte>(claimed >> (56 - 8 * i));
      }
    };
    files_ = MakeObjectFileSystem(store_, {});
    store_->TakeGets();
    EXPECT_FALSE(Frame::Open("frame", {.file_system = files_}).ok()) << claimed;
    for (const GetRequest& get : store_->TakeGets()) EXPECT_LE(get.range.size, 64 * kMiB);
  }
}

TEST_F(ObjectReadTest, OneItemTakesOneRequest) {
  Make(500, 64 << 10);
  const Frame frame = Open();
  const Snapshot snapshot = frame.snapshot();
  // In the middle of the frame and of a chunk, which lies across two pages.
  EXPECT_EQ(CostOfReading(snapshot, 250 * (64 << 10) + 100, 8), 1);
  EXPECT_EQ(CostOfReading(snapshot, 250 * (64 << 10) + 30'000, 8), 0);
}

TEST_F(ObjectReadTest, ChunkTakesOneRequest) {
  Make(20, 300'000);
  const Frame frame = Open();
  const Snapshot snapshot = frame.snapshot();
  const int64_t before = Requests();
  Buffer chunk(300'000);
  ASSERT_TRUE(IsOk(snapshot.ReadChunk(7, chunk)));
  ASSERT_TRUE(IsOk(snapshot.GetChunk(13)));
  EXPECT_EQ(Requests() - before, 2);
}

TEST_F(ObjectReadTest, NeighboursAreGotTogether) {
  Make(300, 64 << 10);
  const Frame frame = Open();
  const int64_t size = std::ssize(data_);
  const int64_t cost = CostOfReading(frame.snapshot(), 0, size);
  EXPECT_LE(cost, size / kTogether + 5);
  EXPECT_EQ(CostOfReading(frame.snapshot(), size - kMiB, kMiB), 0);
}

TEST_F(ObjectReadTest, ChunksThatAreReadInOrderAreGotTogether) {
  Make(300, 64 << 10);
  const Frame frame = Open();
  const Snapshot snapshot = frame.snapshot();
  const int64_t before = Requests();
  Buffer chunk(64 << 10);
  for (int64_t i = 0; i < 300; ++i) ASSERT_TRUE(IsOk(snapshot.ReadChunk(i, chunk)));
  EXPECT_LE(Requests() - before, std::ssize(data_) / kTogether + 15);
}

TEST_F(ObjectReadTest, PiecesThatAreReadInOrderAreGotTogether) {
  for (const int64_t piece : {3 * (64 << 10), 100'000}) {
    Make(300, 64 << 10);
    const Frame frame = Open();
    const int64_t size = std::ssize(data_);
    int64_t cost = 0;
    for (int64_t at = 0; at < size; at += piece) {
      cost += CostOfReading(frame.snapshot(), at, std::min(piece, size - at));
    }
    EXPECT_LE(cost, size / kTogether + 15) << piece;
  }
}

TEST_F(ObjectReadTest, PiecesThatAreReadInOrderAreGotBesideEachOther) {
  for (const Layout layout : {Layout::kContiguous, Layout::kSparse}) {
    Make(300, 64 << 10, layout);
    const Frame frame = Open();
    store_->TakeGets();
    // The third of them finds all that it needs on its way, and what comes after it.
    for (int64_t at = 0; at < 3; ++at) CostOfReading(frame.snapshot(), at * kMiB, kMiB);
    int64_t got = 0;
    for (const GetRequest& get : store_->TakeGets()) got += get.range.size;
    EXPECT_GE(got, 5 * kMiB);
  }
}

TEST_F(ObjectReadTest, ChunksThatAreReadHereAndThereAreGotAlone) {
  Make(300, 64 << 10);
  const Frame frame = Open();
  const Snapshot snapshot = frame.snapshot();
  const int64_t before = store_->stats().bytes_read;
  Buffer chunk(64 << 10);
  for (int64_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(IsOk(snapshot.ReadChunk(i * 37 % 300 / 3 * 3, chunk)));
  }
  EXPECT_LE(store_->stats().bytes_read - before, 100 * (128 << 10));
}

TEST_F(ObjectReadTest, ScanOfMoreThanTheCacheReadsNothingTwice) {
  Make(300, 64 << 10);
  const Frame frame = Open({.cache_bytes = 4 * kMiB});
  const int64_t before = store_->stats().bytes_read;
  CostOfReading(frame.snapshot(), 0, std::ssize(data_));
  EXPECT_LE(store_->stats().bytes_read - before, std::ssize(data_) + kMiB);
}

TEST_F(ObjectReadTest, GetsRunBesideEachOther) {
  Make(300, 64 << 10);
  const Frame frame = Open({.parallel = 6});
  store_->delay = std::chrono::milliseconds(0);
  store_->hold_until = 6;
  CostOfReading(frame.snapshot(), 0, std::ssize(data_));
  EXPECT_EQ(store_->most_running(), 6);
}

TEST_F(ObjectReadTest, ScatteredItemsTakeARequestForEachPlace) {
  Make(1000, 64 << 10);
  const Frame frame = Open();
  std::vector<int64_t> items;
  for (int64_t i = 0; i < 10; ++i) items.push_back((i * 97 + 5) * (64 << 10));
  const int64_t before = Requests();
  Buffer bytes(items.size());
  ASSERT_TRUE(IsOk(frame.snapshot().ReadItemsAt(items, bytes)));
  for (size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ(bytes[i], data_[static_cast<size_t>(items[i])]);
  }
  EXPECT_LE(Requests() - before, 10);
}

TEST_F(ObjectReadTest, SparseFrameTakesOneRequestForEachChunk) {
  Make(50, 100'000, Layout::kSparse);
  int64_t before = Requests();
  const Frame frame = Open();
  EXPECT_LE(Requests() - before, 3);
  EXPECT_EQ(CostOfReading(frame.snapshot(), 0, std::ssize(data_)), 50);
  EXPECT_EQ(CostOfReading(frame.snapshot(), 0, std::ssize(data_)), 0);
  before = Requests();
  const auto report = frame.snapshot().Verify();
  ASSERT_TRUE(IsOk(report));
  EXPECT_TRUE(report->ok());
  EXPECT_EQ(Requests() - before, 0);
}

TEST_F(ObjectReadTest, SparseChunksAreGotBesideEachOther) {
  Make(50, 100'000, Layout::kSparse);
  const Frame frame = Open({.parallel = 16});
  store_->delay = std::chrono::milliseconds(0);
  store_->hold_until = 16;
  EXPECT_EQ(CostOfReading(frame.snapshot(), 0, std::ssize(data_)), 50);
  EXPECT_EQ(store_->most_running(), 16);
}

TEST_F(ObjectReadTest, VerifyReadsEverythingOnce) {
  Make(300, 64 << 10);
  const Frame frame = Open({.cache_bytes = 4 * kMiB});
  const int64_t before = store_->stats().bytes_read;
  const auto report = frame.snapshot().Verify();
  ASSERT_TRUE(IsOk(report));
  EXPECT_TRUE(report->ok() && report->sealed);
  EXPECT_LE(store_->stats().bytes_read - before, std::ssize(data_) + kMiB);
  ExpectHolds(frame.snapshot(), data_);
}

TEST_F(ObjectReadTest, RefreshTakesOneRequest) {
  Make(100, 1000);
  Frame frame = Open();
  for (int i = 0; i < 3; ++i) {
    const int64_t before = Requests();
    ASSERT_TRUE(IsOk(frame.Refresh()));
    EXPECT_EQ(Requests() - before, 1);
  }
}

TEST_F(ObjectReadTest, RefreshSeesAnotherUpload) {
  for (const Layout layout : {Layout::kContiguous, Layout::kSparse}) {
    Make(100, 1000, layout);
    // Without a grace the index is looked at each time.
    Frame frame = Open({.grace = std::chrono::seconds(0)});
    Make(200, 1000, layout, /*seed=*/2);
    const auto snapshot = frame.Refresh();
    ASSERT_TRUE(IsOk(snapshot));
    EXPECT_EQ(snapshot->info().nchunks, 200);
    CostOfReading(*snapshot, 0, std::ssize(data_));
    store_->Delete(std::vector<std::string>{"frame"}).IgnoreError();
  }
}

TEST_F(ObjectReadTest, SnapshotOfAReplacedObjectFailsOrGivesItsOwnBytes) {
  Make(100, 64 << 10);
  const Frame frame = Open();
  const Snapshot snapshot = frame.snapshot();
  const Buffer old = data_;
  Buffer chunk(64 << 10);
  ASSERT_TRUE(IsOk(snapshot.ReadChunk(3, chunk)));
  Make(100, 64 << 10, Layout::kContiguous, /*seed=*/2);
  ASSERT_TRUE(IsOk(snapshot.ReadChunk(3, chunk)));
  EXPECT_TRUE(std::ranges::equal(chunk, Bytes(old).subspan(3 * (64 << 10), 64 << 10)));
  EXPECT_TRUE(Fails(snapshot.ReadChunk(50, chunk), absl::StatusCode::kAborted, "was replaced"));
  store_->Delete(std::vector<std::string>{"frame"}).IgnoreError();
  EXPECT_TRUE(Fails(snapshot.ReadChunk(50, chunk), absl::StatusCode::kAborted, "was removed"));
}

TEST_F(ObjectReadTest, FailureInAScanIsReportedAndPasses) {
  Make(200, 64 << 10);
  const Frame frame = Open();
  std::atomic<int> gets = 0;
  store_->spoil = [&](const GetRequest&, absl::StatusOr<ObjectPart>& part) {
    if (++gets > 2) part = absl::UnavailableError("the store is away");
  };
  Buffer bytes(data_.size());
  EXPECT_TRUE(Fails(frame.snapshot().ReadBytes(0, bytes), absl::StatusCode::kUnavailable, "away"));
  store_->spoil = nullptr;
  CostOfReading(frame.snapshot(), 0, std::ssize(data_));
}

TEST_F(ObjectReadTest, ShortAnswerIsNoData) {
  Make(20, 64 << 10);
  const Frame frame = Open();
  store_->spoil = [](const GetRequest&, absl::StatusOr<ObjectPart>& part) {
    if (part.ok()) part->bytes.resize(part->bytes.size() / 2);
  };
  Buffer bytes(data_.size());
  EXPECT_TRUE(
      Fails(frame.snapshot().ReadBytes(0, bytes), absl::StatusCode::kUnavailable, "expected"));
  store_->spoil = nullptr;
  CostOfReading(frame.snapshot(), 0, std::ssize(data_));
}

TEST_F(ObjectReadTest, StoreThatIgnoresConditionsMixesNothing) {
  Make(100, 64 << 10);
  const Frame frame = Open();
  store_->spoil = [](const GetRequest&, absl::StatusOr<ObjectPart>& part) {
    if (part.ok()) part->object.etag = "another";
  };
  Buffer bytes(data_.size());
  EXPECT_TRUE(
      Fails(frame.snapshot().ReadBytes(0, bytes), absl::StatusCode::kAborted, "was replaced"));
}

TEST_F(ObjectReadTest, ThreadsShareTheRequestForAPage) {
  Make(64, 64 << 10);
  const Frame frame = Open();
  const Snapshot snapshot = frame.snapshot();
  store_->TakeGets();
  store_->delay = std::chrono::milliseconds(2);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int64_t nchunk = 0; nchunk < 64; ++nchunk) {
        const int64_t mine = (nchunk * 5 + i) % 64;
        Buffer chunk(64 << 10);
        EXPECT_TRUE(IsOk(snapshot.ReadChunk(mine, chunk)));
        EXPECT_TRUE(std::ranges::equal(
            chunk, Bytes(data_).subspan(static_cast<size_t>(mine) * (64 << 10), 64 << 10)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<int> times(70);
  for (const GetRequest& get : store_->TakeGets()) {
    for (int64_t at = 0; at < get.range.size; at += 64 << 10) {
      ++times[static_cast<size_t>((get.range.offset + at) / (64 << 10))];
    }
  }
  for (const int count : times) EXPECT_LE(count, 1);
}

TEST_F(ObjectReadTest, CommitsOfAJournalAreRead) {
  Make(10, 1000);
  const Buffer more = MakeNoise(5000, 9);
  auto frame = Frame::Open(dir_.Path("frame"));
  ASSERT_TRUE(IsOk(frame));
  auto writer = frame->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Append(more)));
  ASSERT_TRUE(IsOk(writer->Commit()));
  store_->Upload(dir_.Path("frame"), "frame");
  AddTo(data_, more);
  const int64_t before = Requests();
  const Frame opened = Open();
  EXPECT_LE(Requests() - before, 3);
  ExpectHolds(opened.snapshot(), data_);
}

TEST_F(ObjectReadTest, CopyToTheDiskTakesAsManyRequestsAsAScan) {
  Make(300, 64 << 10);
  Frame frame = Open();
  const int64_t before = Requests();
  ASSERT_TRUE(IsOk(frame.snapshot().CopyTo(dir_.Path("copy"), {})));
  EXPECT_LE(Requests() - before, std::ssize(data_) / kTogether + 5);
  const auto copy = Frame::Open(dir_.Path("copy"));
  ASSERT_TRUE(IsOk(copy));
  ExpectHolds(copy->snapshot(), data_);
}

TEST_F(ObjectReadTest, WritingIsRefusedWithTheReason) {
  Make(10, 1000);
  Frame frame = Open();
  EXPECT_TRUE(Fails(frame.OpenWriter(), absl::StatusCode::kUnimplemented, "is read by this"));
}

}  // namespace
}  // namespace cairn::test
