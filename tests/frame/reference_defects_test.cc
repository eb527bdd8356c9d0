// Tests that errors of C-Blosc2 in frames are avoided; see docs/errata.md.
#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "tests/support/bytes.h"
#include "tests/support/files.h"
#include "tests/support/frame_parts.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::frame {
namespace {

using test::Buffer;

// Positions in the header of a frame.
constexpr size_t kFrameSizeField = 0x10;
constexpr size_t kFrameTypeAt = 0x1A;
constexpr size_t kCbytesField = 0x27;
// The index of a few chunks is a memcpyed chunk.
constexpr size_t kEntriesAt = 32;

class FrameReferenceDefectsTest : public testing::Test {
 protected:
  // A contiguous frame of three chunks as C-Blosc2 writes it: with nothing of Cairn's.
  Buffer PlainFrame(ChunkSize chunksize) {
    CreateOptions options = test::Cut(4, chunksize);
    options.fingerprint = FingerprintType::kNone;
    absl::StatusOr<Writer> writer = Frame::BeginCreate(dir_.Path("plain"), options);
    EXPECT_TRUE(IsOk(writer));
    for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(IsOk(writer->Append(Items(i))));
    EXPECT_TRUE(IsOk(writer->Close()));
    return test::FileBytes(dir_.Path("plain"));
  }
  static Buffer Items(size_t i) { return test::MakeItems(kChunkSize, i); }
  static Buffer AllItems() {
    Buffer all;
    for (size_t i = 0; i < 3; ++i) test::AddTo(all, Items(i));
    return all;
  }

  // The frame as the directory of a sparse one, whose chunk files have these numbers.
  void PutSparse(const Buffer& frame, const std::vector<int64_t>& numbers) {
    const test::FrameParts parts = test::PartsOf(frame);
    const auto index_begin = static_cast<size_t>(parts.index_begin);
    const auto header_len = static_cast<size_t>(parts.header_len);
    Buffer index = ToVector(Bytes(frame).first(header_len));
    test::AddTo(index, Bytes(frame).subspan(index_begin));
    index[kFrameTypeAt] = std::byte{1};
    StoreBe<uint64_t>(index.data() + kFrameSizeField, index.size());
    std::filesystem::create_directory(sparse_);
    for (size_t i = 0; i < numbers.size(); ++i) {
      const size_t begin =
          header_len + LoadLe<uint64_t>(frame.data() + index_begin + kEntriesAt + 8 * i);
      const Bytes chunk = Bytes(frame).subspan(begin);
      const auto size = static_cast<size_t>(InspectChunk(chunk)->cbytes);
      test::PutFileBytes(sparse_ + "/" + FileName(numbers[i]), chunk.first(size));
      StoreLe<uint64_t>(index.data() + header_len + kEntriesAt + 8 * i,
                        static_cast<uint64_t>(numbers[i]));
    }
    test::PutFileBytes(sparse_ + "/chunks.b2frame", index);
  }
  static std::string FileName(int64_t number) { return absl::StrFormat("%08X.chunk", number); }

  // Checks the numbers as C-Blosc2 does when it opens a sparse frame.
  void ExpectNumbersThatThePeerTakes(const Snapshot& snapshot) const {
    const Buffer index = test::FileBytes(sparse_ + "/chunks.b2frame");
    const auto cbytes = static_cast<int64_t>(LoadBe<uint64_t>(index.data() + kCbytesField));
    for (int64_t i = 0; i < snapshot.info().nchunks; ++i) {
      EXPECT_LE(snapshot.GetEntry(i)->file, cbytes - 32);
    }
  }

  static constexpr size_t kChunkSize = 400;
  const test::TempDir dir_;
  const std::string sparse_ = dir_.Path("sparse");
  test::UnsyncedFileSystem files_;
};

// Reading it divides C-Blosc2 by zero.
TEST_F(FrameReferenceDefectsTest, SpecialValueInTheIndexOfVariableChunksIsDamageOfThatChunk) {
  Buffer bytes = PlainFrame(ChunkSize::Variable());
  const auto index_begin = static_cast<size_t>(test::PartsOf(bytes).index_begin);
  for (const uint64_t kind : {0x81, 0x82, 0x84}) {
    for (size_t nchunk = 0; nchunk < 3; ++nchunk) {
      SCOPED_TRACE(testing::Message() << "kind " << kind << ", chunk " << nchunk);
      Buffer frame_bytes = bytes;
      StoreLe<uint64_t>(frame_bytes.data() + index_begin + kEntriesAt + 8 * nchunk, kind << 56);
      const absl::StatusOr<Frame> frame = Frame::OpenBuffer(frame_bytes);
      ASSERT_TRUE(IsOk(frame));
      const Snapshot snapshot = frame->snapshot();
      Buffer items(kChunkSize);
      for (size_t i = 0; i < 3; ++i) {
        const absl::Status status = snapshot.ReadChunk(static_cast<int64_t>(i), items);
        if (i == nchunk) {
          EXPECT_TRUE(IsDamage(status, "chunk " + std::to_string(nchunk)));
        } else {
          EXPECT_TRUE(IsOk(status));
          EXPECT_EQ(items, Items(i));
        }
      }
      EXPECT_FALSE(snapshot.Verify()->ok());
    }
  }
}

// C-Blosc2 takes the numbers of files for positions when it opens the frame.
TEST_F(FrameReferenceDefectsTest, SparseFrameOfLargeNumbersAndSmallChunksIsRead) {
  PutSparse(PlainFrame(kChunkSize), {90'000, 2, 0xFFFFFF});
  const absl::StatusOr<Frame> frame = Frame::Open(sparse_);
  ASSERT_TRUE(IsOk(frame));
  test::ExpectHolds(frame->snapshot(), AllItems());
  EXPECT_EQ(frame->snapshot().GetEntry(0)->file, 90'000);
}

TEST_F(FrameReferenceDefectsTest, NextCommitGivesSparseFramesSmallNumbers) {
  PutSparse(PlainFrame(kChunkSize), {90'000, 2, 0xFFFFFF});
  absl::StatusOr<Frame> frame = Frame::Open(sparse_);
  ASSERT_TRUE(IsOk(frame));
  absl::StatusOr<Writer> writer = frame->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Append(Items(3))));
  ASSERT_TRUE(IsOk(writer->Close()));
  Buffer all = AllItems();
  test::AddTo(all, Items(3));
  test::ExpectHolds(frame->snapshot(), all);
  ExpectNumbersThatThePeerTakes(frame->snapshot());
}

TEST_F(FrameReferenceDefectsTest, NumbersOfSparseFramesShrinkWithWhatTheyHold) {
  CreateOptions options = test::Cut(4, 40);
  options.layout = Layout::kSparse;
  options.file_system = Unowned(&files_);
  absl::StatusOr<Frame> frame = Frame::Create(sparse_, options);
  ASSERT_TRUE(IsOk(frame));
  absl::StatusOr<Writer> writer = frame->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  const Buffer items = test::MakeNoise(40 * 200);
  ASSERT_TRUE(IsOk(writer->Append(items)));
  ASSERT_TRUE(IsOk(writer->Checkpoint()));
  ExpectNumbersThatThePeerTakes(*frame->Refresh());
  // The last chunk alone, whose number is the largest.
  ASSERT_TRUE(IsOk(writer->DeleteChunks(0, 199)));
  ASSERT_TRUE(IsOk(writer->Close()));
  test::ExpectHolds(frame->snapshot(), Bytes(items).last(40));
  ExpectNumbersThatThePeerTakes(frame->snapshot());
}

TEST_F(FrameReferenceDefectsTest, UpdateAsLongAsTheLastChunkKeepsTheRestOfItsChunk) {
  absl::StatusOr<Frame> frame = Frame::CreateInMemory(test::Cut(4, 40));
  ASSERT_TRUE(IsOk(frame));
  absl::StatusOr<Writer> writer = frame->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  Buffer items = test::MakeNoise(25 * 4);
  ASSERT_TRUE(IsOk(writer->Append(items)));
  const Buffer news = test::MakeNoise(5 * 4, 1);
  ASSERT_TRUE(IsOk(writer->WriteItems(10, news)));
  ASSERT_TRUE(IsOk(writer->Close()));
  std::ranges::copy(news, items.begin() + 10 * 4);
  test::ExpectHolds(frame->snapshot(), items);
}

}  // namespace
}  // namespace cairn::frame
