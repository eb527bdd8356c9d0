// The other forms of chunks: Blosc1, variable blocks, special values.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "tests/chunk/test_chunks.h"
#include "tests/support/hex.h"
#include "tests/support/status.h"

namespace cairn::chunk {
namespace {

CompressionOptions Blosc1Options(Codec codec, int32_t typesize) {
  CompressionOptions options;
  options.codec = codec;
  options.typesize = typesize;
  options.format = ChunkFormat::kBlosc1;
  return options;
}

TEST(Blosc1ChunkTest, HasAShortHeaderOfVersionTwo) {
  const std::vector<std::byte> chunk =
      Compress(Payload(Kind::kCounter, 4000), Blosc1Options(Codec::kLz4, 4));
  EXPECT_EQ(ToHex(Bytes(chunk).first(12)), ToHex(Hex("02 01 21 04 a0 0f 00 00 a0 0f 00 00")));
  EXPECT_EQ(Int32At(chunk, 12), static_cast<int32_t>(chunk.size()));
  EXPECT_EQ(Int32At(chunk, 16), 20) << "the first block follows the positions";
}

TEST(Blosc1ChunkTest, RoundTripsOverCodecsFiltersTypesizesAndSizes) {
  for (const Codec codec : kCodecs) {
    for (const Filter filter : {Filter::kNone, Filter::kShuffle, Filter::kBitShuffle}) {
      for (const int32_t typesize : {1, 2, 4, 7, 8, 16, 17, 255, 256}) {
        for (const size_t size : {0, 1, 127, 128, 129, 4096, 5003}) {
          CompressionOptions options = Blosc1Options(codec, typesize);
          options.filters = {{filter}};
          options.blocksize = 2048;
          const std::vector<std::byte> payload = Payload(Kind::kMixed, size, typesize);
          const std::vector<std::byte> chunk = Compress(payload, options);
          EXPECT_LE(chunk.size(), size + 16);
          EXPECT_EQ(chunk[0], std::byte{2});
          EXPECT_FALSE(InspectChunk(chunk)->extended);
          EXPECT_EQ(Decoded(chunk), payload);
        }
      }
    }
  }
}

TEST(Blosc1ChunkTest, CopiesBelow128Bytes) {
  const CompressionOptions options = Blosc1Options(Codec::kLz4, 4);
  EXPECT_TRUE(InspectChunk(Compress(Payload(Kind::kZeros, 127), options))->memcpyed);
  EXPECT_FALSE(InspectChunk(Compress(Payload(Kind::kZeros, 128), options))->memcpyed);
}

TEST(Blosc1ChunkTest, HasNoRunsAndNoSpecialValues) {
  CompressionOptions options = Blosc1Options(Codec::kLz4, 1);
  options.split_mode = SplitMode::kNever;
  for (const std::byte value : {std::byte{0}, std::byte{9}}) {
    const std::vector<std::byte> payload(1000, value);
    const std::vector<std::byte> chunk = Compress(payload, options);
    EXPECT_EQ(InspectChunk(chunk)->special, SpecialValue::kNone);
    EXPECT_EQ(InspectChunk(chunk)->nblocks, 1);
    EXPECT_GT(Int32At(chunk, 20), 0) << "a codec's stream";
  }
}

TEST(Blosc1ChunkTest, SplitsOnlyWhereBlosc1Does) {
  const auto splits = [](int32_t typesize, size_t size) {
    CompressionOptions options = Blosc1Options(Codec::kLz4, typesize);
    options.split_mode = SplitMode::kAlways;
    return InspectChunk(Compress(Payload(Kind::kZeros, size), options))->split;
  };
  EXPECT_TRUE(splits(4, 512));
  EXPECT_FALSE(splits(4, 508)) << "127 bytes a stream";
  EXPECT_TRUE(splits(16, 4096));
  EXPECT_FALSE(splits(17, 17 * 1024));
}

std::vector<Bytes> Views(const std::vector<std::vector<std::byte>>& blocks) {
  return {blocks.begin(), blocks.end()};
}

std::vector<std::byte> Joined(const std::vector<std::vector<std::byte>>& blocks) {
  std::vector<std::byte> all;
  for (const auto& block : blocks) all.insert(all.end(), block.begin(), block.end());
  return all;
}

// "hello", 100 times 'x' and 40 zeros.
std::vector<std::vector<std::byte>> ThreeBlocks() {
  return {ToVector(AsBytes("hello")), std::vector<std::byte>(100, std::byte{'x'}),
          std::vector<std::byte>(40)};
}

TEST(VlBlocksTest, ReadsTheExampleOfTheFormat) {
  const std::vector<std::byte> chunk =
      Hex("06 01 15 01  91 00 00 00  03 00 00 00  71 00 00 00"
          "00 00 00 00 00 01  00 00  00 00 00 00 00 00  01 00"
          "2c 00 00 00  35 00 00 00  45 00 00 00"
          "05 00 00 00  68 65 6c 6c 6f"
          "64 00 00 00  23 78 78 78 78 e0 54 03 02 78 78 78"
          "28 00 00 00  0000000000000000000000000000000000000000"
          "0000000000000000000000000000000000000000");
  const auto decoded = Decompress(chunk);
  ASSERT_TRUE(IsOk(decoded));
  EXPECT_EQ(*decoded, Joined(ThreeBlocks()));
  EXPECT_EQ(*BlockSizes(chunk), (std::vector<int32_t>{5, 100, 40}));
}

TEST(VlBlocksTest, WritesTheHeaderOfTheExample) {
  CompressionOptions options;
  options.codec = Codec::kBloscLz;
  const auto blocks = ThreeBlocks();
  const std::vector<std::byte> chunk = CompressBlocks(Views(blocks), options);
  EXPECT_EQ(ToHex(Bytes(chunk).first(12)), ToHex(Hex("06 01 15 01 91 00 00 00 03 00 00 00")));
  EXPECT_EQ(ToHex(Bytes(chunk).subspan(16, 20)),
            ToHex(Hex("00 00 00 00 00 01 00 00 00 00 00 00 00 00 01 00 2c 00 00 00")));
  EXPECT_EQ(ToHex(Bytes(chunk).subspan(44, 9)), ToHex(Hex("05 00 00 00 68 65 6c 6c 6f")));
  EXPECT_TRUE(KeepsWriterRules(chunk));
  EXPECT_EQ(Decoded(chunk), Joined(blocks));
}

TEST(VlBlocksTest, RoundTripOverCodecsFiltersAndDictionaries) {
  std::vector<std::vector<std::byte>> blocks;
  for (const size_t size : {1, 2, 3000, 31, 5, 4000, 700, 2500, 33, 1}) {
    blocks.push_back(Payload(size % 2 == 0 ? Kind::kCounter : Kind::kMixed, size, 4));
  }
  for (const Codec codec : kCodecs) {
    for (const bool use_dict : {false, true}) {
      for (const bool delta : {false, true}) {
        CompressionOptions options;
        options.codec = codec;
        options.typesize = 4;
        options.use_dict = use_dict && codec != Codec::kBloscLz && codec != Codec::kZlib;
        if (delta) options.filters.insert(options.filters.begin(), {Filter::kDelta});
        const std::vector<std::byte> chunk = CompressBlocks(Views(blocks), options);
        EXPECT_EQ(InspectChunk(chunk)->has_dict, options.use_dict);
        EXPECT_EQ(InspectChunk(chunk)->blocksize, 0);
        EXPECT_EQ(InspectChunk(chunk)->nblocks, 10);
        EXPECT_EQ(Decoded(chunk), Joined(blocks));
        for (size_t i = 0; i + 1 < blocks.size(); ++i) {
          EXPECT_LT(Int32At(chunk, 32 + 4 * i), Int32At(chunk, 36 + 4 * i));
        }
      }
    }
  }
}

TEST(VlBlocksTest, RefusesWhatIsNoListOfBlocks) {
  std::vector<std::byte> dst(1000);
  const std::vector<std::byte> block = Payload(Kind::kCounter, 10);
  const auto compress = [&](std::vector<Bytes> blocks, const CompressionOptions& options) {
    return CompressVlBlocks(blocks, options, dst);
  };
  const auto misuse = absl::StatusCode::kInvalidArgument;
  EXPECT_TRUE(Fails(compress({}, {}), misuse, "expected 1 to"));
  EXPECT_TRUE(Fails(compress({block, Bytes()}, {}), misuse, "empty"));
  EXPECT_TRUE(Fails(compress({block}, Blosc1Options(Codec::kLz4, 1)), misuse, "Blosc1"));
  const Bytes huge(block.data(), 2000000000);
  EXPECT_TRUE(Fails(compress({huge, huge}, {}), misuse, "at most 2147483615"));
}

TEST(VlBlocksTest, SayWhenTheBufferIsTooSmall) {
  const auto blocks = ThreeBlocks();
  const std::vector<std::byte> expected = CompressBlocks(Views(blocks), {});
  for (size_t room = 0; room <= expected.size(); ++room) {
    std::vector<std::byte> dst(room);
    const auto size = CompressVlBlocks(Views(blocks), {}, dst);
    if (room < expected.size()) {
      EXPECT_TRUE(Fails(size, absl::StatusCode::kResourceExhausted, "3 variable blocks")) << room;
    } else {
      EXPECT_EQ(dst, expected);
    }
  }
}

CompressionOptions ItemsOf(int32_t typesize) {
  CompressionOptions options;
  options.typesize = typesize;
  return options;
}

TEST(SpecialChunkTest, MeansWhatTheConstructorsOfTheFormatMean) {
  const std::vector<std::byte> zeros =
      *MakeSpecialChunk(SpecialValue::kZeros, 4000, {}, ItemsOf(4));
  EXPECT_EQ(ToHex(Bytes(zeros).subspan(3, 13)), ToHex(Hex("04 a00f0000 a00f0000 20000000")));
  EXPECT_EQ(zeros[0x1F], std::byte{0x10});
  const auto value = Hex("00 00 c0 3f");
  const std::vector<std::byte> repeated =
      *MakeSpecialChunk(SpecialValue::kRepeat, 4000, value, ItemsOf(4));
  EXPECT_EQ(ToHex(Bytes(repeated).subspan(3, 13)), ToHex(Hex("04 a00f0000 a00f0000 24000000")));
  EXPECT_EQ(ToHex(Bytes(repeated).subspan(0x1F)), ToHex(Hex("30 00 00 c0 3f")));
  EXPECT_EQ((*MakeSpecialChunk(SpecialValue::kNans, 8, {}, ItemsOf(8)))[0x1F], std::byte{0x20});
  EXPECT_EQ((*MakeSpecialChunk(SpecialValue::kUninit, 8, {}, ItemsOf(8)))[0x1F], std::byte{0x40});
}

TEST(SpecialChunkTest, DecodesTheConstructorsOfTheFormat) {
  const auto zeros =
      Hex("05 01 05 04  a0 0f 00 00  a0 0f 00 00  20 00 00 00"
          "00 00 00 00 00 00  00 00  00 00 00 00 00 00  00 10");
  EXPECT_EQ(Decoded(zeros), std::vector<std::byte>(4000));
  const auto repeated =
      Hex("05 01 05 04  08 00 00 00  08 00 00 00  24 00 00 00"
          "00 00 00 00 00 00  00 00  00 00 00 00 00 00  00 30 00 00 c0 3f");
  EXPECT_EQ(ToHex(Decoded(repeated)), "0000c03f0000c03f");
}

TEST(SpecialChunkTest, RepeatsValuesOfAnyWidthInCompleteBlocks) {
  for (const size_t width : {1, 3, 7, 255, 256, 1000}) {
    const std::vector<std::byte> value = Payload(Kind::kRandom, width);
    const auto nbytes = static_cast<int32_t>(width * 100);
    for (const int32_t blocksize : {0, 500}) {
      CompressionOptions options = ItemsOf(static_cast<int32_t>(width));
      options.blocksize = blocksize;
      const auto chunk = MakeSpecialChunk(SpecialValue::kRepeat, nbytes, value, options);
      ASSERT_TRUE(IsOk(chunk));
      EXPECT_EQ(Int32At(*chunk, 8) % static_cast<int32_t>(width), 0);
      const std::vector<std::byte> decoded = Decoded(*chunk);
      for (size_t i = 0; i < decoded.size(); i += width) {
        ASSERT_TRUE(
            std::equal(value.begin(), value.end(), decoded.begin() + static_cast<ptrdiff_t>(i)));
      }
    }
  }
}

TEST(SpecialChunkTest, HasCompleteNansInEachBlock) {
  CompressionOptions options = ItemsOf(8);
  for (const int32_t blocksize : {0, 3, 8, 20}) {
    options.blocksize = blocksize;
    const auto chunk = MakeSpecialChunk(SpecialValue::kNans, 800, {}, options);
    EXPECT_EQ(Int32At(*chunk, 8) % 8, 0) << blocksize;
  }
}

TEST(SpecialChunkTest, CanBeReadWheneverItCanBeMade) {
  const auto value = Hex("01 02 03 04");
  for (const SpecialValue special :
       {SpecialValue::kZeros, SpecialValue::kNans, SpecialValue::kRepeat, SpecialValue::kUninit}) {
    for (const int32_t nbytes : {0, 1, 2, 4, 6, 8, 1000, kMaxChunkBytes, kMaxChunkBytes - 3}) {
      const Bytes content = special == SpecialValue::kRepeat ? Bytes(value) : Bytes();
      const auto chunk = MakeSpecialChunk(special, nbytes, content, ItemsOf(4));
      if (!chunk.ok()) {
        EXPECT_TRUE(absl::IsInvalidArgument(chunk.status()));
        continue;
      }
      const auto info = InspectChunk(*chunk);
      ASSERT_TRUE(IsOk(info));
      EXPECT_EQ(info->nbytes, nbytes);
      EXPECT_EQ(info->special, special);
    }
  }
}

TEST(SpecialChunkTest, RefusesWhatCannotBe) {
  const auto make = [](SpecialValue special, int32_t nbytes, std::string_view value,
                       int32_t typesize) {
    return MakeSpecialChunk(special, nbytes, Hex(value), ItemsOf(typesize));
  };
  const auto misuse = absl::StatusCode::kInvalidArgument;
  EXPECT_TRUE(Fails(make(SpecialValue::kZeros, -1, "", 1), misuse, "nbytes"));
  EXPECT_TRUE(Fails(make(SpecialValue::kZeros, INT32_MAX, "", 1), misuse, "nbytes"));
  EXPECT_TRUE(Fails(make(SpecialValue::kNone, 8, "", 1), misuse, "a value goes with"));
  EXPECT_TRUE(Fails(make(SpecialValue::kZeros, 8, "00", 1), misuse, "a value goes with"));
  EXPECT_TRUE(Fails(make(SpecialValue::kRepeat, 8, "", 1), misuse, "a value goes with"));
  EXPECT_TRUE(Fails(make(SpecialValue::kRepeat, 8, "010203", 1), misuse, "cannot fill 8"));
  EXPECT_TRUE(Fails(make(SpecialValue::kNans, 8, "", 2), misuse, "typesize of 4 or 8, got 2"));
  EXPECT_TRUE(Fails(make(SpecialValue::kNans, 9, "", 4), misuse, "size 9"));
  EXPECT_TRUE(Fails(make(SpecialValue::kUninit, 9, "", 4), misuse, "size 9"));
}

}  // namespace
}  // namespace cairn::chunk
