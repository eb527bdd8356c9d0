#include <memory>
#include <ostream>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/codec/stream_codec.h"

namespace cairn::codec {
namespace {

// Short records that resemble each other, and themselves enough to shrink alone.
std::string Record(unsigned seed) {
  std::mt19937 random(seed);
  std::string record;
  for (const char* key : {"station=", ";temperature=", ";pressure=", ";humidity=", ";status="}) {
    record += key + std::to_string(random() % 1000);
  }
  return record + "\n" + record;
}

std::vector<std::byte> TrainOn(int records) {
  std::string samples;
  std::vector<size_t> sizes;
  for (int i = 0; i < records; ++i) {
    const std::string record = Record(static_cast<unsigned>(i));
    samples += record;
    sizes.push_back(record.size());
  }
  return TrainZstdDictionary(AsBytes(samples), sizes, 4096);
}

std::vector<std::byte> Compress(StreamCodec& codec, Bytes src, int clevel) {
  std::vector<std::byte> out(src.size() + 64);
  out.resize(codec.Compress(src, out, {.clevel = clevel}).value_or(0));
  return out;
}

absl::StatusOr<std::string> Decompress(StreamCodec& codec, Bytes stream, size_t size) {
  std::vector<std::byte> out(size);
  if (absl::Status status = codec.Decompress(stream, out, {}); !status.ok()) return status;
  return std::string(AsText(out));
}

TEST(TrainZstdDictionaryTest, GivesADictionaryForEnoughSamples) {
  const std::vector<std::byte> dict = TrainOn(500);
  EXPECT_GE(dict.size(), 256);
  EXPECT_LE(dict.size(), 4096);
  EXPECT_EQ(AsText(Bytes(dict).first(4)), "\x37\xA4\x30\xEC");
}

TEST(TrainZstdDictionaryTest, GivesNoneForTooFewSamplesOrTooSmallABuffer) {
  EXPECT_TRUE(TrainOn(0).empty());
  EXPECT_TRUE(TrainOn(2).empty());
  const std::vector<std::byte> bytes(10000);
  const std::vector<size_t> sizes(100, 100);
  EXPECT_TRUE(TrainZstdDictionary(bytes, sizes, 10).empty());
  EXPECT_TRUE(TrainZstdDictionary(bytes, sizes, 0).empty());
}

TEST(TrainZstdDictionaryTest, RefusesSizesBeyondTheSamples) {
  const std::vector<std::byte> bytes(10000);
  EXPECT_TRUE(TrainZstdDictionary(bytes, std::vector<size_t>(101, 100), 4096).empty());
  EXPECT_TRUE(TrainZstdDictionary(bytes, std::vector<size_t>{SIZE_MAX, 2}, 4096).empty());
}

struct DictionaryCase {
  std::string name;
  std::unique_ptr<StreamCodec> (*make)();

  // Its bytes, which would be printed else, are not all initialised.
  friend std::ostream& operator<<(std::ostream& out, const DictionaryCase& one) {
    return out << one.name;
  }
};

class DictionaryTest : public testing::TestWithParam<DictionaryCase> {
 protected:
  std::unique_ptr<StreamCodec> codec_ = GetParam().make();
  const std::vector<std::byte> dict_ = TrainOn(500);
};

TEST_P(DictionaryTest, MakesShortStreamsSmaller) {
  const std::string record = Record(1000);
  const size_t without = Compress(*codec_, AsBytes(record), 9).size();
  ASSERT_GT(without, 0);
  codec_->UseDictionary(dict_);
  const auto stream = Compress(*codec_, AsBytes(record), 9);
  EXPECT_LT(stream.size(), without * 3 / 4);
  EXPECT_EQ(Decompress(*codec_, stream, record.size()).value_or("an error"), record);
}

TEST_P(DictionaryTest, StreamsAreIndependentOfEachOther) {
  codec_->UseDictionary(dict_);
  for (unsigned seed = 1000; seed < 1050; ++seed) {
    std::string record;
    for (unsigned more = 0; more <= seed % 7 * 50; ++more) record += Record(seed + more);
    for (const int clevel : {1, 5, 9}) {
      const auto stream = Compress(*codec_, AsBytes(record), clevel);
      const auto fresh = GetParam().make();
      fresh->UseDictionary(dict_);
      EXPECT_EQ(Compress(*fresh, AsBytes(record), clevel), stream);
      EXPECT_EQ(Decompress(*fresh, stream, record.size()).value_or("an error"), record);
    }
  }
}

TEST_P(DictionaryTest, MayBeAnyBytes) {
  std::mt19937 random(3);
  const std::string record = Record(1000) + Record(1001);
  for (const size_t size : {1, 2, 3, 7, 8, 9, 100, 32768, 100000}) {
    std::vector<std::byte> dict(size);
    for (std::byte& byte : dict) byte = static_cast<std::byte>(random());
    const std::string text = record.substr(0, std::min(record.size(), size));
    CopyBytes(AsBytes(text), dict);
    codec_->UseDictionary(dict);
    const auto stream = Compress(*codec_, AsBytes(record), 5);
    EXPECT_EQ(Decompress(*codec_, stream, record.size()).value_or("an error"), record) << size;
  }
}

// The place of the dictionary in memory must not show in the bytes.
TEST_P(DictionaryTest, MayLieRightBeforeTheSource) {
  const std::string record = Record(1000) + Record(1001);
  std::vector<std::byte> joined = dict_;
  joined.insert(joined.end(), AsBytes(record).begin(), AsBytes(record).end());
  codec_->UseDictionary(dict_);
  const auto expected = Compress(*codec_, AsBytes(record), 5);
  ASSERT_FALSE(expected.empty());
  codec_->UseDictionary(Bytes(joined).first(dict_.size()));
  EXPECT_EQ(Compress(*codec_, Bytes(joined).subspan(dict_.size()), 5), expected);
}

TEST_P(DictionaryTest, IsForgottenWhenAnotherOneIsUsed) {
  const std::string record = Record(1000);
  const auto plain = Compress(*codec_, AsBytes(record), 9);
  ASSERT_FALSE(plain.empty());
  codec_->UseDictionary(dict_);
  const auto stream = Compress(*codec_, AsBytes(record), 9);
  codec_->UseDictionary({});
  EXPECT_EQ(Compress(*codec_, AsBytes(record), 9), plain);
  EXPECT_NE(Decompress(*codec_, stream, record.size()).value_or("an error"), record);
  EXPECT_EQ(Decompress(*codec_, plain, record.size()).value_or("an error"), record);
}

INSTANTIATE_TEST_SUITE_P(Codecs, DictionaryTest,
                         testing::Values(DictionaryCase{"Lz4", MakeLz4},
                                         DictionaryCase{"Lz4Hc", MakeLz4Hc},
                                         DictionaryCase{"Zstd", MakeZstd}),
                         [](const auto& info) { return info.param.name; });

TEST(ZstdDictionaryTest, MakesTheLevelIrrelevant) {
  const std::vector<std::byte> dict = TrainOn(500);
  const auto codec = MakeZstd();
  codec->UseDictionary(dict);
  const std::string record = Record(1000);
  EXPECT_EQ(Compress(*codec, AsBytes(record), 1), Compress(*codec, AsBytes(record), 9));
}

TEST(ZstdDictionaryTest, MalformedIsDataLoss) {
  std::vector<std::byte> dict = TrainOn(500);
  FillBytes(MutableBytes(dict).subspan(4, 100), std::byte{0xFF});
  const auto codec = MakeZstd();
  codec->UseDictionary(dict);
  std::vector<std::byte> out(100);
  EXPECT_TRUE(absl::IsDataLoss(codec->Decompress(dict, out, {})));
}

TEST(NoDictionaryTest, BloscLzAndZlibIgnoreIt) {
  const std::vector<std::byte> dict = TrainOn(500);
  for (const auto make : {MakeBloscLz, MakeZlib}) {
    const auto codec = make();
    const std::string record = Record(1000) + Record(1000);
    const auto plain = Compress(*codec, AsBytes(record), 9);
    codec->UseDictionary(dict);
    EXPECT_EQ(Compress(*codec, AsBytes(record), 9), plain);
    EXPECT_EQ(Decompress(*codec, plain, record.size()).value_or("an error"), record);
  }
}

}  // namespace
}  // namespace cairn::codec
