// Tests the meaning of older versions, and errors of other encoders.
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/chunk/decoder.h"
#include "tests/chunk/test_chunks.h"
#include "tests/support/hex.h"
#include "tests/support/status.h"

namespace cairn::chunk {
namespace {

constexpr std::byte kUnsplit{0x10};

TEST(DecoderVersionsTest, RepairsABlockSizeThatWasNotRounded) {
  CompressionOptions options;
  options.typesize = 4;
  options.blocksize = 500;
  options.filters = {{Filter::kDelta}, {Filter::kShuffle}};
  const std::vector<std::byte> payload = Payload(Kind::kMixed, 2001, 4);
  std::vector<std::byte> chunk = Compress(payload, options);
  SetInt32(chunk, 8, 503);
  EXPECT_EQ(Decoded(chunk), payload);
  EXPECT_EQ(InspectChunk(chunk)->blocksize, 500);
}

TEST(DecoderVersionsTest, ReadsAMemcpyedChunkWithADictionaryBit) {
  CompressionOptions options;
  options.clevel = 0;
  const std::vector<std::byte> payload = Payload(Kind::kRandom, 1000);
  std::vector<std::byte> chunk = Compress(payload, options);
  chunk[0x1F] |= std::byte{0x01};
  EXPECT_EQ(Decoded(chunk), payload);
  EXPECT_FALSE(InspectChunk(chunk)->has_dict);
}

TEST(DecoderVersionsTest, NeverSplitsPreReleasesWithADictionary) {
  CompressionOptions options;
  options.typesize = 4;
  options.blocksize = 512;
  options.use_dict = true;
  options.split_mode = SplitMode::kNever;
  const std::vector<std::byte> payload = Payload(Kind::kCounter, 8192, 4);
  std::vector<std::byte> chunk = Compress(payload, options);
  ASSERT_TRUE(InspectChunk(chunk)->has_dict);
  chunk[2] &= ~kUnsplit;
  EXPECT_FALSE(Decompress(chunk).ok());
  chunk[0] = std::byte{4};
  EXPECT_EQ(Decoded(chunk), payload);
}

TEST(DecoderVersionsTest, IgnoresTheGarbageSlotOfTheAlpha) {
  CompressionOptions options;
  options.filters = {};
  const std::vector<std::byte> payload = Payload(Kind::kMixed, 3000);
  std::vector<std::byte> chunk = Compress(payload, options);
  chunk[0] = std::byte{3};
  chunk[0x15] = std::byte{200};
  chunk[0x1D] = std::byte{77};
  EXPECT_EQ(Decoded(chunk), payload);
}

// Chunks of Blosc1 that were never split, without the bit that says so.
TEST(DecoderVersionsTest, SplitsOldChunksByTheRuleOfTheirTime) {
  for (const auto& [typesize, size, split] :
       {std::tuple(32, 8192, false), std::tuple(17, 17 * 512, false), std::tuple(4, 508, false),
        std::tuple(4, 512, true), std::tuple(16, 16 * 128, true)}) {
    CompressionOptions options;
    options.typesize = typesize;
    options.format = ChunkFormat::kBlosc1;
    options.split_mode = SplitMode::kNever;
    const std::vector<std::byte> payload =
        Payload(Kind::kCounter, static_cast<size_t>(size), typesize);
    std::vector<std::byte> chunk = Compress(payload, options);
    ASSERT_FALSE(InspectChunk(chunk)->memcpyed);
    chunk[2] &= ~kUnsplit;
    for (const std::byte version : {std::byte{1}, std::byte{2}}) {
      chunk[0] = version;
      const auto decoded = Decompress(chunk);
      EXPECT_EQ(decoded.ok() && *decoded == payload, !split) << typesize << " " << size;
    }
  }
}

// 9 items of one byte: no whole number of eights.
TEST(DecoderVersionsTest, KnowsBothRemainderRulesOfBitshuffle) {
  const auto stream = Hex("09 00 00 00  aa aa cc cc f0 f0 0f 0f 11");
  std::vector<std::byte> modern =
      Hex("05 01 15 01  09 00 00 00  09 00 00 00  31 00 00 00"
          "00 00 00 00 00 02  00 00  00 00 00 00 00 00  00 00  24 00 00 00");
  modern.insert(modern.end(), stream.begin(), stream.end());
  std::vector<std::byte> old =
      Hex("02 01 14 01  09 00 00 00  09 00 00 00  21 00 00 00  14 00 00 00");
  old.insert(old.end(), stream.begin(), stream.end());
  const std::string verbatim = "aaaaccccf0f00f0f11";
  for (const std::byte version : {std::byte{1}, std::byte{2}}) {
    old[0] = version;
    EXPECT_EQ(ToHex(Decoded(old)), verbatim);
  }
  const auto transposed = Decompress(modern);
  ASSERT_TRUE(IsOk(transposed));
  EXPECT_NE(ToHex(*transposed), verbatim);
  EXPECT_EQ(transposed->back(), std::byte{0x11});

  std::vector<std::byte> alpha = modern;
  alpha[0] = std::byte{3};
  std::swap(alpha[0x14], alpha[0x15]);  // the last slot is garbage there
  EXPECT_EQ(ToHex(Decoded(alpha)), verbatim);

  WorkspacePool pool;
  DecodeContext context;
  context.pool = &pool;
  context.whole_block_bitshuffle = true;
  std::vector<std::byte> out(9);
  Decoder decoder;
  ASSERT_TRUE(IsOk(decoder.Open(modern, context)));
  ASSERT_TRUE(IsOk(decoder.Decode(out)));
  EXPECT_EQ(ToHex(out), verbatim) << "a frame from before 2.0.0.beta.5";
}

TEST(DecoderVersionsTest, ReadsMeasurementsWithoutFilters) {
  // This is a single stream: its record of 16 bytes, stored raw.
  std::vector<std::byte> chunk =
      Hex("05 01 15 04  10 00 00 00  10 00 00 00  38 00 00 00"
          "00 00 00 00 00 01  00 00  00 00 00 00 00 00  00 80  24 00 00 00"
          "10 00 00 00  00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f");
  EXPECT_EQ(ToHex(Decoded(chunk)), "000102030405060708090a0b0c0d0e0f");
}

TEST(DecoderVersionsTest, NamesWhatThisBuildLacks) {
  const std::vector<std::byte> chunk =
      Hex("05 01 15 04  10 00 00 00  10 00 00 00  28 00 00 00"
          "00 00 00 00 00 00  00 00  00 00 00 00 00 00  00 00  24 00 00 00  00 00 00 00");
  const auto with = [&](size_t at, int value) {
    std::vector<std::byte> copy = chunk;
    copy[at] = static_cast<std::byte>(value);
    return copy;
  };
  ASSERT_TRUE(IsOk(Decompress(chunk)));
  const auto lacks = absl::StatusCode::kUnimplemented;
  EXPECT_TRUE(Fails(Decompress(with(0x02, 0x55)), lacks, "codec format 2"));
  EXPECT_TRUE(Fails(Decompress(with(0x02, 0xB5)), lacks, "codec format 5"));
  EXPECT_TRUE(Fails(Decompress(with(0x02, 0xF5)), lacks, "codec format 7"));
  std::vector<std::byte> user = with(0x02, 0xD5);
  for (const int id : {31, 36, 38, 160, 255}) {
    user[0x16] = static_cast<std::byte>(id);
    EXPECT_TRUE(Fails(Decompress(user), lacks, "codec id " + std::to_string(id)));
  }
  for (const int id : {5, 31, 37, 159, 160, 255}) {
    EXPECT_TRUE(Fails(Decompress(with(0x13, id)), lacks, "filter id " + std::to_string(id)));
  }
  EXPECT_TRUE(Fails(Decompress(with(0x13, 32)), lacks, "filter id 32 (ndcell) outside"));
  std::vector<std::byte> truncating = with(0x13, 4);
  EXPECT_TRUE(IsDamage(Decompress(truncating), "chunk header: filter id 4 (trunc_prec)"))
      << "a precision of 0 is damage, not misuse";
}

TEST(DecoderVersionsTest, ChecksTheDictionarySection) {
  CompressionOptions options;
  options.typesize = 4;
  options.use_dict = true;
  options.blocksize = 4096;
  const std::vector<std::byte> payload = Payload(Kind::kCounter, 8192, 4);
  const std::vector<std::byte> chunk = Compress(payload, options);
  ASSERT_TRUE(InspectChunk(chunk)->has_dict);
  const size_t at = 32 + 4 * 2;
  for (const int64_t size : {int64_t{0}, int64_t{-1}, int64_t{32769}, int64_t{INT32_MIN}}) {
    std::vector<std::byte> damaged = chunk;
    SetInt32(damaged, at, size);
    EXPECT_TRUE(IsDamage(Decompress(damaged), "chunk dictionary: size")) << size;
  }
  std::vector<std::byte> damaged = chunk;
  SetInt32(damaged, at, 32768);
  EXPECT_TRUE(IsDamage(Decompress(damaged), "chunk dictionary: content"));
  SetInt32(damaged, at, Int32At(chunk, at) + 1);
  EXPECT_TRUE(IsDamage(Decompress(damaged), "chunk blocks: position of block 0"));
}

TEST(DecoderVersionsTest, ChecksVariableBlocks) {
  const auto a = Payload(Kind::kRandom, 10);
  const Bytes blocks[] = {a, a, a};
  const std::vector<std::byte> chunk = CompressBlocks(blocks, {});
  ASSERT_EQ(chunk.size(), 32u + 3 * 4 + 3 * 14);
  const auto with = [&](size_t at, int64_t value) {
    std::vector<std::byte> copy = chunk;
    SetInt32(copy, at, value);
    return Decompress(copy);
  };
  EXPECT_TRUE(IsDamage(with(32, 43), "position of block 0")) << "inside the positions";
  EXPECT_TRUE(IsDamage(with(36, 44), "position of block 1")) << "not above the one before";
  EXPECT_TRUE(IsDamage(with(40, 86), "position of block 2")) << "after the chunk";
  EXPECT_TRUE(IsDamage(with(40, 84), "chunk block: size")) << "no room for its size";
  EXPECT_TRUE(IsDamage(with(36, 48), "size of block 1")) << "a size that is payload";
  EXPECT_TRUE(IsDamage(with(44, 0), "size of block 0"));
  EXPECT_TRUE(IsDamage(with(44, -1), "size of block 0"));
  EXPECT_TRUE(IsDamage(with(44, 31), "size of block 0"));
  EXPECT_TRUE(IsDamage(with(44, 9), "add up to 29 of 30"));
  EXPECT_TRUE(IsDamage(with(4, 31), "add up to 30 of 31"));
  std::vector<std::byte> hollow = chunk;
  SetInt32(hollow, 36, 48);
  SetInt32(hollow, 48, 10);
  EXPECT_TRUE(IsDamage(Decompress(hollow), "stores nothing"));
}

}  // namespace
}  // namespace cairn::chunk
