#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/format/legacy/packed.h"
#include "tests/format/legacy_frames.h"
#include "tests/support/hex.h"
#include "tests/support/status.h"

namespace cairn::format::legacy {
namespace {

// Chunks of 20, 20, 24 and 20 bytes, and two entries.
constexpr int64_t kTable = 96 + 20 + 20 + 24 + 20;
constexpr int64_t kSize = kTable + 16;

absl::StatusOr<PackedHeader> ParsePackedWith(size_t at, std::string_view hex) {
  std::vector<std::byte> frame = test::PackedFrame();
  CopyBytes(Hex(hex), MutableBytes(frame).subspan(at));
  return ParsePackedHeader(frame, static_cast<int64_t>(frame.size()));
}

TEST(PackedHeaderTest, ReadsEveryField) {
  const auto header = ParsePackedWith(0, "");
  ASSERT_TRUE(IsOk(header));
  EXPECT_EQ(header->size, kSize);
  EXPECT_EQ(header->codec, Codec::kLz4);
  EXPECT_EQ(header->clevel, 5);
  EXPECT_EQ(header->filters[0], Filter::kShuffle);
  EXPECT_EQ(header->filters[1], Filter::kNone);
  EXPECT_FALSE(header->has_delta());
  EXPECT_EQ(header->nchunks, 2);
  EXPECT_EQ(header->unpacked, 96 + 4 + 4 + 8 + 4 + 16);
  EXPECT_EQ(header->filters_chunk, 0);
  EXPECT_EQ(header->codec_chunk, 0);
  EXPECT_EQ(header->metadata_chunk, 96);
  EXPECT_EQ(header->userdata_chunk, 116);
  EXPECT_EQ(header->table, kTable);
}

TEST(PackedHeaderTest, ReadsFiltersFromTheLowBitsOn) {
  const auto header = ParsePackedWith(8, "13 10");
  ASSERT_TRUE(IsOk(header));
  EXPECT_TRUE(header->has_delta());
  EXPECT_EQ(header->filters[1], Filter::kBitShuffle);
  EXPECT_EQ(header->filters[2], Filter::kNone);
  EXPECT_EQ(header->filters[4], Filter::kShuffle);
}

TEST(PackedHeaderTest, RefusesWhatNoSuperChunkHas) {
  for (const size_t at : {0, 1, 2, 3})
    EXPECT_TRUE(IsDamage(ParsePackedWith(at, "01"), "packed")) << at;
  EXPECT_TRUE(IsDamage(ParsePackedWith(4, "06 00"), "compressor"));
  EXPECT_TRUE(IsDamage(ParsePackedWith(6, "0a 00"), "clevel"));
  EXPECT_TRUE(IsDamage(ParsePackedWith(8, "04 00"), "filters"));
  EXPECT_TRUE(IsDamage(ParsePackedWith(8, "00 40"), "filters"));
  EXPECT_TRUE(IsDamage(ParsePackedWith(8, "00 80"), "the last bit is set"));
  EXPECT_TRUE(IsDamage(ParsePackedWith(16, "03"), "table"));
  EXPECT_TRUE(IsDamage(ParsePackedWith(16, "ff ff ff ff ff ff ff ff"), "nchunks"));
  EXPECT_TRUE(IsDamage(ParsePackedWith(16, "00 00 00 00 00 00 00 20"), "nchunks"));
  EXPECT_TRUE(IsDamage(ParsePackedWith(32, "00"), "cbytes"));
  EXPECT_TRUE(IsDamage(ParsePackedWith(72, "00"), "table"));
}

TEST(PackedHeaderTest, RefusesChunksOutOfOrder) {
  EXPECT_TRUE(IsDamage(ParsePackedWith(40, "70"), "a chunk at byte 112 behind byte 96"));
  EXPECT_TRUE(IsDamage(ParsePackedWith(56, "74"), "a chunk at byte 116 behind byte 96"));
  EXPECT_TRUE(IsDamage(ParsePackedWith(64, "60"), "a chunk at byte 96 behind byte 96"));
  EXPECT_TRUE(IsDamage(ParsePackedWith(64, "b4 00"), "a chunk at byte 180, behind the end 180"));
  EXPECT_TRUE(
      IsDamage(ParsePackedWith(64, "00 00 00 00 00 00 00 80"), "a chunk at byte -9223372036"));
}

TEST(PackedHeaderTest, RefusesEveryTruncation) {
  const std::vector<std::byte> frame = test::PackedFrame();
  for (size_t size = 0; size < frame.size(); ++size) {
    EXPECT_TRUE(IsDamage(ParsePackedHeader(Bytes(frame).first(size), static_cast<int64_t>(size)),
                         "packed"));
  }
}

TEST(PackedChunkTest, IsOfVersionTwoWithTheShortHeader) {
  const auto parse = [](std::string_view hex) { return ParsePackedChunk(Hex(hex), 100); };
  const auto good = parse("02 01 02 04  04 00 00 00  04 00 00 00  14 00 00 00");
  ASSERT_TRUE(IsOk(good));
  EXPECT_EQ(good->nbytes, 4);
  EXPECT_EQ(good->cbytes, 20);
  EXPECT_TRUE(IsDamage(parse("04 01 02 04  04 00 00 00  04 00 00 00  14 00 00 00"), "version"));
  EXPECT_TRUE(IsDamage(parse("02 02 02 04  04 00 00 00  04 00 00 00  14 00 00 00"), "version"));
  EXPECT_TRUE(IsDamage(parse("02 01 02 04  04 00 00 00  04 00 00 00  65 00 00 00"), "cbytes"));
  EXPECT_TRUE(IsDamage(parse("02 01 07 04  04 00 00 00  04 00 00 00  24 00 00 00"
                             "00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  01 02 03 04"),
                       "chunk header"));
}

}  // namespace
}  // namespace cairn::format::legacy
