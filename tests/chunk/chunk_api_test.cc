#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/chunk.h"
#include "engine/base/bytes.h"
#include "tests/chunk/test_chunks.h"
#include "tests/support/hex.h"
#include "tests/support/reverse_executor.h"
#include "tests/support/status.h"
#include "tests/support/unowned.h"

namespace cairn {
namespace {

using chunk::Compress;
using chunk::Decoded;
using chunk::Decompress;
using chunk::Kind;
using chunk::Payload;

TEST(ChunkApiTest, InspectReportsWhatTheHeaderSays) {
  CompressionOptions options;
  options.codec = Codec::kZstd;
  options.typesize = 4;
  options.blocksize = 1024;
  options.filters = {{Filter::kDelta}, {Filter::kShuffle, 4}};
  const std::vector<std::byte> bytes = Compress(Payload(Kind::kCounter, 5000), options);
  const auto info = InspectChunk(bytes);
  ASSERT_TRUE(IsOk(info));
  EXPECT_EQ(info->version, 5);
  EXPECT_TRUE(info->extended);
  EXPECT_EQ(info->typesize, 4);
  EXPECT_EQ(info->nbytes, 5000);
  EXPECT_EQ(info->cbytes, static_cast<int32_t>(bytes.size()));
  EXPECT_EQ(info->blocksize, 1024);
  EXPECT_EQ(info->nblocks, 5);
  EXPECT_EQ(info->codec, Codec::kZstd);
  EXPECT_EQ(info->filters[4], (FilterStage{Filter::kDelta, 0}));
  EXPECT_EQ(info->filters[5], (FilterStage{Filter::kShuffle, 4}));
  EXPECT_EQ(info->special, SpecialValue::kNone);
  EXPECT_FALSE(info->memcpyed);
  EXPECT_TRUE(info->split);
  EXPECT_FALSE(info->vlblocks);
  EXPECT_FALSE(info->has_dict);
}

TEST(ChunkApiTest, InspectReadsTheHeaderOnly) {
  std::vector<std::byte> bytes = Compress(Payload(Kind::kCounter, 5000), {});
  for (size_t i = 32; i < bytes.size(); ++i) bytes[i] = std::byte{0xFF};
  EXPECT_TRUE(IsOk(InspectChunk(bytes)));
}

TEST(ChunkApiTest, InspectNeedsNoCodecWithoutBlocks) {
  std::vector<std::byte> bytes = *MakeSpecialChunk(SpecialValue::kZeros, 64, {}, {});
  bytes[2] = std::byte{0xF5};
  EXPECT_TRUE(IsOk(InspectChunk(bytes)));
  EXPECT_EQ(Decoded(bytes), std::vector<std::byte>(64));
  bytes = Compress(Payload(Kind::kMixed, 5000), {});
  bytes[2] = std::byte{0xF5};
  EXPECT_TRUE(Fails(InspectChunk(bytes), absl::StatusCode::kUnimplemented, "codec format 7"));
}

TEST(ChunkApiTest, CompressorThatIsKeptWritesTheSameChunks) {
  for (const Codec codec :
       {Codec::kBloscLz, Codec::kLz4, Codec::kLz4Hc, Codec::kZlib, Codec::kZstd}) {
    CompressionOptions options;
    options.codec = codec;
    options.typesize = 8;
    const auto compressor = ChunkCompressor::Make(options);
    ASSERT_TRUE(IsOk(compressor));
    const ChunkDecompressor decompressor;
    for (const Kind kind : {Kind::kMixed, Kind::kCounter, Kind::kMixed}) {
      for (const size_t size : {0, 100, 4096, 4099, 100000}) {
        const std::vector<std::byte> payload = Payload(kind, size);
        std::vector<std::byte> bytes(MaxCompressedSize(size));
        const auto stored = compressor->Compress(payload, bytes);
        ASSERT_TRUE(IsOk(stored));
        bytes.resize(*stored);
        ASSERT_EQ(bytes, Compress(payload, options)) << static_cast<int>(codec) << " " << size;
        std::vector<std::byte> decoded(size);
        ASSERT_TRUE(IsOk(decompressor.Decompress(bytes, decoded)));
        ASSERT_EQ(decoded, payload);
        std::vector<std::byte> item(size / 8 > 0 ? 8 : 0);
        ASSERT_TRUE(IsOk(decompressor.DecompressItems(bytes, 0, item)));
        ASSERT_EQ(item, ToVector(Bytes(payload).first(item.size())));
      }
    }
  }
}

TEST(ChunkApiTest, CompressorIsMadeWithRightOptionsOnly) {
  CompressionOptions options;
  options.clevel = 10;
  EXPECT_TRUE(Fails(ChunkCompressor::Make(options), absl::StatusCode::kInvalidArgument, "clevel"));
}

TEST(ChunkApiTest, OneCompressorServesManyThreads) {
  const auto compressor = ChunkCompressor::Make({.typesize = 4});
  ASSERT_TRUE(IsOk(compressor));
  const ChunkDecompressor decompressor;
  std::vector<std::thread> threads;
  for (size_t number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] {
      const std::vector<std::byte> payload = Payload(Kind::kMixed, 5000 + number);
      std::vector<std::byte> bytes(MaxCompressedSize(payload.size()));
      std::vector<std::byte> decoded(payload.size());
      for (int round = 0; round < 200; ++round) {
        const auto size = compressor->Compress(payload, bytes);
        ASSERT_TRUE(IsOk(size));
        ASSERT_TRUE(IsOk(decompressor.Decompress(Bytes(bytes).first(*size), decoded)));
        ASSERT_EQ(decoded, payload);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(ChunkApiTest, ItemsAreCountedInTypesizes) {
  CompressionOptions options;
  options.typesize = 4;
  options.blocksize = 64;
  const std::vector<std::byte> payload = Payload(Kind::kCounter, 1002, 4);
  const std::vector<std::byte> bytes = Compress(payload, options);
  std::vector<std::byte> items(8);
  for (int64_t start = 0; start <= 248; ++start) {
    ASSERT_TRUE(IsOk(DecompressItems(bytes, start, items)));
    ASSERT_EQ(items, ToVector(Bytes(payload).subspan(static_cast<size_t>(4 * start), 8)));
  }
  EXPECT_TRUE(IsOk(DecompressItems(bytes, 250, {}))) << "nothing, at the end";
}

TEST(ChunkApiTest, ItemsOutOfRangeOrInPartsAreRefused) {
  CompressionOptions options;
  options.typesize = 4;
  const std::vector<std::byte> bytes = Compress(Payload(Kind::kCounter, 1000, 4), options);
  std::vector<std::byte> items(8);
  for (const int64_t start : {int64_t{-1}, int64_t{249}, int64_t{250}, int64_t{1000}, int64_t{1001},
                              int64_t{INT64_MAX}, int64_t{INT64_MIN}}) {
    EXPECT_TRUE(Fails(DecompressItems(bytes, start, items), absl::StatusCode::kOutOfRange, "chunk"))
        << start;
  }
  EXPECT_TRUE(Fails(DecompressItems(bytes, 0, MutableBytes(items).first(7)),
                    absl::StatusCode::kInvalidArgument, "does not hold complete items of 4"));
}

TEST(ChunkApiTest, BlockSizesAddUpToThePayload) {
  CompressionOptions options;
  options.blocksize = 1000;
  EXPECT_EQ(*BlockSizes(Compress(Payload(Kind::kMixed, 2500), options)),
            (std::vector<int32_t>{1000, 1000, 500}));
  EXPECT_EQ(*BlockSizes(*MakeSpecialChunk(SpecialValue::kZeros, 64, {}, {})),
            std::vector<int32_t>());
  EXPECT_TRUE(IsDamage(BlockSizes({}), "chunk header"));
}

TEST(ChunkApiTest, CodedColumnsAreThoseOfTheFirstCodedBlock) {
  CompressionOptions options = {.codec = Codec::kBitpack,
                                .typesize = 12,
                                .filters = {},
                                .columns = {{.kind = 2, .size = 4}, {.kind = 0, .count = 8}}};
  const std::vector<std::byte> items = Payload(Kind::kCounter, 60'000, 12);
  const std::vector<CodedColumn> expected = {
      {.column = {.kind = 2, .size = 4}, .codec = Codec::kBitpack},
      {.offset = 4, .column = {.kind = 0, .count = 8}, .codec = Codec::kLz4}};
  EXPECT_EQ(*CodedColumns(Compress(items, options)), expected);
  EXPECT_TRUE(CodedColumns(Compress(items, {.codec = Codec::kZstd, .typesize = 4}))->empty());
  EXPECT_TRUE(CodedColumns(*MakeSpecialChunk(SpecialValue::kZeros, 1200, {}, options))->empty());
  EXPECT_TRUE(IsDamage(CodedColumns({}), "chunk header"));
}

TEST(ChunkApiTest, AChunkChoosesOnceForAllItsBlocks) {
  CompressionOptions options = {.codec = Codec::kAuto, .typesize = 4, .filters = {}};
  // The first blocks would choose another coding than the last ones.
  std::vector<std::byte> items = Payload(Kind::kCounter, 400'000, 4);
  const std::vector<std::byte> random = Payload(Kind::kRandom, 400'000, 4);
  for (size_t i = 200'000; i < items.size(); ++i) items[i] = i % 4 < 2 ? random[i] : std::byte{};
  options.blocksize = 400'000;
  const std::vector<CodedColumn> whole = *CodedColumns(Compress(items, options));
  options.blocksize = 20'000;
  const std::vector<std::byte> chunk = Compress(items, options);
  EXPECT_EQ(*CodedColumns(chunk), whole);
  EXPECT_EQ(*Decompress(chunk), items);
  ReverseExecutor executor(3);
  options.executor = test::Unowned(&executor);
  EXPECT_EQ(Compress(items, options), chunk);
}

TEST(ChunkApiTest, TheParameterSaysHowAllColumnsAreCoded) {
  std::vector<std::byte> items = Payload(Kind::kRandom, 400'000, 4);
  for (size_t i = 0; i < items.size(); ++i) {
    if (i % 4 >= 2) items[i] = std::byte{};
  }
  const CompressionOptions numbers = {
      .codec = Codec::kAuto, .typesize = 4, .filters = {}, .codec_meta = 1};
  EXPECT_EQ(InspectChunk(Compress(items, numbers))->codec_meta, 1 + 8);
  const CompressionOptions bytes = {.codec = Codec::kAuto, .typesize = 16, .filters = {}};
  EXPECT_EQ(InspectChunk(Compress(items, bytes))->codec_meta, 0);
}

TEST(ChunkApiTest, DecompressWantsABufferOfTheRightSize) {
  const std::vector<std::byte> bytes = Compress(Payload(Kind::kMixed, 1000), {});
  std::vector<std::byte> dst(1001);
  EXPECT_TRUE(Fails(DecompressChunk(bytes, dst), absl::StatusCode::kInvalidArgument, "1000"));
}

// Stores the complement of every other byte, so that it halves what it is good for.
class EveryOther final : public CodecPlugin {
 public:
  absl::StatusOr<size_t> Compress(Bytes src, MutableBytes dst,
                                  const PluginCall& call) const override {
    EXPECT_EQ(call.typesize, 2);
    EXPECT_EQ(call.clevel, 7);
    EXPECT_EQ(call.meta, 99);
    if (dst.size() < src.size() / 2) return 0;
    for (size_t i = 0; i < src.size() / 2; ++i) dst[i] = ~src[2 * i];
    return src.size() / 2;
  }
  absl::Status Decompress(Bytes src, MutableBytes dst, const PluginCall& call) const override {
    EXPECT_EQ(call.meta, 99);
    if (src.size() * 2 != dst.size()) return absl::DataLossError("every other: odd size");
    for (size_t i = 0; i < dst.size(); ++i) dst[i] = ~src[i / 2];
    return absl::OkStatus();
  }
};

class AddMeta final : public FilterPlugin {
 public:
  absl::Status Forward(Bytes src, MutableBytes dst, const PluginCall& call) const override {
    return Add(src, dst, call.meta);
  }
  absl::Status Backward(Bytes src, MutableBytes dst, const PluginCall& call) const override {
    return Add(src, dst, -call.meta);
  }

 private:
  static absl::Status Add(Bytes src, MutableBytes dst, int value) {
    for (size_t i = 0; i < src.size(); ++i) {
      dst[i] = static_cast<std::byte>(std::to_integer<int>(src[i]) + value);
    }
    return absl::OkStatus();
  }
};

// Pairs of equal bytes.
std::vector<std::byte> Pairs(size_t size) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i / 2);
  return bytes;
}

class PluginTest : public testing::Test {
 protected:
  PluginTest() {
    for (const uint8_t id : {uint8_t{160}, uint8_t{255}}) {
      EXPECT_TRUE(IsOk(registry_.AddCodec(id, std::make_unique<EveryOther>())));
      EXPECT_TRUE(IsOk(registry_.AddFilter(id, std::make_unique<AddMeta>())));
    }
    options_.typesize = 2;
    options_.clevel = 7;
    options_.blocksize = 512;
    options_.codec_meta = 99;
    options_.registry = test::Unowned(&registry_);
  }

  Registry registry_;
  CompressionOptions options_;
};

TEST_F(PluginTest, CodecRoundTrips) {
  for (const uint8_t id : {uint8_t{160}, uint8_t{255}}) {
    options_.codec = static_cast<Codec>(id);
    options_.filters = {};
    const std::vector<std::byte> bytes = Compress(Pairs(2000), options_);
    EXPECT_EQ(bytes.size(), 32u + 4 * 4 + 4 * 4 + 1000);
    EXPECT_EQ(bytes[2], std::byte{0xD5});
    EXPECT_EQ(bytes[0x16], std::byte{id});
    EXPECT_EQ(bytes[0x17], std::byte{99});
    EXPECT_EQ(InspectChunk(bytes)->codec, options_.codec);
    EXPECT_EQ(Decoded(bytes, &registry_), Pairs(2000));
    EXPECT_TRUE(Fails(Decompress(bytes), absl::StatusCode::kUnimplemented,
                      "codec id " + std::to_string(id)));
    EXPECT_TRUE(IsOk(InspectChunk(bytes))) << "the header can be read without the codec";
  }
}

TEST_F(PluginTest, CodecErrorNamesTheBlock) {
  options_.codec = static_cast<Codec>(160);
  options_.filters = {};
  std::vector<std::byte> bytes = Compress(Pairs(1024), options_);
  chunk::SetInt32(bytes, static_cast<size_t>(chunk::Int32At(bytes, 36)), 255);
  EXPECT_TRUE(IsDamage(Decompress(bytes, &registry_), "chunk block 1, stream 0: every other"));
}

TEST_F(PluginTest, FilterRoundTripsAmongOthers) {
  options_.filters = {{Filter::kDelta},
                      {static_cast<Filter>(160), 3},
                      {Filter::kShuffle},
                      {static_cast<Filter>(255), 200}};
  const std::vector<std::byte> payload = Payload(Kind::kMixed, 3001, 2);
  const std::vector<std::byte> bytes = Compress(payload, options_);
  EXPECT_FALSE(InspectChunk(bytes)->memcpyed);
  EXPECT_EQ(Decoded(bytes, &registry_), payload);
  EXPECT_TRUE(Fails(Decompress(bytes), absl::StatusCode::kUnimplemented, "filter id 160"));
}

TEST_F(PluginTest, UnknownIdsAreNamedWhenCompressing) {
  std::vector<std::byte> dst(100);
  options_.codec = static_cast<Codec>(161);
  EXPECT_TRUE(
      Fails(CompressChunk({}, options_, dst), absl::StatusCode::kUnimplemented, "codec id 161"));
  options_.codec = Codec::kLz4;
  options_.filters = {{static_cast<Filter>(161)}};
  EXPECT_TRUE(
      Fails(CompressChunk({}, options_, dst), absl::StatusCode::kUnimplemented, "filter id 161"));
}

TEST(ChunkApiTest, ServesThreadsAtOnce) {
  const std::vector<std::byte> payload = Payload(Kind::kMixed, 20000);
  const std::vector<std::byte> expected = Compress(payload, {});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(Compress(payload, {}), expected);
        EXPECT_EQ(Decoded(expected), payload);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace cairn
