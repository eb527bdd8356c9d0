// Payloads come back through Encoder and Decoder, whatever the options.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "tests/chunk/test_chunks.h"
#include "tests/support/hex.h"
#include "tests/support/status.h"

namespace cairn::chunk {
namespace {

constexpr int32_t kTypesizes[] = {1,  2,  3,  4,  5,  6,  7,  8,   9,   10,  11,
                                  12, 13, 14, 15, 16, 17, 24, 255, 256, 1000};
// Around the smallest payload that is coded, one block, several blocks, and odd remainders.
constexpr size_t kSizes[] = {0, 1, 31, 32, 33, 500, 1024, 1025, 4096, 5003};
constexpr SplitMode kSplitModes[] = {SplitMode::kAlways, SplitMode::kNever,
                                     SplitMode::kForwardCompat};

using Filters = std::vector<FilterStage>;

std::vector<Filters> LosslessPipelines(int32_t typesize) {
  const uint8_t channels = typesize > 255 ? 8 : 0;
  return {
      {},
      {{Filter::kShuffle}},
      {{Filter::kBitShuffle}},
      {{Filter::kDelta}},
      {{Filter::kDelta}, {Filter::kShuffle}},
      {{Filter::kShuffle}, {Filter::kByteDelta, 4}},
      {{Filter::kDelta}, {Filter::kShuffle}, {Filter::kByteDelta, channels}},
      {{Filter::kShuffle, 2}, {Filter::kDelta}, {Filter::kNone}, {Filter::kBitShuffle}},
  };
}

std::string Describe(const CompressionOptions& options, size_t size) {
  std::string text = testing::PrintToString(static_cast<int>(options.codec)) + "/" +
                     std::to_string(options.clevel) + ", typesize " +
                     std::to_string(options.typesize) + ", blocksize " +
                     std::to_string(options.blocksize) + ", split mode " +
                     std::to_string(static_cast<int>(options.split_mode)) + ", " +
                     std::to_string(size) + " bytes, filters";
  for (const FilterStage& stage : options.filters) {
    text += " " + std::to_string(static_cast<int>(stage.filter));
  }
  return text;
}

void ExpectRoundTrip(Bytes payload, const CompressionOptions& options) {
  const std::vector<std::byte> chunk = Compress(payload, options);
  const std::string what = Describe(options, payload.size());
  ASSERT_LE(chunk.size(), payload.size() + 32) << what;
  ASSERT_TRUE(KeepsWriterRules(chunk)) << what;
  const auto decoded = Decompress(chunk);
  ASSERT_TRUE(IsOk(decoded)) << what << ": " << decoded.status();
  ASSERT_TRUE(*decoded == ToVector(payload)) << what;
}

class RoundTripTest : public testing::TestWithParam<Codec> {};

INSTANTIATE_TEST_SUITE_P(AllCodecs, RoundTripTest, testing::ValuesIn(kCodecs),
                         [](const auto& param) {
                           return "Codec" + std::to_string(static_cast<int>(param.param));
                         });

TEST_P(RoundTripTest, OverFiltersTypesizesSizesAndSplitModes) {
  CompressionOptions options;
  options.codec = GetParam();
  for (const size_t size : kSizes) {
    for (const int32_t typesize : kTypesizes) {
      const std::vector<std::byte> payload = Payload(Kind::kMixed, size, typesize);
      options.typesize = typesize;
      for (const Filters& filters : LosslessPipelines(typesize)) {
        options.filters = filters;
        for (const SplitMode mode : kSplitModes) {
          options.split_mode = mode;
          options.blocksize = size > 500 ? 1024 : 0;
          ExpectRoundTrip(payload, options);
        }
      }
    }
  }
}

TEST_P(RoundTripTest, OverLevelsAndKindsOfPayload) {
  CompressionOptions options;
  options.codec = GetParam();
  for (const Kind kind : {Kind::kZeros, Kind::kRandom, Kind::kCounter, Kind::kMixed}) {
    const std::vector<std::byte> payload = Payload(kind, 150001, 8);
    for (options.clevel = 0; options.clevel <= 9; ++options.clevel) {
      for (const int32_t typesize : {1, 8}) {
        options.typesize = typesize;
        ExpectRoundTrip(payload, options);
      }
    }
  }
}

TEST_P(RoundTripTest, OverBlockSizesOfAnyKind) {
  CompressionOptions options;
  options.codec = GetParam();
  options.typesize = 6;
  options.filters = {{Filter::kDelta}, {Filter::kShuffle}};
  const std::vector<std::byte> payload = Payload(Kind::kMixed, 1501, 6);
  for (options.blocksize = 1; options.blocksize < 1600; options.blocksize += 37) {
    for (const SplitMode mode : kSplitModes) {
      options.split_mode = mode;
      ExpectRoundTrip(payload, options);
    }
  }
}

class DictionaryRoundTripTest : public testing::TestWithParam<Codec> {};

INSTANTIATE_TEST_SUITE_P(Codecs, DictionaryRoundTripTest,
                         testing::Values(Codec::kLz4, Codec::kLz4Hc, Codec::kZstd),
                         [](const auto& param) {
                           return "Codec" + std::to_string(static_cast<int>(param.param));
                         });

TEST_P(DictionaryRoundTripTest, OverFiltersTypesizesSizesAndSplitModes) {
  CompressionOptions options;
  options.codec = GetParam();
  options.use_dict = true;
  options.blocksize = 1024;
  int with_dict = 0;
  for (const size_t size : {0, 33, 5119, 5120, 40003}) {
    for (const int32_t typesize : {1, 4, 7, 16, 255, 1000}) {
      const std::vector<std::byte> payload = Payload(Kind::kMixed, size, typesize);
      options.typesize = typesize;
      for (const Filters& filters : LosslessPipelines(typesize)) {
        options.filters = filters;
        for (const SplitMode mode : kSplitModes) {
          options.split_mode = mode;
          ExpectRoundTrip(payload, options);
          with_dict += InspectChunk(Compress(payload, options))->has_dict ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(with_dict, 50);
}

TEST_P(DictionaryRoundTripTest, PaysForSmallBlocks) {
  CompressionOptions options;
  options.codec = GetParam();
  options.blocksize = 256;
  options.filters = {};
  std::vector<std::byte> payload(64000);
  const std::vector<std::byte> sentence = Payload(Kind::kRandom, 200);
  for (size_t i = 0; i < payload.size(); ++i) payload[i] = sentence[i % sentence.size()];
  const size_t without = Compress(payload, options).size();
  options.use_dict = true;
  EXPECT_LT(Compress(payload, options).size(), without / 2);
  ExpectRoundTrip(payload, options);
}

TEST_P(DictionaryRoundTripTest, LeavesTheDictionaryOutOfMemcpyedChunks) {
  CompressionOptions options;
  options.codec = GetParam();
  options.use_dict = true;
  const std::vector<std::byte> payload = Payload(Kind::kRandom, 40000);
  const std::vector<std::byte> chunk = Compress(payload, options);
  EXPECT_TRUE(InspectChunk(chunk)->memcpyed);
  EXPECT_EQ(chunk[0x1F], std::byte{0});
  ExpectRoundTrip(payload, options);
}

TEST(LossyRoundTripTest, TruncatesOnceAndKeepsTheIncompleteItem) {
  for (const Filters& filters : {Filters{{Filter::kTruncPrec, 10}, {Filter::kShuffle}},
                                 Filters{{Filter::kDelta}, {Filter::kIntTrunc, 16}}}) {
    CompressionOptions options;
    options.typesize = 4;
    options.blocksize = 400;
    options.filters = filters;
    const std::vector<std::byte> payload = Payload(Kind::kMixed, 1999, 4);
    const std::vector<std::byte> once = Decoded(Compress(payload, options));
    ASSERT_EQ(once.size(), payload.size());
    EXPECT_NE(once, payload);
    EXPECT_TRUE(std::equal(payload.end() - 3, payload.end(), once.end() - 3)) << "no whole item";
  }
}

}  // namespace
}  // namespace cairn::chunk
