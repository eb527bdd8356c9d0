#include "engine/chunk/encoder.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "tests/chunk/test_chunks.h"
#include "tests/support/hex.h"
#include "tests/support/reverse_executor.h"
#include "tests/support/status.h"
#include "tests/support/unowned.h"

namespace cairn::chunk {
namespace {

absl::StatusOr<std::vector<std::byte>> Encode(Bytes payload, const CompressionOptions& options,
                                              size_t room,
                                              Encoder::Zeros zeros = Encoder::Zeros::kSpecial) {
  WorkspacePool pool;
  const auto encoder = Encoder::Make(options, &pool);
  if (!encoder.ok()) return encoder.status();
  std::vector<std::byte> out(room);
  const auto size = encoder->Encode(payload, out, zeros);
  if (!size.ok()) return size.status();
  out.resize(*size);
  return out;
}

TEST(EncoderTest, CopiesWhatIsTooSmallToCompress) {
  CompressionOptions options;
  options.codec = Codec::kBloscLz;
  options.typesize = 4;
  const std::vector<std::byte> chunk = Compress(Hex("00 00 00 00 01 00 00 00"), options);
  std::vector<std::byte> reference =
      Hex("05 01 07 04  08 00 00 00  08 00 00 00  28 00 00 00"
          "00 00 00 00 00 01  00 00  00 00 00 00 00 00  00 00"
          "00 00 00 00 01 00 00 00");
  EXPECT_EQ(ToHex(Decoded(reference)), "0000000001000000");
  // The split flag means nothing without blocks.
  reference[2] |= std::byte{0x10};
  EXPECT_EQ(ToHex(chunk), ToHex(reference));
}

TEST(EncoderTest, CopiesBelow32BytesAndAtLevelZero) {
  CompressionOptions options;
  EXPECT_TRUE(InspectChunk(Compress(Payload(Kind::kZeros, 31), options))->memcpyed);
  EXPECT_FALSE(InspectChunk(Compress(Payload(Kind::kZeros, 32), options))->memcpyed);
  options.clevel = 0;
  const std::vector<std::byte> chunk = Compress(Payload(Kind::kCounter, 5000), options);
  EXPECT_TRUE(InspectChunk(chunk)->memcpyed);
  EXPECT_EQ(chunk.size(), 5032u);
}

TEST(EncoderTest, CopiesWhatDoesNotCompress) {
  for (const Codec codec : kCodecs) {
    CompressionOptions options;
    options.codec = codec;
    const std::vector<std::byte> chunk = Compress(Payload(Kind::kRandom, 4000), options);
    EXPECT_TRUE(InspectChunk(chunk)->memcpyed);
    EXPECT_EQ(chunk.size(), 4032u);
  }
}

TEST(EncoderTest, MakesZerosSpecialUnlessToldNotTo) {
  CompressionOptions options;
  options.typesize = 4;
  options.blocksize = 1000;
  const std::vector<std::byte> zeros = Payload(Kind::kZeros, 4000);
  const auto special = Encode(zeros, options, 32);
  ASSERT_TRUE(IsOk(special));
  EXPECT_EQ(ToHex(*special), ToHex(Hex("05 01 25 04  a0 0f 00 00  e8 03 00 00  20 00 00 00"
                                       "00 00 00 00 00 01  01 00  00 00 00 00 00 00  00 10")));
  const auto blocks = Encode(zeros, options, 4032, Encoder::Zeros::kBlocks);
  ASSERT_TRUE(IsOk(blocks));
  EXPECT_EQ(blocks->size(), 32u + 4 * 4 + 4 * 4 * 4) << "a run for each stream of each block";
  EXPECT_EQ(InspectChunk(*blocks)->special, SpecialValue::kNone);
  EXPECT_TRUE(KeepsWriterRules(*blocks));
  EXPECT_EQ(Decoded(*blocks), zeros);
  EXPECT_TRUE(
      Fails(Encode(zeros, options, 31), absl::StatusCode::kResourceExhausted, "does not fit"));
}

TEST(EncoderTest, WritesRunsInTheirTokenForm) {
  CompressionOptions options;
  options.filters = {};
  options.split_mode = SplitMode::kNever;
  const std::vector<std::byte> payload(64, std::byte{7});
  const std::vector<std::byte> chunk = Compress(payload, options);
  EXPECT_EQ(ToHex(Bytes(chunk).subspan(32)), ToHex(Hex("24 00 00 00  f9 ff ff ff 01")));
  const std::vector<std::byte> high(64, std::byte{0xFF});
  EXPECT_EQ(ToHex(Bytes(Compress(high, options)).subspan(36)), ToHex(Hex("01 ff ff ff 01")));
}

TEST(EncoderTest, SaysOneForTypesizesThatTheHeaderCannotHold) {
  CompressionOptions options;
  options.typesize = 1000;
  options.blocksize = 2500;
  const auto info = InspectChunk(Compress(Payload(Kind::kCounter, 10000), options));
  EXPECT_EQ(info->typesize, 1);
  EXPECT_EQ(info->blocksize, 2000) << "cut by the true typesize";
}

TEST(EncoderTest, StoresABlockSizeOfCompleteItems) {
  CompressionOptions options;
  options.typesize = 12;
  options.blocksize = 1000;
  const std::vector<std::byte> chunk = Compress(Payload(Kind::kCounter, 10000, 12), options);
  EXPECT_EQ(Int32At(chunk, 8), 996);
}

TEST(EncoderTest, DependsOnNoExecutor) {
  const std::vector<std::byte> payload = Payload(Kind::kMixed, 300007, 4);
  InlineExecutor in_place;
  ReverseExecutor reverse(4);
  const std::shared_ptr<Executor> pool = MakeThreadExecutor(2);
  for (const Codec codec : kCodecs) {
    for (const bool use_dict : {false, true}) {
      CompressionOptions options;
      options.codec = codec;
      options.typesize = 4;
      options.blocksize = 4096;
      options.filters = {{Filter::kDelta}, {Filter::kShuffle}};
      options.use_dict = use_dict && codec != Codec::kBloscLz && codec != Codec::kZlib;
      const std::vector<std::byte> expected = Compress(payload, options);
      ASSERT_FALSE(InspectChunk(expected)->memcpyed);
      EXPECT_EQ(InspectChunk(expected)->has_dict, options.use_dict);
      for (const std::shared_ptr<Executor>& executor : std::vector<std::shared_ptr<Executor>>{
               test::Unowned(&in_place), pool, test::Unowned(&reverse)}) {
        options.executor = executor;
        EXPECT_EQ(Compress(payload, options), expected);
        std::vector<std::byte> decoded(payload.size());
        EXPECT_TRUE(IsOk(DecompressChunk(expected, decoded, {.executor = executor})));
        EXPECT_EQ(decoded, payload);
      }
    }
  }
}

TEST(EncoderTest, CopiesWhatDoesNotCompressOnAnyExecutor) {
  const std::vector<std::byte> payload = Payload(Kind::kRandom, 300007);
  ReverseExecutor reverse(3);
  CompressionOptions options;
  const std::vector<std::byte> expected = Compress(payload, options);
  EXPECT_TRUE(InspectChunk(expected)->memcpyed);
  options.executor = test::Unowned(&reverse);
  EXPECT_EQ(Compress(payload, options), expected);
}

TEST(EncoderTest, DependsOnNoEarlierCall) {
  WorkspacePool pool;
  CompressionOptions options;
  options.codec = Codec::kZstd;
  options.use_dict = true;
  options.blocksize = 1024;
  const auto encoder = Encoder::Make(options, &pool);
  ASSERT_TRUE(IsOk(encoder));
  for (const size_t size : {40000, 100, 6000, 40000, 0, 31, 40000}) {
    const std::vector<std::byte> payload = Payload(Kind::kMixed, size);
    std::vector<std::byte> out(MaxCompressedSize(size));
    out.resize(encoder->Encode(payload, out).value());
    EXPECT_EQ(out, Compress(payload, options)) << size;
  }
}

// Every room from none to plenty gives the same chunk, or says that it is too small.
void ExpectSameInAnyRoom(Bytes payload, const CompressionOptions& options) {
  const std::vector<std::byte> expected = Compress(payload, options);
  for (size_t room = 0; room <= payload.size() + 64; ++room) {
    const auto chunk = Encode(payload, options, room);
    if (chunk.ok()) {
      ASSERT_EQ(ToHex(*chunk), ToHex(expected)) << room;
    } else {
      ASSERT_TRUE(Fails(chunk, absl::StatusCode::kResourceExhausted, "does not fit into")) << room;
      ASSERT_LT(room, expected.size());
    }
  }
}

TEST(EncoderTest, DependsOnNoCapacity) {
  for (const Codec codec : kCodecs) {
    CompressionOptions options;
    options.codec = codec;
    options.typesize = 4;
    options.blocksize = 128;
    for (const Kind kind : {Kind::kZeros, Kind::kRandom, Kind::kCounter, Kind::kMixed}) {
      for (const size_t size : {0, 20, 600}) ExpectSameInAnyRoom(Payload(kind, size), options);
    }
  }
}

TEST(EncoderTest, DependsOnNoCapacityWithDictionary) {
  CompressionOptions options;
  options.typesize = 4;
  options.use_dict = true;
  options.blocksize = 512;
  const std::vector<std::byte> payload = Payload(Kind::kCounter, 5300);
  ASSERT_TRUE(InspectChunk(Compress(payload, options))->has_dict);
  ExpectSameInAnyRoom(payload, options);
}

TEST(EncoderTest, RefusesMorePayloadThanAChunkHolds) {
  WorkspacePool pool;
  const auto encoder = Encoder::Make({}, &pool);
  // No byte of the payload is looked at.
  std::byte one{};
  const Bytes huge(&one, size_t{kMaxChunkBytes} + 1);
  EXPECT_TRUE(Fails(encoder->Encode(huge, {}), absl::StatusCode::kInvalidArgument, "2147483616"));
}

TEST(EncoderTest, RefusesOptionsWhenItIsMade) {
  CompressionOptions options;
  options.clevel = 10;
  EXPECT_TRUE(Fails(Encode({}, options, 32), absl::StatusCode::kInvalidArgument, "clevel"));
  options = {};
  options.filters = {{Filter::kTruncPrec, 10}, {Filter::kDelta}};
  options.typesize = 4;
  EXPECT_TRUE(Fails(Encode({}, options, 32), absl::StatusCode::kInvalidArgument, "delta"));
  options.filters = {{Filter::kTruncPrec, 24}};
  EXPECT_TRUE(Fails(Encode({}, options, 32), absl::StatusCode::kInvalidArgument,
                    "filter id 4 (trunc_prec)"));
  options.filters = {{static_cast<Filter>(200)}};
  EXPECT_TRUE(Fails(Encode({}, options, 32), absl::StatusCode::kUnimplemented, "filter id 200"));
  options = {};
  for (const int id : {3, 6, 38, 100, 200}) {
    options.codec = static_cast<Codec>(id);
    EXPECT_TRUE(Fails(Encode({}, options, 32), absl::StatusCode::kUnimplemented,
                      "codec id " + std::to_string(id)));
  }
}

}  // namespace
}  // namespace cairn::chunk
