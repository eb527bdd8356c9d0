#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_format.h"
#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/base/hash.h"
#include "engine/codec/numbers/stream_head.h"
#include "engine/codec/stream_codec.h"
#include "engine/filter/filters.h"
#include "tests/codec/number_samples.h"
#include "tests/codec/vector_folder.h"
#include "tests/support/files.h"
#include "tests/support/status.h"

namespace cairn::codec {
namespace {

using numbers::Coding;
using test::Buffer;
using test::kNumberTypes;
using test::Mixture;
using test::NumberKind;
using test::Numbers;
using test::NumberType;

PluginCall AutoCall(NumberType type) {
  return {.typesize = type.size, .clevel = 5, .meta = static_cast<uint8_t>(1 + int(type.kind))};
}

Buffer AutoCoded(StreamCodec& codec, Bytes items, const PluginCall& call) {
  Buffer stream(items.size());
  stream.resize(codec.Compress(items, stream, call).value());
  return stream;
}

// Returns the bytes that a codec takes, which stores what does not get smaller.
size_t SizeBy(const std::unique_ptr<StreamCodec>& codec, Bytes items, const PluginCall& call) {
  const size_t size = AutoCoded(*codec, items, call).size();
  return size == 0 ? items.size() : size;
}

std::vector<Coding> CodingsOf(Bytes stream) {
  std::vector<numbers::Column> columns;
  EXPECT_TRUE(IsOk(ReadColumns(Codec::kAuto, stream, columns)));
  std::vector<Coding> codings;
  for (const numbers::Column& column : columns) codings.push_back(column.coding);
  return codings;
}

Coding ChosenFor(Bytes items, const PluginCall& call) {
  const Buffer stream = AutoCoded(*MakeAuto(), items, call);
  return stream.empty() ? Coding{} : CodingsOf(stream).front();
}

// Adds samples that suit other codecs than those of numbers.
std::vector<Buffer> AutoSamples(NumberType type) {
  std::vector<Buffer> samples = Mixture(type);
  std::mt19937_64 dice(3);
  double level = 1;
  samples.push_back(Numbers(type, 3000, [&](size_t) {
    if (dice() % 500 == 0) level = static_cast<double>(dice() % 120);
    return level;
  }));
  const Buffer& noise = samples[6];
  Buffer& repeats = samples.emplace_back();
  while (repeats.size() < 3000U * type.size) {
    repeats.insert(repeats.end(), noise.begin(), noise.begin() + 300 * type.size);
  }
  return samples;
}

TEST(AutoTest, TakesNearlyTheLeastOfAllCodecs) {
  for (const NumberType type : kNumberTypes) {
    const PluginCall call = AutoCall(type);
    int sample = 0;
    for (const Buffer& numbers : AutoSamples(type)) {
      const Buffer stream = AutoCoded(*MakeAuto(), numbers, call);
      const size_t size = stream.empty() ? numbers.size() : stream.size();
      const size_t pco = SizeBy(MakePco(), numbers, call);
      const size_t bitpack = SizeBy(MakeBitpack(), numbers, call);
      Buffer shuffled(numbers.size());
      filter::Shuffle(static_cast<size_t>(type.size), numbers, shuffled);
      const size_t bytes =
          std::min({SizeBy(MakeZstd(), numbers, call), SizeBy(MakeZstd(), shuffled, call),
                    SizeBy(MakeLz4(), numbers, call)});
      // A faster codec may take 15% more, and zstd must save 10%.
      const double most = std::min<double>(1.15 * static_cast<double>(std::min(pco, bitpack)),
                                           1.15 / 0.9 * static_cast<double>(bytes));
      constexpr double kHead = 16;
      EXPECT_LE(static_cast<double>(size), most + kHead)
          << "kind " << int(type.kind) << " size " << type.size << " sample " << sample++
          << ": pco " << pco << " bitpack " << bitpack << " bytes " << bytes;
    }
  }
}

TEST(AutoTest, AllNumbersComeBack) {
  const std::unique_ptr<StreamCodec> codec = MakeAuto();
  for (const NumberType type : kNumberTypes) {
    for (const Buffer& numbers : AutoSamples(type)) {
      const Buffer stream = AutoCoded(*codec, numbers, AutoCall(type));
      if (stream.empty()) continue;
      Buffer back(numbers.size());
      ASSERT_TRUE(IsOk(codec->Decompress(stream, back, AutoCall(type))));
      EXPECT_TRUE(back == numbers);
    }
  }
}

TEST(AutoTest, ChoosesWhatSuitsTheNumbers) {
  std::mt19937_64 dice(5);
  constexpr NumberType kInt = {NumberKind::kInt, 8};
  const Buffer even = Numbers(kInt, 20000, [&](size_t) { return double(dice() % 1000); });
  EXPECT_EQ(ChosenFor(even, AutoCall(kInt)), Coding::kBitpack);
  std::exponential_distribution<double> often(0.01);
  const Buffer uneven = Numbers(kInt, 20000, [&](size_t) { return std::pow(often(dice), 2); });
  EXPECT_EQ(ChosenFor(uneven, AutoCall(kInt)), Coding::kPco);
  Buffer noise(200 * 8);
  for (std::byte& byte : noise) byte = static_cast<std::byte>(dice());
  Buffer repeats;
  for (int i = 0; i < 100; ++i) repeats.insert(repeats.end(), noise.begin(), noise.end());
  EXPECT_GE(ChosenFor(repeats, AutoCall(kInt)), Coding::kZstd);
}

TEST(AutoTest, PaddingDoesNotDecide) {
  std::mt19937_64 dice(5);
  constexpr NumberType kInt = {NumberKind::kInt, 8};
  double time = 1e15;
  const Buffer times = Numbers(kInt, 20000, [&](size_t i) {
    time += 1e6 + static_cast<double>(dice() % 100'000);
    return i < 19'997 ? time : 0;
  });
  EXPECT_EQ(ChosenFor(times, AutoCall(kInt)), Coding::kBitpack);
}

TEST(AutoTest, TakesItemsOfAnySizeAsBytes) {
  std::mt19937_64 dice(5);
  const std::unique_ptr<StreamCodec> codec = MakeAuto();
  for (const int size : {3, 7, 24, 100}) {
    Buffer items;
    while (items.size() < 40000) {
      const std::string_view word = dice() % 2 == 0 ? "one and " : "another, ";
      items.insert(items.end(), AsBytes(word).begin(), AsBytes(word).end());
    }
    const PluginCall call = {.typesize = size, .clevel = 5};
    const Buffer stream = AutoCoded(*codec, items, call);
    ASSERT_GT(stream.size(), 0U);
    EXPECT_LT(stream.size(), items.size() / 8);
    Buffer back(items.size());
    ASSERT_TRUE(IsOk(codec->Decompress(stream, back, call)));
    EXPECT_TRUE(back == items) << size;
  }
}

TEST(AutoTest, ColumnsHaveCodingsOfTheirOwn) {
  const ItemColumn columns[] = {
      {.kind = 2, .size = 8}, {.kind = 0, .count = 12}, {.kind = 2, .size = 4}};
  std::mt19937_64 dice(5);
  std::exponential_distribution<double> often(0.01);
  Buffer records(6000 * 24);
  for (size_t at = 0; at < records.size(); at += 24) {
    StoreLe(&records[at], static_cast<int64_t>(dice() % 1000));
    const std::string_view name = dice() % 2 == 0 ? "Rotterdam   " : "Valparaiso  ";
    CopyBytes(AsBytes(name), {&records[at + 8], 12});
    StoreLe(&records[at + 20], static_cast<int32_t>(std::pow(often(dice), 2)));
  }
  const std::unique_ptr<StreamCodec> codec = MakeAuto();
  codec->UseColumns(columns);
  const std::vector<Coding> codings =
      CodingsOf(AutoCoded(*codec, records, {.typesize = 24, .clevel = 5}));
  ASSERT_EQ(codings.size(), 3U);
  EXPECT_EQ(codings[0], Coding::kBitpack);
  EXPECT_GE(codings[1], Coding::kZstd);
  EXPECT_EQ(codings[2], Coding::kPco);
}

TEST(AutoTest, StreamsAreCodedAsWasChosenForAll) {
  const std::unique_ptr<StreamCodec> codec = MakeAuto();
  const Buffer numbers = Mixture({NumberKind::kInt, 4})[3];
  const PluginCall call = {.typesize = 4, .clevel = 5};
  auto columns = codec->ChooseColumns(numbers, numbers.size(), call);
  ASSERT_TRUE(IsOk(columns));
  for (uint8_t coding = 1; coding <= numbers::kMaxCoding; ++coding) {
    columns->front().coding = static_cast<Coding>(coding);
    codec->UseChosen(*columns);
    const Buffer stream = AutoCoded(*codec, numbers, call);
    EXPECT_EQ(CodingsOf(stream), std::vector{static_cast<Coding>(coding)});
    Buffer back(numbers.size());
    ASSERT_TRUE(IsOk(codec->Decompress(stream, back, call)));
    EXPECT_TRUE(back == numbers);
  }
  codec->UseColumns({});
  EXPECT_EQ(AutoCoded(*codec, numbers, call), AutoCoded(*MakeAuto(), numbers, call));
}

TEST(AutoTest, StreamsOfEarlierBuildsAreDecoded) {
  const std::string folder = std::string(CAIRN_VECTOR_FOLDER) + "/auto/";
  std::ifstream list(folder + "list.txt");
  std::string name;
  size_t size = 0;
  std::string hash;
  std::vector<Coding> codings;
  while (list >> name >> size >> hash) {
    const Buffer stream = test::FileBytes(folder + name);
    Buffer items(size);
    ASSERT_TRUE(IsOk(MakeAuto()->Decompress(stream, items, {}))) << name;
    EXPECT_EQ(absl::StrFormat("%016x", Xxh3(items)), hash) << name;
    codings.push_back(CodingsOf(stream).front());
  }
  for (uint8_t coding = 1; coding <= numbers::kMaxCoding; ++coding) {
    EXPECT_GT(std::ranges::count(codings, static_cast<Coding>(coding)), 0) << int(coding);
  }
}

TEST(AutoTest, RefusesBytesCodedAsNumbers) {
  const std::unique_ptr<StreamCodec> codec = MakeAuto();
  const Buffer items(3000, std::byte{7});
  Buffer stream = AutoCoded(*codec, items, {.typesize = 3, .clevel = 5});
  ASSERT_GT(stream.size(), 8U);
  stream[7] = std::byte{1};  // version, two bytes of the size, page, columns, type, count, coding
  Buffer back(items.size());
  EXPECT_TRUE(IsDamage(codec->Decompress(stream, back, PluginCall()), "bytes of coding 1"));
}

}  // namespace
}  // namespace cairn::codec
