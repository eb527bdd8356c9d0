// Packed super-chunks of 2015, and the reference that their deltas are against.
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "tests/format/legacy_frames.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/hex.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

TEST(PackedLoaderTest, AddsTheReferenceToEveryPart) {
  const Buffer bytes = PackedDeltaFrame();
  const absl::StatusOr<Frame> frame = Frame::OpenBuffer(bytes);
  ASSERT_TRUE(IsOk(frame));
  const Buffer content = Hex(kLegacyContent);
  for (size_t begin = 0; begin < content.size(); ++begin) {
    for (size_t size = 0; begin + size <= content.size(); ++size) {
      Buffer part(size);
      ASSERT_TRUE(IsOk(frame->snapshot().ReadBytes(static_cast<int64_t>(begin), part)));
      ASSERT_EQ(ToHex(part), ToHex(Bytes(content).subspan(begin, size))) << begin;
    }
  }
  const int64_t items[] = {2, 0, 1, 0};
  Buffer gathered(16);
  ASSERT_TRUE(IsOk(frame->snapshot().ReadItemsAt(items, gathered)));
  EXPECT_EQ(ToHex(gathered), "090a0b0c010203040506070801020304");
}

TEST(PackedLoaderTest, ReferenceWrapsAround) {
  const Buffer bytes = MakePacked({.data = {Hex("ff 80 01 00")}, .reference = Hex("02 80 01")});
  EXPECT_EQ(ToHex(ContentOf(Frame::OpenBuffer(bytes)->snapshot())), "01000200");
}

TEST(PackedLoaderTest, NeedsAReferenceForDelta) {
  Buffer bytes = PackedFrame();
  bytes[8] = std::byte{3};
  EXPECT_TRUE(IsDamage(Frame::OpenBuffer(bytes), "DELTA without a reference"));
}

TEST(PackedLoaderTest, KnowsChunksOfDifferentSizes) {
  const std::pair<std::vector<Buffer>, std::optional<int32_t>> cases[] = {
      {{Hex("01020304"), Hex("0506070801020304"), Hex("05")}, std::nullopt},
      {{Hex("0102030405"), Hex("060708"), Hex("0102030405")}, std::nullopt},
      {{Hex("0102030405"), Hex("060708"), Hex("010203")}, std::nullopt},
      {{Hex("01020304"), Hex("05060708"), Hex("0102")}, 4},
      {{Hex("01020304"), Hex("05060708")}, 4},
      {{Hex("010203")}, 3},
      {{}, std::nullopt},
  };
  for (const auto& [data, chunksize] : cases) {
    const Buffer bytes = MakePacked({.data = data});
    const absl::StatusOr<Frame> frame = Frame::OpenBuffer(bytes);
    ASSERT_TRUE(IsOk(frame));
    EXPECT_EQ(frame->snapshot().info().chunksize, chunksize);
    EXPECT_EQ(frame->snapshot().info().nchunks, std::ssize(data));
    Buffer content;
    for (const Buffer& chunk : data) AddTo(content, chunk);
    ExpectHolds(frame->snapshot(), content);
  }
}

TEST(PackedLoaderTest, CountsOnlyDataAsStored) {
  const Buffer bytes = PackedFrame();
  const absl::StatusOr<Frame> frame = Frame::OpenBuffer(bytes);
  ASSERT_TRUE(IsOk(frame));
  EXPECT_EQ(frame->snapshot().info().cbytes, 24 + 20);
  EXPECT_EQ(frame->snapshot().info().dead_bytes, 0);
}

TEST(PackedLoaderTest, NamesTheChunkThatIsWrong) {
  const Buffer good = PackedFrame();
  const auto with = [&](size_t at, std::string_view hex) {
    Buffer bytes = good;
    CopyBytes(Hex(hex), MutableBytes(bytes).subspan(at));
    return Frame::OpenBuffer(bytes).status();
  };
  EXPECT_TRUE(IsDamage(with(96, "04"), "packed super-chunk: metadata: at byte 96"));
  EXPECT_TRUE(IsDamage(with(136, "04"), "packed super-chunk: chunk 0: at byte 136"));
  EXPECT_TRUE(IsDamage(with(180, "87"), "chunk 0: expected at byte 136, got 135"));
  EXPECT_TRUE(IsDamage(with(188, "a1"), "chunk 1: expected at byte 160, got 161"));
  EXPECT_TRUE(IsDamage(with(24, "00"), "nbytes: expected 132"));
}

TEST(PackedLoaderTest, KeepsToTheLimitOfChunks) {
  const Buffer bytes = PackedFrame();
  OpenOptions options;
  options.limits.max_nchunks = 1;
  EXPECT_TRUE(Fails(Frame::OpenBuffer(bytes, options), absl::StatusCode::kResourceExhausted,
                    "2 chunks pass the limit of 1"));
}

}  // namespace
}  // namespace cairn::test
