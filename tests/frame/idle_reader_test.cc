// Space of a contiguous frame beside readers that stay where they are: each keeps what it can see,
// and nothing that came and went since.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/frame/api/handle_access.h"
#include "engine/frame/state/state.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {
namespace {

constexpr int64_t kIdleChunks = 50;
constexpr int32_t kIdleChunkBytes = 4096;
constexpr int64_t kLive = kIdleChunks * kIdleChunkBytes;

class IdleReaderTest : public testing::Test {
 protected:
  struct Reader {
    Snapshot snapshot;
    Buffer content;
  };

  void SetUp() override {
    data_ = MakeNoise(kLive, 1);
    ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(kIdleChunkBytes), data_)));
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
  // Replaces some chunks, each of the frame in its turn, and makes a checkpoint.
  void Update(Writer& writer, int count = 5) {
    for (int i = 0; i < count; ++i) {
      const int64_t nchunk = turn_++ % kIdleChunks;
      const Buffer items = MakeNoise(kIdleChunkBytes, 100 + static_cast<uint64_t>(turn_));
      ASSERT_TRUE(IsOk(writer.UpdateChunk(nchunk, items)));
      std::ranges::copy(items, data_.begin() + nchunk * kIdleChunkBytes);
    }
    ASSERT_TRUE(IsOk(writer.Checkpoint()));
  }
  int64_t Size() const { return static_cast<int64_t>(std::filesystem::file_size(path_)); }
  void ExpectAllRead(const std::vector<Reader>& readers) {
    for (const Reader& reader : readers) ExpectHolds(reader.snapshot, reader.content);
    ExpectHolds(Open().snapshot(), data_);
  }

  const TempDir dir_;
  std::string path_ = dir_.Path("f");
  UnsyncedFileSystem files_;
  Buffer data_;
  int64_t turn_ = 0;
};

TEST_F(IdleReaderTest, BesideOneTheFileIsBoundedHoweverManyCommitsThereAre) {
  const std::vector<Reader> readers = {OpenReader()};
  Writer writer = OpenWriter();
  for (int i = 0; i < 300; ++i) {
    Update(writer);
    ASSERT_LE(Size(), 5 * kLive) << i;
  }
  ExpectAllRead(readers);
}

// Each of them sees by itself which chunks came after the reader.
TEST_F(IdleReaderTest, WritersThatOpenAnewKeepNothingThatCameAndWent) {
  const std::vector<Reader> readers = {OpenReader()};
  for (int i = 0; i < 300; ++i) {
    Writer writer = OpenWriter();
    Update(writer);
    ASSERT_TRUE(IsOk(writer.Close()));
    ASSERT_LE(Size(), 5 * kLive) << i;
  }
  ExpectAllRead(readers);
}

TEST_F(IdleReaderTest, WritersThatTakeTurnsKeepNothingThatCameAndWent) {
  const std::vector<Reader> readers = {OpenReader()};
  std::vector<Writer> writers;
  for (int i = 0; i < 2; ++i) {
    writers.push_back(OpenWriter());
    ASSERT_TRUE(IsOk(writers.back().Suspend()));
  }
  for (size_t i = 0; i < 300; ++i) {
    Writer& writer = writers[i % 2];
    ASSERT_TRUE(IsOk(writer.Resume()));
    Update(writer);
    ASSERT_TRUE(IsOk(writer.Suspend()));
    ASSERT_LE(Size(), 5 * kLive) << i;
  }
  ExpectAllRead(readers);
}

TEST_F(IdleReaderTest, ReadersOfSeveralGenerationsKeepWhatEachSees) {
  std::vector<Reader> readers;
  for (int i = 0; i < 300; ++i) {
    if (i % 75 == 20) readers.push_back(OpenReader());
    Writer writer = OpenWriter();
    Update(writer);
    ASSERT_TRUE(IsOk(writer.Close()));
    ASSERT_LE(Size(), (3 + 2 * std::ssize(readers)) * kLive) << i;
  }
  ExpectAllRead(readers);
}

TEST_F(IdleReaderTest, ReaderThatRefreshesKeepsNothing) {
  Frame reader = Open();
  for (int i = 0; i < 200; ++i) {
    Writer writer = OpenWriter();
    Update(writer);
    ASSERT_TRUE(IsOk(writer.Close()));
    const auto refreshed = reader.Refresh();
    ASSERT_TRUE(IsOk(refreshed));
    if (i % 20 == 0) ExpectHolds(*refreshed, data_);
    ASSERT_LE(Size(), 3 * kLive) << i;
  }
}

// Nor does what the writer and the seal remember grow.
TEST_F(IdleReaderTest, ListsOfSpaceAreBounded) {
  const std::vector<Reader> readers = {OpenReader()};
  Writer writer = OpenWriter();
  for (int i = 0; i < 500; ++i) {
    Update(writer, 2);
    const Snapshot snapshot = Open().snapshot();
    const format::SpaceList& space = frame::HandleAccess::StateOf(snapshot).checkpoint->seal->space;
    ASSERT_LE(std::ssize(space.free) + std::ssize(space.dead) + std::ssize(space.born),
              3 * kIdleChunks);
  }
  ExpectAllRead(readers);
}

TEST_F(IdleReaderTest, NoBirthIsListedWhereNobodyReads) {
  Writer writer = OpenWriter();
  for (int i = 0; i < 20; ++i) Update(writer);
  ASSERT_TRUE(IsOk(writer.Close()));
  const Snapshot snapshot = Open().snapshot();
  EXPECT_TRUE(frame::HandleAccess::StateOf(snapshot).checkpoint->seal->space.born.empty());
}

}  // namespace
}  // namespace cairn::test
