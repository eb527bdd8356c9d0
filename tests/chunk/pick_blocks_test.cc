// A chunk of picked blocks must decode to the bytes that the stored chunk does, whatever that is.
#include "engine/chunk/pick_blocks.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "engine/chunk/decoder.h"
#include "engine/chunk/hole.h"
#include "tests/chunk/test_chunks.h"
#include "tests/support/search.h"
#include "tests/support/status.h"

namespace cairn::chunk {
namespace {

constexpr int32_t kPickedBlock = 4096;

struct PickCase {
  std::string name;
  CompressionOptions options;
};

std::vector<PickCase> PickCases() {
  const std::vector<std::vector<FilterStage>> pipelines = {
      {},
      {{Filter::kShuffle}},
      {{Filter::kBitShuffle}},
      {{Filter::kShuffle}, {Filter::kByteDelta}}};
  std::vector<PickCase> cases;
  for (const Codec codec : kCodecs) {
    for (const auto& filters : pipelines) {
      for (const SplitMode split : {SplitMode::kAlways, SplitMode::kNever}) {
        for (const bool use_dict : {false, true}) {
          PickCase one;
          one.options.codec = codec;
          one.options.typesize = 4;
          one.options.blocksize = kPickedBlock;
          one.options.filters = filters;
          one.options.split_mode = split;
          one.options.use_dict = use_dict && (codec == Codec::kLz4 || codec == Codec::kZstd);
          if (use_dict && !one.options.use_dict) continue;
          one.name = absl::StrCat("codec ", static_cast<int>(codec), " filters ", filters.size(),
                                  " split ", static_cast<int>(split), " dict ", use_dict);
          cases.push_back(one);
        }
      }
    }
  }
  return cases;
}

// Seven blocks, of which the last is short.
std::vector<std::byte> PickContent() { return Payload(Kind::kMixed, 6 * kPickedBlock + 1000, 4); }

Bytes PlainBlock(Bytes content, size_t block) {
  const size_t begin = block * kPickedBlock;
  return content.subspan(begin, std::min<size_t>(kPickedBlock, content.size() - begin));
}

std::vector<ByteRange> RangesOfBlocks(uint64_t blocks) {
  std::vector<ByteRange> ranges;
  for (int64_t i = 0; i < 7; ++i) {
    if ((blocks >> i & 1) != 0)
      ranges.push_back({.begin = i * kPickedBlock + 8, .end = i * kPickedBlock + 9});
  }
  std::ranges::reverse(ranges);  // any order will do
  return ranges;
}

// Decodes one block alone.
absl::StatusOr<std::vector<std::byte>> DecodeOneBlock(Bytes chunk, size_t block) {
  WorkspacePool pool;
  DecodeContext context;
  context.pool = &pool;
  Decoder decoder;
  if (absl::Status status = decoder.Open(chunk, context); !status.ok()) return status;
  const auto begin = static_cast<int64_t>(block) * decoder.header().blocksize;
  const int64_t size = std::min<int64_t>(decoder.header().blocksize, decoder.nbytes() - begin);
  std::vector<std::byte> out(static_cast<size_t>(size), std::byte{0xEE});
  if (absl::Status status = decoder.DecodeRange(begin, out); !status.ok()) return status;
  return out;
}

TEST(PickBlocksTest, PickedBlocksDecodeAndOthersAreZeros) {
  const std::vector<std::byte> content = PickContent();
  for (const PickCase& one : PickCases()) {
    SCOPED_TRACE(one.name);
    const std::vector<std::byte> whole = Compress(content, one.options);
    ASSERT_EQ(InspectChunk(whole)->nblocks, 7);
    for (uint64_t blocks = 0; blocks < 128; blocks += 3) {
      const auto picked = PickBlocks(whole, RangesOfBlocks(blocks));
      ASSERT_TRUE(picked.has_value()) << blocks;
      ASSERT_LE(picked->size(), whole.size() + 16);
      const std::vector<std::byte> decoded = Decoded(*picked);
      ASSERT_EQ(decoded.size(), content.size());
      for (size_t i = 0; i < 7; ++i) {
        const Bytes block = PlainBlock(decoded, i);
        if ((blocks >> i & 1) != 0) {
          ASSERT_TRUE(std::ranges::equal(block, PlainBlock(content, i))) << blocks << " " << i;
          ASSERT_EQ(*DecodeOneBlock(*picked, i), *DecodeOneBlock(whole, i));
        }
      }
    }
  }
}

// Noise keeps blocks apart, so that no piece has bytes of a block that is not needed.
std::vector<std::byte> NoiseChunk(bool split = false) {
  CompressionOptions options;
  options.typesize = 4;
  options.blocksize = 4 * kPickedBlock;
  options.filters = {};
  options.split_mode = split ? SplitMode::kAlways : SplitMode::kNever;
  std::vector<std::byte> content = Payload(Kind::kRandom, 28 * kPickedBlock, 4);
  for (size_t i = 0; i < content.size(); i += 4 * kPickedBlock) {
    std::fill_n(content.begin() + static_cast<ptrdiff_t>(i), 4096, std::byte{7});
  }
  return Compress(content, options);
}

TEST(PickBlocksTest, OtherBlocksAreLeftOut) {
  for (const bool split : {false, true}) {
    const std::vector<std::byte> whole = NoiseChunk(split);
    const std::vector<std::byte> content = Decoded(whole);
    constexpr size_t kSize = 4 * kPickedBlock;
    const ByteRange needed = {.begin = 2 * kSize + 5, .end = 2 * kSize + 6};
    const auto picked = PickBlocks(whole, {&needed, 1});
    ASSERT_TRUE(picked.has_value());
    EXPECT_LT(picked->size(), kSize);
    std::vector<std::byte> expected(content.size());
    std::copy_n(content.begin() + 2 * kSize, kSize, expected.begin() + 2 * kSize);
    EXPECT_EQ(Decoded(*picked), expected);
    EXPECT_LT(PickBlocks(whole, {})->size(), 200U);
    EXPECT_EQ(Decoded(*PickBlocks(whole, {})), std::vector<std::byte>(content.size()));
    const ByteRange outside[] = {{.begin = -9, .end = 0},
                                 {.begin = 5, .end = 5},
                                 {.begin = std::ssize(content), .end = INT64_MAX}};
    EXPECT_EQ(PickBlocks(whole, outside), PickBlocks(whole, {}));
    const ByteRange all = {.begin = INT64_MIN, .end = INT64_MAX};
    EXPECT_EQ(Decoded(*PickBlocks(whole, {&all, 1})), content);
  }
}

TEST(PickBlocksTest, PiecesAreReadOnceAndNeighboursTogether) {
  const std::vector<std::byte> whole = NoiseChunk();
  const Header header = *ParseHeader(whole);
  constexpr int64_t kSize = 4 * kPickedBlock;
  const ByteRange needed[] = {{.begin = 5 * kSize, .end = 7 * kSize},
                              {.begin = 0, .end = kSize + 1}};
  const auto picked = PickedBlocks::Make(whole, header, needed);
  ASSERT_TRUE(picked.has_value());
  ASSERT_EQ(picked->pieces().size(), 2U);
  EXPECT_EQ(picked->pieces()[0].begin, PickedBlocks::HeadSize(header));
  EXPECT_EQ(picked->pieces()[1].end, header.cbytes);
}

TEST(PickBlocksTest, BlocksMayBeStoredInAnyOrderAndOverlap) {
  const std::vector<std::byte> content = PickContent();
  CompressionOptions options;
  options.typesize = 4;
  options.blocksize = kPickedBlock;
  const std::vector<std::byte> whole = Compress(content, options);
  std::vector<std::byte> other = whole;
  // The blocks swap their contents.
  for (int i = 0; i < 6; ++i) {
    SetInt32(other, static_cast<size_t>(kHeaderSize + 4 * i),
             Int32At(whole, static_cast<size_t>(kHeaderSize + 4 * (5 - i))));
  }
  for (uint64_t blocks = 1; blocks < 64; ++blocks) {
    const auto picked = PickBlocks(other, RangesOfBlocks(blocks));
    ASSERT_TRUE(picked.has_value());
    for (size_t i = 0; i < 6; ++i) {
      if ((blocks >> i & 1) == 0) continue;
      const auto block = DecodeOneBlock(*picked, i);
      ASSERT_TRUE(block.ok() && std::ranges::equal(*block, PlainBlock(content, 5 - i)));
    }
  }
  // All blocks share one place.
  for (int i = 0; i < 6; ++i) {
    SetInt32(other, static_cast<size_t>(kHeaderSize + 4 * i), Int32At(whole, kHeaderSize));
  }
  const auto picked = PickBlocks(other, RangesOfBlocks(63));
  ASSERT_TRUE(picked.has_value());
  EXPECT_LT(picked->size(), whole.size());
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_TRUE(std::ranges::equal(*DecodeOneBlock(*picked, i), PlainBlock(content, 0)));
  }
}

TEST(PickBlocksTest, WhatCannotBePickedIsRefused) {
  const std::vector<std::byte> content = PickContent();
  CompressionOptions options;
  options.typesize = 4;
  options.blocksize = kPickedBlock;
  const std::vector<ByteRange> needed = RangesOfBlocks(2);
  EXPECT_TRUE(PickBlocks(Compress(content, options), needed).has_value());
  CompressionOptions other = options;
  other.filters = {{Filter::kDelta}, {Filter::kShuffle}};
  EXPECT_EQ(PickBlocks(Compress(content, other), needed), std::nullopt);
  other = options;
  other.format = ChunkFormat::kBlosc1;
  EXPECT_EQ(PickBlocks(Compress(content, other), needed), std::nullopt);
  other = options;
  other.clevel = 0;
  EXPECT_EQ(PickBlocks(Compress(content, other), needed), std::nullopt);
  EXPECT_EQ(PickBlocks(*MakeSpecialChunk(SpecialValue::kZeros, 4096, {}, options), needed),
            std::nullopt);
  const Bytes blocks[] = {PlainBlock(content, 0), PlainBlock(content, 1)};
  EXPECT_EQ(PickBlocks(CompressBlocks(blocks, options), needed), std::nullopt);
  std::vector<std::byte> lazy = Compress(content, options);
  lazy[0x1F] |= std::byte{0x08};
  EXPECT_EQ(PickBlocks(lazy, needed), std::nullopt);
  std::vector<std::byte> hole = Compress(content, options);
  hole[0x16] = static_cast<std::byte>(kHoleCodec);
  EXPECT_EQ(PickBlocks(hole, needed), std::nullopt);
  EXPECT_EQ(PickBlocks(Bytes(hole).first(20), needed), std::nullopt);
}

TEST(PickBlocksTest, WrongPositionsOfNeededBlocksAreRefused) {
  const std::vector<std::byte> content = PickContent();
  CompressionOptions options;
  options.typesize = 4;
  options.blocksize = kPickedBlock;
  const std::vector<std::byte> whole = Compress(content, options);
  for (const int64_t start : {int64_t{0}, int64_t{kHeaderSize + 4 * 7 - 1}, std::ssize(whole),
                              int64_t{INT32_MAX}, int64_t{-1}, int64_t{INT32_MIN}}) {
    std::vector<std::byte> damaged = whole;
    SetInt32(damaged, kHeaderSize + 4, start);
    EXPECT_EQ(PickBlocks(damaged, RangesOfBlocks(2)), std::nullopt) << start;
    // Blocks that nobody needs may be anywhere.
    const auto picked = PickBlocks(damaged, RangesOfBlocks(4));
    ASSERT_TRUE(picked.has_value());
    EXPECT_TRUE(std::ranges::equal(*DecodeOneBlock(*picked, 2), PlainBlock(content, 2)));
  }
  // A block that another one begins in is not complete.
  std::vector<std::byte> damaged = whole;
  SetInt32(damaged, kHeaderSize + 4 * 3, Int32At(whole, kHeaderSize + 4) + 3);
  EXPECT_EQ(PickBlocks(damaged, RangesOfBlocks(2)), std::nullopt);
}

// Checks that each picked block of a damaged chunk decodes as the block of that chunk does.
void ExpectSameAnswers(Bytes damaged, uint64_t blocks, int& count) {
  const auto picked = PickBlocks(damaged, RangesOfBlocks(blocks));
  if (!picked.has_value()) return;
  ++count;
  // A vector of its own, so that AddressSanitizer sees reads after it.
  ASSERT_EQ(ParseHeader(*picked)->cbytes, std::ssize(*picked));
  const Header header = *ParseHeader(damaged);
  if (header.nbytes > 1 << 20) return;
  for (const ByteRange& range : RangesOfBlocks(blocks)) {
    if (range.begin >= header.nbytes) continue;
    const auto block = static_cast<size_t>(range.begin / header.blocksize);
    const auto expected = DecodeOneBlock(damaged, block);
    const auto got = DecodeOneBlock(*picked, block);
    ASSERT_EQ(got.status().code(), expected.status().code());
    if (expected.ok()) {
      ASSERT_EQ(*got, *expected);
    }
  }
}

TEST(PickBlocksTest, DamagedChunksGiveTheSameAnswers) {
  std::mt19937 random(5);
  int count = 0;
  const std::vector<std::byte> content = PickContent();
  const std::vector<PickCase> cases = PickCases();
  for (size_t n = 0; n < cases.size(); n += 3) {
    SCOPED_TRACE(cases[n].name);
    const std::vector<std::byte> whole = Compress(content, cases[n].options);
    for (int i = 0; i < 300; ++i) {
      std::vector<std::byte> damaged = whole;
      for (int edits = 0; edits < 3; ++edits) {
        // Most damage is in header, positions and sizes of streams.
        const size_t word = random() % 4 == 0   ? random() % (damaged.size() - 3)
                            : random() % 4 == 0 ? random() % kHeaderSize
                                                : kHeaderSize + random() % 40;
        const int64_t value = random() % 8 == 0 ? static_cast<int64_t>(random()) - INT32_MAX
                                                : static_cast<int64_t>(random() % whole.size());
        SetInt32(damaged, word, value);
      }
      ASSERT_NO_FATAL_FAILURE(ExpectSameAnswers(damaged, random() % 128, count));
    }
    for (size_t bit = 0; bit < 64 * 8; bit += test::kTryEach) {
      std::vector<std::byte> damaged = whole;
      damaged[bit / 8] ^= std::byte{1} << (bit % 8);
      ASSERT_NO_FATAL_FAILURE(ExpectSameAnswers(damaged, bit % 128, count));
    }
  }
  EXPECT_GT(count, 1000);
}

}  // namespace
}  // namespace cairn::chunk
