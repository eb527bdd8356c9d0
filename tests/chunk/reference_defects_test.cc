// Tests that errors of C-Blosc2 in chunks are avoided; see docs/errata.md.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "tests/chunk/test_chunks.h"
#include "tests/support/hex.h"
#include "tests/support/status.h"

namespace cairn::chunk {
namespace {

CompressionOptions SmallBlocks(int32_t typesize, std::vector<FilterStage> filters) {
  CompressionOptions options;
  options.typesize = typesize;
  options.blocksize = 480;
  options.filters = std::move(filters);
  return options;
}

// Decodes into memory full of other bytes, which show where nothing was written.
std::vector<std::byte> DecodedOverNoise(Bytes chunk) {
  std::vector<std::byte> decoded(static_cast<size_t>(InspectChunk(chunk)->nbytes), std::byte{0xA5});
  const absl::Status status = DecompressChunk(chunk, decoded);
  EXPECT_TRUE(IsOk(status));
  return decoded;
}

// The third filter of C-Blosc2 overwrites the input, which DELTA needs for all later blocks.
TEST(ChunkReferenceDefectsTest, DeltaAmongManyFiltersLosesNothing) {
  const std::vector<std::vector<FilterStage>> pipelines = {
      {{Filter::kDelta}, {Filter::kShuffle}, {Filter::kByteDelta, 4}},
      {{Filter::kShuffle}, {Filter::kDelta}, {Filter::kBitShuffle}, {Filter::kShuffle}},
      {{Filter::kDelta}, {Filter::kIntTrunc, 32}, {Filter::kShuffle}},
  };
  for (const auto& filters : pipelines) {
    SCOPED_TRACE(testing::Message() << filters.size() << " filters");
    const std::vector<std::byte> payload = Payload(Kind::kCounter, 9600, 4);
    const std::vector<std::byte> source = payload;
    const std::vector<std::byte> chunk = Compress(source, SmallBlocks(4, filters));
    ASSERT_FALSE(InspectChunk(chunk)->memcpyed);
    ASSERT_GT(InspectChunk(chunk)->nblocks, 2);
    EXPECT_EQ(source, payload);
    EXPECT_EQ(Decoded(chunk), payload);
  }
}

TEST(ChunkReferenceDefectsTest, IncompleteUnitsAtTheEndOfDeltaBlocksAreCopied) {
  for (const int32_t typesize : {2, 4, 8, 24}) {
    for (const size_t tail : {size_t{1}, static_cast<size_t>(typesize) - 1}) {
      SCOPED_TRACE(testing::Message() << "typesize " << typesize << ", tail of " << tail);
      const std::vector<std::byte> payload = Payload(Kind::kCounter, 4800 + tail, typesize);
      const std::vector<std::byte> chunk =
          Compress(payload, SmallBlocks(typesize, {{Filter::kDelta}, {Filter::kShuffle}}));
      ASSERT_FALSE(InspectChunk(chunk)->memcpyed);
      EXPECT_EQ(DecodedOverNoise(chunk), payload);
    }
  }
}

TEST(ChunkReferenceDefectsTest, IncompleteItemsAtTheEndOfTruncatedBlocksAreCopied) {
  for (const Filter filter : {Filter::kTruncPrec, Filter::kIntTrunc}) {
    SCOPED_TRACE(static_cast<int>(filter));
    const std::vector<std::byte> payload = Payload(Kind::kCounter, 4803, 4);
    const std::vector<std::byte> chunk =
        Compress(payload, SmallBlocks(4, {{filter, 20}, {Filter::kShuffle}}));
    ASSERT_FALSE(InspectChunk(chunk)->memcpyed);
    const std::vector<std::byte> decoded = DecodedOverNoise(chunk);
    EXPECT_TRUE(std::equal(payload.end() - 3, payload.end(), decoded.end() - 3));
  }
}

TEST(ChunkReferenceDefectsTest, ItemsOfDeltaChunksAreReadInEveryBlock) {
  const std::vector<std::byte> payload = Payload(Kind::kCounter, 4800, 4);
  const std::vector<std::byte> chunk =
      Compress(payload, SmallBlocks(4, {{Filter::kDelta}, {Filter::kShuffle}}));
  for (int64_t start = 0; start + 7 <= 1200; start += 59) {
    std::vector<std::byte> items(28);
    ASSERT_TRUE(IsOk(DecompressItems(chunk, start, items)));
    EXPECT_EQ(items, ToVector(Bytes(payload).subspan(static_cast<size_t>(4 * start), 28))) << start;
  }
}

// 16 items of two bytes and one byte more, stored raw.
TEST(ChunkReferenceDefectsTest, BytesAfterTheItemsOfAnOldBitshuffledBlockAreCopied) {
  const std::vector<std::byte> chunk =
      Hex("02 01 14 02  21 00 00 00  21 00 00 00  39 00 00 00  14 00 00 00  21 00 00 00"
          "aa aa cc cc f0 f0 00 ff 00 00 00 00 00 00 00 00"
          "80 80 40 40 20 20 10 10 08 08 04 04 02 02 01 01  77");
  EXPECT_EQ(ToHex(DecodedOverNoise(chunk)),
            "00800140022003100408050406020701088009400a200b100c080d040e020f0177");
}

}  // namespace
}  // namespace cairn::chunk
