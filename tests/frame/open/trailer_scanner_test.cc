// The newest trailer is found by itself, and no other bytes pass for one.
#include "engine/frame/open/trailer_scanner.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/storage/memory_file_system.h"
#include "tests/support/bytes.h"
#include "tests/support/files.h"
#include "tests/support/frame_parts.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

using frame::FindNewestTrailer;
using frame::FoundTrailer;

constexpr int32_t kSearchedChunk = 1000;

std::shared_ptr<File> InMemory(Bytes bytes) {
  auto file = std::make_shared<storage::MemoryFile>();
  EXPECT_TRUE(IsOk(file->WriteAt(0, bytes)));
  return file;
}

absl::StatusOr<FoundTrailer> FindIn(Bytes bytes) {
  return FindNewestTrailer(frame::FrameFile::OfFile(InMemory(bytes), 0, false));
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

class TrailerScannerTest : public testing::Test {
 protected:
  // A frame as it is after each of `commits` writers.
  std::vector<Buffer> History(int commits, const CreateOptions& options) {
    std::vector<Buffer> states;
    for (int i = 0; i < commits; ++i) {
      EXPECT_TRUE(IsOk(
          i == 0 ? WriteFrame(path_, options, MakeNoise(2 * kSearchedChunk, 1), {{"note", "value"}})
                 : AppendTo(path_, MakeNoise(kSearchedChunk, static_cast<uint64_t>(i) + 1))));
      states.push_back(FileBytes(path_));
    }
    return states;
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
};

class TrailerOfEveryTypeTest : public TrailerScannerTest,
                               public testing::WithParamInterface<FingerprintType> {};

TEST_P(TrailerOfEveryTypeTest, HasTheHeaderOfTheNewestCheckpoint) {
  ASSERT_TRUE(IsOk(Frame::Create(path_, SealedWith(GetParam()))));
  for (uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(IsOk(AppendTo(path_, MakeNoise(kSearchedChunk, i))));
  const Buffer frame = FileBytes(path_);
  const auto found = FindIn(Beheaded(frame));
  ASSERT_TRUE(IsOk(found));
  EXPECT_EQ(found->seal.header_copy, HeaderOf(frame));
  EXPECT_EQ(found->end, PartsOf(frame).frame_size);
  EXPECT_EQ(found->seal.type, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Types, TrailerOfEveryTypeTest,
                         testing::Values(FingerprintType::kNone, FingerprintType::k32Bit,
                                         FingerprintType::k64Bit, FingerprintType::k128Bit));

TEST_F(TrailerScannerTest, HeaderThatIsFoundOpensTheFrame) {
  Buffer frame = History(2, SealedWith(FingerprintType::k64Bit)).back();
  frame = Beheaded(frame, HeaderOf(frame).size());
  EXPECT_FALSE(Frame::OpenBuffer(frame).ok());
  const auto found = FindIn(frame);
  ASSERT_TRUE(IsOk(found));
  CopyBytes(found->seal.header_copy, frame);
  const auto opened = Frame::OpenBuffer(Bytes(frame).first(static_cast<size_t>(found->end)));
  ASSERT_TRUE(IsOk(opened));
  Buffer data = MakeNoise(2 * kSearchedChunk, 1);
  AddTo(data, MakeNoise(kSearchedChunk, 2));
  EXPECT_EQ(ContentOf(opened->snapshot()), data);
}

TEST_F(TrailerScannerTest, OlderCheckpointStandsInForADamagedOne) {
  const std::vector<Buffer> states = History(3, SealedWith(FingerprintType::k64Bit));
  const FrameParts parts = PartsOf(states[2]);
  const int64_t places[] = {parts.index_begin + 40, parts.trailer_begin, parts.trailer_begin + 30,
                            parts.frame_size - 1, parts.frame_size - 20};
  for (const int64_t place : places) {
    Buffer damaged = Beheaded(states[2]);
    damaged[static_cast<size_t>(place)] ^= std::byte{1};
    const auto found = FindIn(damaged);
    ASSERT_TRUE(IsOk(found)) << place;
    EXPECT_EQ(found->seal.header_copy, HeaderOf(states[1])) << place;
  }
}

TEST_F(TrailerScannerTest, FrameThatIsUserDataIsNotTheFileAroundIt) {
  const Buffer inner = History(4, SealedWith(FingerprintType::k64Bit)).back();
  const std::string outer_path = dir_.Path("outer");
  ASSERT_TRUE(IsOk(WriteFrame(outer_path, PlainCopies(static_cast<int32_t>(inner.size())), inner)));
  Buffer outer = FileBytes(outer_path);
  const auto found = FindIn(Beheaded(outer));
  ASSERT_TRUE(IsOk(found));
  EXPECT_EQ(found->seal.header_copy, HeaderOf(outer));
  outer.back() ^= std::byte{1};
  EXPECT_TRUE(IsDamage(FindIn(Beheaded(outer)), "no trailer"));
}

TEST_F(TrailerScannerTest, EmptyFrameThatIsUserDataIsNotTheFileAroundItEither) {
  ASSERT_TRUE(IsOk(Frame::Create(path_, SealedWith(FingerprintType::k64Bit))));
  const Buffer inner = FileBytes(path_);
  EXPECT_TRUE(IsOk(FindIn(inner)));
  Buffer bytes = MakeNoise(kSearchedChunk, 1);
  AddTo(bytes, inner);
  EXPECT_TRUE(IsDamage(FindIn(bytes), "no trailer"));
}

TEST_F(TrailerScannerTest, BytesAfterTheFrameDoNotMatterWhereverItEnds) {
  const Buffer frame = History(1, SealedWith(FingerprintType::k64Bit)).back();
  // The search goes in steps of 1 MiB from the end of the file.
  for (size_t more = (1 << 20) - 30; more < (1 << 20) + 30; more += 3) {
    Buffer bytes = Beheaded(frame);
    bytes.resize(frame.size() + more);
    const auto found = FindIn(bytes);
    ASSERT_TRUE(IsOk(found)) << more;
    EXPECT_EQ(found->end, std::ssize(frame));
  }
}

TEST_F(TrailerScannerTest, WhatAnotherBlosc2ChangedIsNoStateOfCairns) {
  Buffer frame = History(1, SealedWith(FingerprintType::k64Bit)).back();
  DropFingerprint(frame);
  // The layers are still there, and stale as soon as the frame's size is another.
  frame.insert(frame.begin() + PartsOf(frame).index_begin, std::byte{0});
  EXPECT_TRUE(IsDamage(FindIn(Beheaded(frame)), "no trailer"));
}

TEST_F(TrailerScannerTest, FilesWithoutATrailerHaveNone) {
  EXPECT_TRUE(IsDamage(FindIn({}), "no trailer"));
  EXPECT_TRUE(IsDamage(FindIn(MakeNoise(22, 1)), "no trailer"));
  EXPECT_TRUE(IsDamage(FindIn(MakeNoise(100'000, 1)), "no trailer"));
  EXPECT_TRUE(IsDamage(FindIn(Buffer(3 << 20)), "no trailer"));
  CreateOptions plain = SealedWith(FingerprintType::kNone);
  EXPECT_TRUE(IsDamage(FindIn(Beheaded(History(1, plain).back())), "no trailer"));
}

TEST_F(TrailerScannerTest, ThousandsOfTrailersThatShareOneHeadAreNotReadOneByOne) {
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
  const frame::FrameView file(InMemory(bytes), 0, std::ssize(bytes));
  int64_t trailers = 0;
  ScanBudget budget(std::ssize(bytes), frame::kMaxTrailerOverlaps);
  ASSERT_TRUE(IsOk(frame::ForEachTrailer(file, budget, [&](const auto&) { ++trailers; })));
  EXPECT_GE(trailers, frame::kMaxTrailerOverlaps);
  EXPECT_LE(trailers, 2 * frame::kMaxTrailerOverlaps);
}

}  // namespace
}  // namespace cairn::test
