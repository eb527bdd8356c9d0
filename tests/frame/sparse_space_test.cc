// Chunk files of a sparse frame: which stay for its readers, and that all others go.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/support/bytes.h"
#include "tests/support/files.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kChunks = 10;
constexpr int32_t kChunkBytes = 4096;
// The files that a reader's index names: the chunks, and those that one commit brought after that
// checkpoint.
constexpr int64_t kSeen = kChunks + 2;

class SparseSpaceTest : public testing::Test {
 protected:
  struct Reader {
    Snapshot snapshot;
    Buffer content;
  };

  void SetUp() override {
    CreateOptions options = PlainCopies(kChunkBytes);
    options.layout = Layout::kSparse;
    data_ = MakeNoise(kChunks * kChunkBytes, 1);
    ASSERT_TRUE(IsOk(WriteFrame(path_, options, data_)));
  }
  Frame Open() {
    auto frame = Frame::Open(path_, {.file_system = Unowned(&files_)});
    EXPECT_TRUE(IsOk(frame));
    return *std::move(frame);
  }
  Writer OpenWriter() {
    auto writer = Open().OpenWriter();
    EXPECT_TRUE(IsOk(writer));
    return *std::move(writer);
  }
  Reader OpenReader() { return {.snapshot = Open().snapshot(), .content = data_}; }
  void Update(Writer& writer, int64_t nchunk) {
    const Buffer items = MakeNoise(kChunkBytes, ++seed_);
    ASSERT_TRUE(IsOk(writer.UpdateChunk(nchunk, items)));
    std::ranges::copy(items, data_.begin() + nchunk * kChunkBytes);
  }
  // Replaces two chunks, each of the frame in its turn.
  void Commit(Writer& writer) {
    for (int i = 0; i < 2; ++i) Update(writer, turn_++ % kChunks);
    ASSERT_TRUE(IsOk(writer.Commit(Durability::kProcess)));
  }
  void CommitAndCheckpoint(Writer& writer) {
    Commit(writer);
    ASSERT_TRUE(IsOk(writer.Checkpoint()));
  }
  int64_t ChunkFiles() const { return Count(".chunk"); }
  int64_t Indexes() const { return std::ssize(NamesIn(path_)) - ChunkFiles(); }
  int64_t Count(const std::string& suffix) const {
    return std::ranges::count_if(NamesIn(path_),
                                 [&](const std::string& name) { return name.ends_with(suffix); });
  }
  void ExpectAllRead(const std::vector<Reader>& readers) {
    for (const Reader& reader : readers) ExpectHolds(reader.snapshot, reader.content);
    ExpectHolds(Open().snapshot(), data_);
  }

  const TempDir dir_;
  std::string path_ = dir_.Path("f");
  UnsyncedFileSystem files_;
  Buffer data_;
  uint64_t seed_ = 1;
  int64_t turn_ = 0;
};

TEST_F(SparseSpaceTest, IdleReaderKeepsWhatItSeesAndNothingThatCameAndWent) {
  std::vector<Reader> readers = {OpenReader()};
  Writer writer = OpenWriter();
  for (int i = 0; i < 100; ++i) {
    CommitAndCheckpoint(writer);
    ASSERT_LE(ChunkFiles(), kSeen + kChunks);
    ASSERT_LE(Indexes(), 2);
  }
  ExpectAllRead(readers);
  readers.clear();
  CommitAndCheckpoint(writer);
  CommitAndCheckpoint(writer);
  EXPECT_EQ(ChunkFiles(), kChunks);
  EXPECT_EQ(Indexes(), 1);
}

TEST_F(SparseSpaceTest, ReadersOfSeveralGenerationsKeepWhatEachSees) {
  std::vector<Reader> readers;
  Writer writer = OpenWriter();
  for (int i = 0; i < 120; ++i) {
    if (i % 30 == 7) readers.push_back(OpenReader());
    CommitAndCheckpoint(writer);
    ASSERT_LE(ChunkFiles(), std::ssize(readers) * kSeen + kChunks);
    ASSERT_LE(Indexes(), 1 + std::ssize(readers));
  }
  ExpectAllRead(readers);
  // The one in the middle goes, and what it alone saw.
  readers.erase(readers.begin() + 1);
  for (int i = 0; i < 5; ++i) CommitAndCheckpoint(writer);
  EXPECT_LE(ChunkFiles(), std::ssize(readers) * kSeen + kChunks);
  EXPECT_EQ(Indexes(), 1 + std::ssize(readers));
  ExpectAllRead(readers);
}

TEST_F(SparseSpaceTest, CommitsBetweenCheckpointsOfTheWritersOwnAreBounded) {
  constexpr int64_t kWritten = int64_t{20} << 20;
  const std::vector<Reader> readers = {OpenReader()};
  Writer writer = OpenWriter();
  int64_t most = 0;
  for (int64_t written = 0; written < kWritten; written += 2 * kChunkBytes) {
    Commit(writer);
    if (written % (128 * kChunkBytes) == 0) most = std::max(most, ChunkFiles() * kChunkBytes);
  }
  // The journal that the reader saw, and the present one, may each leave 4 MiB.
  EXPECT_LE(most, int64_t{9} << 20);
  ExpectAllRead(readers);
}

TEST_F(SparseSpaceTest, HandleThatFollowsItsOwnWriterKeepsNothing) {
  Frame frame = Open();
  Writer writer = *frame.OpenWriter();
  Snapshot seen = frame.snapshot();
  for (int i = 0; i < 100; ++i) {
    Update(writer, turn_++ % kChunks);
    ASSERT_TRUE(IsOk(writer.Checkpoint()));
    ASSERT_TRUE(IsOk(writer.Suspend()));
    seen = frame.snapshot();
    ASSERT_TRUE(IsOk(writer.Resume()));
    ASSERT_LE(ChunkFiles(), 3 * kSeen);
    ASSERT_LE(Indexes(), 3);
  }
  ExpectHolds(seen, data_);
}

TEST_F(SparseSpaceTest, ReaderThatRefreshesKeepsNothing) {
  Frame reader = Open();
  Writer writer = OpenWriter();
  for (int i = 0; i < 50; ++i) {
    CommitAndCheckpoint(writer);
    const auto refreshed = reader.Refresh();
    ASSERT_TRUE(IsOk(refreshed));
    ExpectHolds(*refreshed, data_);
    ASSERT_LE(ChunkFiles(), kSeen);
    ASSERT_LE(Indexes(), 2);
  }
}

TEST_F(SparseSpaceTest, EachWriterThatOpensFindsWhatReadersSee) {
  std::vector<Reader> readers;
  for (int i = 0; i < 60; ++i) {
    if (i % 20 == 3) readers.push_back(OpenReader());
    Writer writer = OpenWriter();
    CommitAndCheckpoint(writer);
    if (i % 2 == 0) Commit(writer);  // stays in the journal
    ASSERT_TRUE(IsOk(writer.Close()));
    ASSERT_LE(ChunkFiles(), (1 + std::ssize(readers)) * (kSeen + 2));
    ASSERT_LE(Indexes(), 1 + std::ssize(readers));
  }
  ExpectAllRead(readers);
}

TEST_F(SparseSpaceTest, WritersThatTakeTurnsKeepNothingMore) {
  const std::vector<Reader> readers = {OpenReader()};
  std::vector<Writer> writers;
  for (int i = 0; i < 2; ++i) {
    writers.push_back(OpenWriter());
    ASSERT_TRUE(IsOk(writers.back().Suspend()));
  }
  for (size_t i = 0; i < 60; ++i) {
    Writer& writer = writers[i % 2];
    ASSERT_TRUE(IsOk(writer.Resume()));
    CommitAndCheckpoint(writer);
    ASSERT_TRUE(IsOk(writer.Suspend()));
    // A writer that is suspended reads what it saw last.
    ASSERT_LE(ChunkFiles(), 3 * kSeen);
  }
  ExpectAllRead(readers);
}

// A reader may have followed the journal of the index that it opened.
TEST_F(SparseSpaceTest, WhatTheJournalOfAReadersIndexNamesStays) {
  Writer writer = OpenWriter();
  Frame frame = Open();
  Commit(writer);
  std::vector<Reader> readers;
  readers.push_back({.snapshot = *frame.Refresh(), .content = data_});
  Commit(writer);
  readers.push_back({.snapshot = *frame.Refresh(), .content = data_});
  for (int i = 0; i < 20; ++i) CommitAndCheckpoint(writer);
  ASSERT_TRUE(IsOk(writer.Close()));
  OpenWriter();
  ExpectAllRead(readers);
}

TEST_F(SparseSpaceTest, IndexThatIsReadAndCannotBeReadHereKeepsAllFiles) {
  std::optional<Reader> reader = OpenReader();
  Writer writer = OpenWriter();
  CommitAndCheckpoint(writer);
  ASSERT_TRUE(IsOk(writer.Close()));
  const int64_t before = ChunkFiles();
  for (const std::string& name : NamesIn(path_)) {
    if (name.ends_with(".tmp")) fs::resize_file(path_ + "/" + name, 10);
  }
  writer = OpenWriter();
  for (int i = 0; i < 5; ++i) CommitAndCheckpoint(writer);
  EXPECT_EQ(ChunkFiles(), before + 5 * 2);
  reader.reset();
  CommitAndCheckpoint(writer);
  CommitAndCheckpoint(writer);
  EXPECT_EQ(ChunkFiles(), kChunks);
  ExpectAllRead({});
}

TEST_F(SparseSpaceTest, NumbersStayLowBesideAnIdleReader) {
  const std::vector<Reader> readers = {OpenReader()};
  Writer writer = OpenWriter();
  std::set<int64_t> numbers;
  for (int i = 0; i < 40; ++i) {
    CommitAndCheckpoint(writer);
    const Snapshot newest = Open().snapshot();
    for (int64_t n = 0; n < kChunks; ++n) numbers.insert(*newest.GetEntry(n)->file);
  }
  EXPECT_LE(*numbers.rbegin(), 2 * kChunks + 4);
}

}  // namespace
}  // namespace cairn::test
