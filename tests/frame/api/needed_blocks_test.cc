// Chunks of which a caller names the bytes that it needs: they decode as the whole chunk does, and
// without a map little else is read.
#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/chunk.h"
#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "tests/support/bytes.h"
#include "tests/support/counting_file_system.h"
#include "tests/support/files.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"

namespace cairn::test {
namespace {

constexpr int32_t kNeededTypesize = 4;
constexpr int32_t kNeededBlock = 1 << 15;
constexpr int32_t kNeededChunk = 25 * kNeededBlock;
constexpr int64_t kNeededChunks = 3;

// Half of the bytes are noise, and the other half zeros.
Buffer HalfNoise(size_t size) {
  Buffer bytes = MakeNoise(size, 3);
  for (size_t i = 0; i < size; i += kNeededTypesize) std::fill_n(&bytes[i], 2, std::byte{0});
  return bytes;
}

class NeededBlocksTest : public testing::TestWithParam<std::tuple<Layout, bool>> {
 protected:
  void SetUp() override {
    CreateOptions options = Cut(kNeededTypesize, kNeededChunk);
    options.layout = std::get<0>(GetParam());
    options.compression.blocksize = kNeededBlock;
    options.compression.filters = {{Filter::kShuffle}};
    ASSERT_TRUE(IsOk(WriteFrame(path_, options, content_)));
  }
  bool is_mapped() const { return std::get<1>(GetParam()); }

  Frame Open(VerifyPolicy verify = VerifyPolicy::kNever) {
    return *Frame::Open(
        path_, {.use_mmap = is_mapped(), .verify = verify, .file_system = Unowned(&files_)});
  }
  // Checks the needed bytes of the chunk, and returns the chunk's size.
  int64_t ExpectNeeded(const Snapshot& snapshot, int64_t nchunk,
                       const std::vector<ByteRange>& needed) const {
    const absl::StatusOr<Chunk> chunk = snapshot.GetChunk(nchunk, needed);
    EXPECT_TRUE(IsOk(chunk));
    if (!chunk.ok()) return 0;
    EXPECT_EQ(InspectChunk(chunk->bytes())->nbytes, kNeededChunk);
    for (const auto& [begin, end] : needed) {
      Buffer part(static_cast<size_t>(end - begin));
      EXPECT_TRUE(IsOk(DecompressItems(chunk->bytes(), begin / kNeededTypesize, part)));
      EXPECT_TRUE(std::ranges::equal(
          part, Bytes(content_).subspan(static_cast<size_t>(nchunk * kNeededChunk + begin),
                                        part.size())));
    }
    return std::ssize(chunk->bytes());
  }

  CountingFileSystem files_;
  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
  const Buffer content_ = HalfNoise(kNeededChunks * kNeededChunk);
};

// Another thread of the same program may read meanwhile, in the same scratch memory.
TEST_P(NeededBlocksTest, ChunkThatHadToBeReadTwiceStaysAsItIs) {
  const Snapshot snapshot = Open(VerifyPolicy::kFirstTouch).snapshot();
  files_.reading().bad_reads = 1;
  const absl::StatusOr<Chunk> chunk = snapshot.GetChunk(0);
  ASSERT_TRUE(IsOk(chunk));
  const Buffer before = ToVector(chunk->bytes());
  files_.reading().bad_reads = 1;
  ASSERT_TRUE(IsOk(snapshot.GetChunk(1)));
  EXPECT_EQ(ToVector(chunk->bytes()), before);
}

INSTANTIATE_TEST_SUITE_P(Layouts, NeededBlocksTest,
                         testing::Combine(testing::Values(Layout::kContiguous, Layout::kSparse),
                                          testing::Bool()));

TEST_P(NeededBlocksTest, OnlyTheBlocksOfTheNeededBytesAreRead) {
  const Frame frame = Open();
  const Snapshot snapshot = frame.snapshot();
  for (int64_t nchunk = 0; nchunk < kNeededChunks; ++nchunk) {
    const int64_t stored = std::ssize(snapshot.GetChunk(nchunk)->bytes());
    const int64_t bytes = files_.reading().bytes;
    const int64_t calls = files_.calls();
    const int64_t size =
        ExpectNeeded(snapshot, nchunk,
                     {{.begin = 7 * kNeededBlock + 40, .end = 7 * kNeededBlock + 44},
                      {.begin = 12 * kNeededBlock - 8, .end = 12 * kNeededBlock + 8}});
    if (is_mapped()) {
      EXPECT_EQ(size, stored);
      EXPECT_EQ(files_.reading().bytes, bytes);
    } else {
      EXPECT_LT(size, stored / 6);
      EXPECT_LT(files_.reading().bytes - bytes, stored / 6);
      // The start, and two pieces; a chunk file is opened, too, and its size asked for.
      EXPECT_LE(files_.calls() - calls, snapshot.info().layout == Layout::kSparse ? 5 : 3);
    }
  }
}

TEST_P(NeededBlocksTest, ChunkThatIsMostlyNeededIsReadAsItIs) {
  const Frame frame = Open();
  const Snapshot snapshot = frame.snapshot();
  const Chunk whole = *snapshot.GetChunk(1);
  const int64_t bytes = files_.reading().bytes;
  const ByteRange most = {.begin = kNeededBlock, .end = 21 * kNeededBlock};
  const absl::StatusOr<Chunk> chunk = snapshot.GetChunk(1, {&most, 1});
  ASSERT_TRUE(IsOk(chunk));
  EXPECT_TRUE(std::ranges::equal(chunk->bytes(), whole.bytes()));
  EXPECT_LE(files_.reading().bytes - bytes, std::ssize(whole.bytes()));
}

TEST_P(NeededBlocksTest, ChunkIsReadWholeOnceToBeVerified) {
  const Frame frame = Open(VerifyPolicy::kFirstTouch);
  const std::vector<ByteRange> needed = {{.begin = 0, .end = 8}};
  const int64_t first = ExpectNeeded(frame.snapshot(), 2, needed);
  const int64_t bytes = files_.reading().bytes;
  const int64_t second = ExpectNeeded(frame.snapshot(), 2, needed);
  if (is_mapped()) {
    EXPECT_EQ(second, first);
  } else {
    EXPECT_LT(second, first / 10);
    EXPECT_LT(files_.reading().bytes - bytes, first / 10);
  }
}

TEST_P(NeededBlocksTest, DamageIsSeenAsInTheWholeChunk) {
  const ChunkEntry entry = *Open().snapshot().GetEntry(1);
  const std::string file =
      entry.offset.has_value() ? path_ : path_ + "/" + std::string("00000001.chunk");
  Buffer bytes = FileBytes(file);
  bytes[static_cast<size_t>(entry.offset.value_or(0)) + 40'000] ^= std::byte{1};
  PutFileBytes(file, bytes);
  const ByteRange needed = {.begin = 0, .end = 8};
  EXPECT_TRUE(IsDamage(Open(VerifyPolicy::kFirstTouch).snapshot().GetChunk(1, {&needed, 1}),
                       "fingerprint"));
  // Without a check, another block is not looked at.
  ExpectNeeded(Open().snapshot(), 1, {needed});
  // A damaged header is told of with its place.
  std::fill_n(&bytes[static_cast<size_t>(entry.offset.value_or(0))], 16, std::byte{0xFF});
  PutFileBytes(file, bytes);
  const Frame frame = Open();
  EXPECT_EQ(frame.snapshot().GetChunk(1, {&needed, 1}).status(),
            frame.snapshot().GetChunk(1).status());
  EXPECT_FALSE(frame.snapshot().GetChunk(1).ok());
}

TEST_P(NeededBlocksTest, OtherChunksAreThoseOfGetChunk) {
  ASSERT_TRUE(IsOk(AppendTo(path_, Buffer(kNeededChunk + 100 * kNeededTypesize))));
  const Frame frame = Open();
  const Snapshot snapshot = frame.snapshot();
  const ByteRange needed = {.begin = 40, .end = 44};
  ASSERT_EQ(snapshot.info().nchunks, kNeededChunks + 2);
  for (int64_t nchunk = kNeededChunks; nchunk < kNeededChunks + 2; ++nchunk) {
    const auto chunk = snapshot.GetChunk(nchunk, {&needed, 1});
    ASSERT_TRUE(IsOk(chunk));
    EXPECT_TRUE(std::ranges::equal(chunk->bytes(), snapshot.GetChunk(nchunk)->bytes()));
  }
  EXPECT_TRUE(absl::IsOutOfRange(snapshot.GetChunk(kNeededChunks + 2, {&needed, 1}).status()));
  EXPECT_TRUE(absl::IsOutOfRange(snapshot.GetChunk(-1, {}).status()));
}

TEST_P(NeededBlocksTest, StagedChunksAreRead) {
  Frame frame = Open();
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->UpdateChunk(0, Bytes(content_).subspan(kNeededChunk, kNeededChunk))));
  const absl::StatusOr<Snapshot> staged = writer->StagedSnapshot();
  ASSERT_TRUE(IsOk(staged));
  const ByteRange needed = {.begin = 3 * kNeededBlock, .end = 3 * kNeededBlock + 400};
  const absl::StatusOr<Chunk> chunk = staged->GetChunk(0, {&needed, 1});
  ASSERT_TRUE(IsOk(chunk));
  Buffer part(400);
  ASSERT_TRUE(IsOk(DecompressItems(chunk->bytes(), 3 * kNeededBlock / kNeededTypesize, part)));
  EXPECT_TRUE(
      std::ranges::equal(part, Bytes(content_).subspan(kNeededChunk + 3 * kNeededBlock, 400)));
}

}  // namespace
}  // namespace cairn::test
