// The newest trailer is found by itself, and no other bytes pass for one.
#include "engine/frame/repair/trailer_scanner.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/storage/memory_file.h"
#include "tests/frame/frame_test_data.h"
#include "tests/frame/small_frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

using frame::FindNewestTrailer;
using frame::FoundTrailer;

constexpr int32_t kSearchedChunk = 1000;

absl::StatusOr<FoundTrailer> FindIn(Bytes bytes) {
  storage::MemoryFile file;
  EXPECT_EQ(file.WriteAt(0, bytes), absl::OkStatus());
  return FindNewestTrailer(file);
}

CreateOptions SealedWith(FingerprintType type) {
  CreateOptions options = PlainCopies(kSearchedChunk);
  options.fingerprint = type;
  return options;
}

Buffer HeaderOf(Bytes frame) {
  return ToVector(frame.first(static_cast<size_t>(PartsOf(frame).header_len)));
}

// The frame with its first bytes gone: a sector.
Buffer Beheaded(Buffer frame, size_t count = 512) {
  FillBytes(MutableBytes(frame).first(std::min(frame.size(), count)), std::byte{0xEE});
  return frame;
}

class TrailerSearchTest : public testing::Test {
 protected:
  // A frame as it is after each of `commits` writers.
  std::vector<Buffer> History(int commits, const CreateOptions& options) {
    std::vector<Buffer> states;
    for (int i = 0; i < commits; ++i) {
      EXPECT_EQ(i == 0
                    ? WriteFrame(path_, options, Noise(2 * kSearchedChunk, 1), {{"note", "value"}})
                    : AppendTo(path_, Noise(kSearchedChunk, static_cast<uint64_t>(i) + 1)),
                absl::OkStatus());
      states.push_back(FileBytes(path_));
    }
    return states;
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
};

class TrailerOfEveryTypeTest : public TrailerSearchTest,
                               public testing::WithParamInterface<FingerprintType> {};

TEST_P(TrailerOfEveryTypeTest, HasTheHeaderOfTheNewestCheckpoint) {
  ASSERT_TRUE(IsOk(Frame::Create(path_, SealedWith(GetParam()))));
  for (uint64_t i = 0; i < 3; ++i)
    ASSERT_EQ(AppendTo(path_, Noise(kSearchedChunk, i)), absl::OkStatus());
  const Buffer frame = FileBytes(path_);
  const auto found = FindIn(Beheaded(frame));
  ASSERT_TRUE(IsOk(found));
  EXPECT_EQ(found->header, HeaderOf(frame));
  EXPECT_EQ(found->end, PartsOf(frame).frame_size);
  EXPECT_EQ(found->seal.type, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Types, TrailerOfEveryTypeTest,
                         testing::Values(FingerprintType::kNone, FingerprintType::k32Bit,
                                         FingerprintType::k64Bit, FingerprintType::k128Bit));

TEST_F(TrailerSearchTest, TheHeaderThatIsFoundOpensTheFrame) {
  Buffer frame = History(2, SealedWith(FingerprintType::k64Bit)).back();
  frame = Beheaded(frame, HeaderOf(frame).size());
  EXPECT_FALSE(Frame::OpenBuffer(frame).ok());
  const auto found = FindIn(frame);
  ASSERT_TRUE(IsOk(found));
  CopyBytes(found->header, frame);
  const auto opened = Frame::OpenBuffer(Bytes(frame).first(static_cast<size_t>(found->end)));
  ASSERT_TRUE(IsOk(opened));
  Buffer data = Noise(2 * kSearchedChunk, 1);
  AddTo(data, Noise(kSearchedChunk, 2));
  EXPECT_EQ(ContentOf(opened->snapshot()), data);
}

TEST_F(TrailerSearchTest, AnOlderCheckpointStandsInForADamagedOne) {
  const std::vector<Buffer> states = History(3, SealedWith(FingerprintType::k64Bit));
  const FrameParts parts = PartsOf(states[2]);
  const int64_t places[] = {parts.index_begin + 40, parts.trailer_begin, parts.trailer_begin + 30,
                            parts.frame_size - 1, parts.frame_size - 20};
  for (const int64_t place : places) {
    Buffer damaged = Beheaded(states[2]);
    damaged[static_cast<size_t>(place)] ^= std::byte{1};
    const auto found = FindIn(damaged);
    ASSERT_TRUE(IsOk(found)) << place;
    EXPECT_EQ(found->header, HeaderOf(states[1])) << place;
  }
}

TEST_F(TrailerSearchTest, AFrameThatIsUserDataIsNotTheFileAroundIt) {
  const Buffer inner = History(4, SealedWith(FingerprintType::k64Bit)).back();
  const std::string outer_path = dir_.Path("outer");
  ASSERT_EQ(WriteFrame(outer_path, PlainCopies(static_cast<int32_t>(inner.size())), inner),
            absl::OkStatus());
  Buffer outer = FileBytes(outer_path);
  const auto found = FindIn(Beheaded(outer));
  ASSERT_TRUE(IsOk(found));
  EXPECT_EQ(found->header, HeaderOf(outer));
  outer.back() ^= std::byte{1};
  EXPECT_TRUE(IsDamage(FindIn(Beheaded(outer)), "no trailer"));
}

TEST_F(TrailerSearchTest, AnEmptyFrameThatIsUserDataIsNotTheFileAroundItEither) {
  ASSERT_TRUE(IsOk(Frame::Create(path_, SealedWith(FingerprintType::k64Bit))));
  const Buffer inner = FileBytes(path_);
  EXPECT_TRUE(IsOk(FindIn(inner)));
  Buffer bytes = Noise(kSearchedChunk, 1);
  AddTo(bytes, inner);
  EXPECT_TRUE(IsDamage(FindIn(bytes), "no trailer"));
}

TEST_F(TrailerSearchTest, BytesBehindTheFrameDoNotMatterWhereverItEnds) {
  const Buffer frame = History(1, SealedWith(FingerprintType::k64Bit)).back();
  // The search goes in steps of 1 MiB from the end of the file.
  for (size_t behind = (1 << 20) - 30; behind < (1 << 20) + 30; behind += 3) {
    Buffer bytes = Beheaded(frame);
    bytes.resize(frame.size() + behind);
    const auto found = FindIn(bytes);
    ASSERT_TRUE(IsOk(found)) << behind;
    EXPECT_EQ(found->end, std::ssize(frame));
  }
}

TEST_F(TrailerSearchTest, WhatAnotherBlosc2ChangedIsNoStateOfCairns) {
  Buffer frame = History(1, SealedWith(FingerprintType::k64Bit)).back();
  DropFingerprint(frame);
  // The layers are still there, and stale as soon as the frame's size is another.
  frame.insert(frame.begin() + PartsOf(frame).index_begin, std::byte{0});
  EXPECT_TRUE(IsDamage(FindIn(Beheaded(frame)), "no trailer"));
}

TEST_F(TrailerSearchTest, FilesWithoutATrailerHaveNone) {
  EXPECT_TRUE(IsDamage(FindIn({}), "no trailer"));
  EXPECT_TRUE(IsDamage(FindIn(Noise(22, 1)), "no trailer"));
  EXPECT_TRUE(IsDamage(FindIn(Noise(100'000, 1)), "no trailer"));
  EXPECT_TRUE(IsDamage(FindIn(Buffer(3 << 20)), "no trailer"));
  CreateOptions plain = SealedWith(FingerprintType::kNone);
  EXPECT_TRUE(IsDamage(FindIn(Beheaded(History(1, plain).back())), "no trailer"));
}

TEST_F(TrailerSearchTest, ThousandsOfTailsThatShareOneHeadAreNotReadOneByOne) {
  // Each claims all bytes from the one head on, which holds no layers.
  Buffer bytes =
      ToVector(AsBytes(std::string_view("\x94\x01\x93\xCD\x00\x06\xDE\x00\x00\xDC\x00\x00", 12)));
  while (bytes.size() < 8 << 20) {
    Buffer tail(23);
    tail[0] = std::byte{0xCE};
    StoreBe(tail.data() + 1, static_cast<uint32_t>(bytes.size() + tail.size()));
    tail[5] = std::byte{0xD8};
    AddTo(bytes, tail);
  }
  storage::MemoryFile file;
  ASSERT_EQ(file.WriteAt(0, bytes), absl::OkStatus());
  int64_t trailers = 0;
  ScanBudget budget(std::ssize(bytes), frame::kMaxTrailerOverlaps);
  ASSERT_EQ(frame::ForEachTrailer(file, budget, [&](const auto&) { ++trailers; }),
            absl::OkStatus());
  EXPECT_GE(trailers, frame::kMaxTrailerOverlaps);
  EXPECT_LE(trailers, 2 * frame::kMaxTrailerOverlaps);
}

}  // namespace
}  // namespace cairn::test
