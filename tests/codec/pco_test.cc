#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/base/hash.h"
#include "engine/base/kernel_targets.h"
#include "engine/codec/pco/bit_writer.h"
#include "engine/codec/pco/chunk_encoder.h"
#include "engine/codec/pco/latent_sorter.h"
#include "engine/codec/pco/split.h"
#include "engine/codec/stream_codec.h"
#include "tests/codec/vector_folder.h"
#include "tests/support/files.h"
#include "tests/support/pco_file.h"
#include "tests/support/status.h"

namespace cairn::pco {
namespace {

using test::Buffer;

const std::string kFolder = std::string(CAIRN_VECTOR_FOLDER) + "/pco/";

struct Vector {
  std::string name;
  NumberKind kind;
  int size;
  size_t count;
  std::string hash;
};

std::vector<Vector> Vectors() {
  std::vector<Vector> vectors;
  std::ifstream list(kFolder + "list.txt");
  std::string name;
  std::string hash;
  char kind = 0;
  int size = 0;
  size_t count = 0;
  while (list >> name >> kind >> size >> count >> hash) {
    vectors.push_back({.name = name,
                       .kind = kind == 'f'   ? NumberKind::kFloat
                               : kind == 'i' ? NumberKind::kInt
                                             : NumberKind::kUint,
                       .size = size,
                       .count = count,
                       .hash = hash});
  }
  return vectors;
}

TEST(PcoVectorsTest, StreamsOfThePcodecPackageAreDecoded) {
  const std::vector<Vector> vectors = Vectors();
  ASSERT_GT(vectors.size(), 100U);
  for (const Vector& vector : vectors) {
    const auto numbers = test::DecodePcoFile(test::FileBytes(kFolder + vector.name), 1 << 20);
    ASSERT_TRUE(IsOk(numbers)) << vector.name;
    EXPECT_EQ(numbers->size(), vector.count * static_cast<size_t>(vector.size)) << vector.name;
    EXPECT_EQ(absl::StrFormat("%016x", Xxh3(*numbers)), vector.hash) << vector.name;
  }
}

TEST(PcoVectorsTest, AStreamThatIsCutIsRefused) {
  for (const Vector& vector : Vectors()) {
    const Buffer file = test::FileBytes(kFolder + vector.name);
    const auto whole = test::DecodePcoFile(file, 1 << 20);
    ASSERT_TRUE(IsOk(whole));
    for (size_t size = 0; size + 1 < file.size(); size += 1 + size / 8) {
      const auto numbers = test::DecodePcoFile(Bytes(file).first(size), 1 << 20);
      EXPECT_FALSE(numbers.ok() && *numbers == *whole) << vector.name << " of " << size << " bytes";
    }
  }
}

// Returns the description of a chunk and its pages, of `page` numbers.
Buffer Encode(NumberType type, Bytes numbers, size_t page, int level) {
  const auto encoder = ChunkEncoder::Make(type.size);
  const EncodedChunk& chunk =
      encoder->Encode({&type.kind, 1}, numbers, static_cast<int64_t>(page), level);
  Buffer stream = chunk.meta;
  const size_t size = std::accumulate(chunk.page_sizes.begin(), chunk.page_sizes.end(), size_t{0});
  stream.insert(stream.end(), chunk.pages.begin(),
                chunk.pages.begin() + static_cast<int64_t>(size));
  return stream;
}

// Encodes and decodes, with pages of `page` numbers.
absl::StatusOr<Buffer> RoundTrip(NumberType type, Bytes numbers, size_t page, int level) {
  Buffer stream = Encode(type, numbers, page, level);
  stream.resize(stream.size() + kPadding);
  BitReader in(stream);
  CAIRN_ASSIGN_OR_RETURN(ChunkMeta meta, ReadChunkMeta({}, type, in));
  const auto decoder = ChunkDecoder::Make(type.size);
  decoder->BeginChunk(type.kind, std::move(meta));
  Buffer out(numbers.size());
  const size_t size = page * static_cast<size_t>(type.size);
  for (size_t begin = 0; begin < out.size(); begin += size) {
    CAIRN_RETURN_IF_ERROR(decoder->DecodePage(
        in, std::span(out).subspan(begin).first(std::min(size, out.size() - begin))));
  }
  if (in.bits_left() != 0) return DataLoss("%d bits are left", in.bits_left());
  return out;
}

const NumberType kTypes[] = {
    {NumberKind::kUint, 1}, {NumberKind::kInt, 1},   {NumberKind::kUint, 2},
    {NumberKind::kInt, 2},  {NumberKind::kFloat, 2}, {NumberKind::kUint, 4},
    {NumberKind::kInt, 4},  {NumberKind::kFloat, 4}, {NumberKind::kUint, 8},
    {NumberKind::kInt, 8},  {NumberKind::kFloat, 8}};

// Stores `value` as a number of the type.
void Store(NumberType type, double value, std::byte* to) {
  uint64_t bits = static_cast<uint64_t>(static_cast<int64_t>(value));
  if (type.kind == NumberKind::kFloat) {
    bits = type.size == 2   ? Half(static_cast<float>(value)).bits()
           : type.size == 4 ? FloatOf<uint32_t>::ToBits(static_cast<float>(value))
                            : FloatOf<uint64_t>::ToBits(value);
  }
  std::byte little[8];
  StoreLe(little, bits);
  std::copy_n(little, type.size, to);
}

template <typename ValueOf>
Buffer Numbers(NumberType type, size_t count, const ValueOf& value_of) {
  Buffer numbers(count * static_cast<size_t>(type.size));
  for (size_t i = 0; i < count; ++i) {
    Store(type, value_of(i), numbers.data() + i * static_cast<size_t>(type.size));
  }
  return numbers;
}

TEST(PcoRoundTripTest, NumbersOfEveryTypeComeBackAsTheyWere) {
  std::mt19937_64 dice(1);
  const auto noise = [&] { return static_cast<double>(dice() % 2001) / 100 - 10; };
  for (const NumberType type : kTypes) {
    for (const size_t count : {1, 2, 3, 255, 256, 257, 1000, 5000}) {
      double walk = 0;
      const Buffer samples[] = {
          Numbers(type, count, [&](size_t) { return walk += noise(); }),
          Numbers(type, count, [&](size_t) { return std::round(noise() * 10) / 10; }),
          Numbers(type, count, [](size_t i) { return static_cast<double>(i * 12 + 5); }),
          Numbers(type, count, [](size_t) { return 7.0; }),
          Numbers(type, count, [&](size_t) { return 1.15078 * static_cast<double>(dice() % 9); }),
          Numbers(
              type, count,
              [&](size_t i) { return i % 50 == 7 ? 1e4 : 3.0 * static_cast<double>(dice() % 4); }),
      };
      for (size_t sample = 0; sample < std::size(samples); ++sample) {
        for (const size_t page : {size_t{300}, count}) {
          const auto back = RoundTrip(type, samples[sample], page, 8);
          ASSERT_TRUE(IsOk(back)) << "sample " << sample << " of " << count;
          EXPECT_TRUE(*back == samples[sample])
              << "sample " << sample << " of " << count << " of " << type.size << " bytes";
        }
      }
    }
  }
}

// Returns numbers that need all modes, some orders of deltas, and offsets of many widths.
std::vector<Buffer> Mixture(NumberType type) {
  std::mt19937_64 dice(9);
  const auto noise = [&] { return static_cast<double>(dice() % 2001) / 100 - 10; };
  double walk = 0;
  double speed = 0;
  std::vector<Buffer> mixture = {
      Numbers(type, 3000, [&](size_t) { return walk += noise(); }),
      Numbers(type, 3000, [&](size_t) { return std::round(noise() * 10) / 10; }),
      Numbers(type, 3000, [&](size_t) { return walk += (speed += noise()); }),
      Numbers(type, 3000, [&](size_t) { return 37.0 * static_cast<double>(dice() % 900); }),
      Numbers(type, 3000, [&](size_t) { return static_cast<float>(noise() / 7); }),
      Numbers(type, 3000, [&](size_t i) { return static_cast<double>(dice() % (1 + i % 700)); })};
  Buffer& random = mixture.emplace_back(3000 * static_cast<size_t>(type.size));
  for (std::byte& byte : random) byte = static_cast<std::byte>(dice());
  // Multiples among NaNs, infinities and others.
  Buffer& mixed = mixture.emplace_back(mixture[1]);
  std::copy_n(random.begin(), random.size() / 10, mixed.begin());
  return mixture;
}

TEST(PcoRoundTripTest, StreamsAndNumbersAreTheSameWithAllInstructions) {
  for (const NumberType type : kTypes) {
    for (const Buffer& numbers : Mixture(type)) {
      std::optional<Buffer> first;
      for (int64_t left = SupportedTargets(); left != 0; left &= left - 1) {
        SetSupportedTargetsForTest(left & -left);
        const Buffer stream = Encode(type, numbers, 1000, 8);
        const auto back = RoundTrip(type, numbers, 1000, 8);
        SetSupportedTargetsForTest(0);
        if (!first) first = stream;
        EXPECT_TRUE(stream == *first) << type.size;
        ASSERT_TRUE(IsOk(back));
        EXPECT_TRUE(*back == numbers) << type.size;
      }
    }
  }
}

TEST(PcoRoundTripTest, AllBitsOfAFloatSurvive) {
  std::mt19937_64 dice(2);
  for (const NumberType type : kTypes) {
    if (type.kind != NumberKind::kFloat) continue;
    // Decimals, so that a mode with a base is chosen, among any bits at all: NaNs with payloads,
    // infinities, negative zeros, denormals.
    Buffer numbers =
        Numbers(type, 4000, [&](size_t) { return static_cast<double>(dice() % 500) / 100; });
    const auto size = static_cast<size_t>(type.size);
    for (size_t i = 0; i < 4000; i += 50) {
      uint64_t bits = dice();
      if (i % 100 == 0) bits |= size == 2 ? 0x7C00 : size == 4 ? 0x7F800000 : 0x7FF0000000000000;
      if (i % 150 == 0) bits = uint64_t{1} << (8 * size - 1);
      std::byte little[8];
      StoreLe(little, bits);
      std::copy_n(little, size, numbers.data() + i * size);
    }
    const auto back = RoundTrip(type, numbers, 1024, 8);
    ASSERT_TRUE(IsOk(back));
    EXPECT_TRUE(*back == numbers) << type.size;
  }
}

TEST(PcoRoundTripTest, EveryHalfFloatSurvives) {
  Buffer numbers(65536 * 2);
  for (uint32_t i = 0; i < 65536; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    StoreLe(numbers.data() + size_t{i} * 2, bits);
    const float value = static_cast<float>(Half::FromBits(bits));
    if (!std::isnan(value)) {
      EXPECT_EQ(Half(value).bits(), bits);
    }
  }
  const auto back = RoundTrip({NumberKind::kFloat, 2}, numbers, 4096, 9);
  ASSERT_TRUE(IsOk(back));
  EXPECT_TRUE(*back == numbers);
}

std::vector<Mode> ModesFor(NumberType type, const Buffer& numbers) {
  std::vector<uint64_t> latents(numbers.size() / 8);
  for (size_t i = 0; i < latents.size(); ++i) {
    latents[i] = LatentOf<uint64_t>(type.kind, LoadLe<uint64_t>(numbers.data() + i * 8));
  }
  std::vector<Mode> modes;
  for (const Splitting& splitting : FindSplittings<uint64_t>(type.kind, latents)) {
    modes.push_back(splitting.mode);
  }
  return modes;
}

template <typename L>
void ExpectSorted(std::vector<L> latents) {
  std::vector<L> expected = latents;
  std::ranges::sort(expected);
  LatentSorter<L> sorter;
  sorter.Sort(latents);
  EXPECT_TRUE(latents == expected) << latents.size() << " of " << sizeof(L) << " bytes";
}

TEST(PcoSorterTest, SortsLatentsOfEveryDistribution) {
  std::mt19937_64 dice(5);
  const auto of_all_types = [](size_t count, const auto& value_of) {
    std::vector<uint64_t> latents(count);
    for (size_t i = 0; i < count; ++i) latents[i] = value_of(i);
    ExpectSorted(std::vector<uint8_t>(latents.begin(), latents.end()));
    ExpectSorted(std::vector<uint16_t>(latents.begin(), latents.end()));
    ExpectSorted(std::vector<uint32_t>(latents.begin(), latents.end()));
    ExpectSorted(latents);
  };
  for (const size_t count : {0, 1, 47, 48, 49, 1000, 20'000}) {
    of_all_types(count, [&](size_t) { return dice(); });
    of_all_types(count, [&](size_t) { return dice() >> dice() % 64; });
    of_all_types(count, [&](size_t) { return dice() % 2000 + (uint64_t{1} << 63); });
    of_all_types(count, [&](size_t) { return dice() % 50 * 0x0123456789ABCDEF; });
    of_all_types(count, [&](size_t) { return dice() % 380 * 0x0123456789ABCDEF; });
    of_all_types(count, [&](size_t i) { return i % 500 == 0 ? dice() : dice() % 10'000; });
    of_all_types(count, [&](size_t i) { return i % 300 == 0 ? dice() : uint64_t{0}; });
    of_all_types(count, [&](size_t i) { return i; });
  }
}

TEST(PcoSplitTest, FindsWhatNumbersAreMultiplesOf) {
  std::mt19937_64 dice(3);
  const NumberType floats = {NumberKind::kFloat, 8};
  const NumberType ints = {NumberKind::kInt, 8};
  const auto has = [](const std::vector<Mode>& modes, Mode mode) {
    return std::ranges::find(modes, mode) != modes.end();
  };
  const auto at_random = [&](double base, NumberType type) {
    return Numbers(type, 1000, [&](size_t) { return base * static_cast<double>(dice() % 5000); });
  };
  EXPECT_TRUE(has(ModesFor(floats, at_random(0.01, floats)), Mode::kFloatMult));
  EXPECT_TRUE(has(ModesFor(floats, at_random(1.15078, floats)), Mode::kFloatMult));
  EXPECT_TRUE(has(ModesFor(floats, at_random(std::exp(1.0), floats)), Mode::kFloatMult));
  EXPECT_TRUE(has(ModesFor(ints, at_random(37, ints)), Mode::kIntMult));
  EXPECT_FALSE(has(ModesFor(ints, at_random(1, ints)), Mode::kIntMult));
  const Buffer noise =
      Numbers(floats, 1000, [&](size_t) { return std::ldexp(static_cast<double>(dice()), -64); });
  EXPECT_EQ(ModesFor(floats, noise).size(), 1U);
  const Buffer singles = Numbers(floats, 1000, [&](size_t) {
    return static_cast<double>(static_cast<float>(dice() % 100000) / 7.0F);
  });
  EXPECT_TRUE(has(ModesFor(floats, singles), Mode::kFloatQuant));
}

TEST(PcoSizeTest, StepsOfAWalkTakeTheBitsOfTheirInformation) {
  std::mt19937_64 dice(4);
  const NumberType type = {NumberKind::kInt, 8};
  double walk = 1000;
  const Buffer numbers = Numbers(
      type, 8192, [&](size_t) { return walk += 100 * (static_cast<double>(dice() % 101) - 50); });
  // A step is one of 101, so no code of it has fewer than 6.66 bits.
  EXPECT_LT(Encode(type, numbers, 8192, 8).size(), 8192 * 7.1 / 8);
}

TEST(PcoStreamTest, ComesBackWhateverTheParameterSaysOfTheNumbers) {
  const auto codec = codec::MakePco();
  for (const int size : {1, 2, 4, 8}) {
    for (uint8_t meta = 0; meta < 6; ++meta) {
      const Buffer numbers = Numbers({NumberKind::kInt, size}, 1000,
                                     [](size_t i) { return static_cast<double>(i % 100); });
      Buffer stream(numbers.size());
      const PluginCall call = {.typesize = size, .clevel = 5, .meta = meta};
      const auto coded = codec->Compress(numbers, stream, call);
      ASSERT_TRUE(IsOk(coded));
      ASSERT_GT(*coded, 0U);
      stream.resize(*coded);
      Buffer back(numbers.size());
      ASSERT_TRUE(IsOk(codec->Decompress(stream, back, call))) << size << " " << int{meta};
      EXPECT_TRUE(back == numbers);
    }
  }
}

// Records of five columns: a number, bytes, two numbers, three neighbours and a byte.
const ItemColumn kColumns[] = {{.kind = 3, .size = 8},
                               {.kind = 0, .count = 5},
                               {.kind = 2, .size = 4},
                               {.kind = 1, .size = 2},
                               {.kind = 3, .size = 4, .count = 3},
                               {.kind = 0}};
constexpr size_t kRecord = 8 + 5 + 4 + 2 + 12 + 1;

Buffer Records(size_t count) {
  std::mt19937_64 dice(6);
  Buffer records(count * kRecord);
  double walk = 100;
  for (size_t i = 0; i < count; ++i) {
    std::byte* const at = records.data() + i * kRecord;
    walk += std::round(static_cast<double>(dice() % 200) - 100) / 100;
    StoreLe(at, walk);
    CopyBytes(AsBytes(i % 3 == 0 ? "north" : "south"), {at + 8, 5});
    StoreLe(at + 13, static_cast<int32_t>(i * 3));
    StoreLe(at + 17, static_cast<uint16_t>(dice() % 1000));
    for (const int j : {0, 1, 2}) StoreLe(at + 19 + 4 * j, static_cast<float>(walk + 10 * j));
    at[31] = static_cast<std::byte>(dice() % 2);
  }
  return records;
}

class PcoColumnsTest : public testing::Test {
 protected:
  PcoColumnsTest() { codec_->UseColumns(kColumns); }

  Buffer Compressed(Bytes records) {
    Buffer stream(records.size());
    stream.resize(codec_->Compress(records, stream, kCall).value());
    return stream;
  }

  static constexpr PluginCall kCall = {.typesize = kRecord, .clevel = 5};
  std::unique_ptr<codec::StreamCodec> codec_ = codec::MakePco();
};

TEST_F(PcoColumnsTest, RecordsComeBackAsTheyWere) {
  for (const size_t count : {1, 2, 100, 1000, 5000}) {
    for (const size_t cut : {size_t{0}, size_t{1}, kRecord - 1}) {
      Buffer records = Records(count + 1);
      records.resize(records.size() - kRecord + cut);
      const Buffer stream = Compressed(records);
      if (count < 100) continue;  // so few may take more bytes than they have
      ASSERT_GT(stream.size(), 0U);
      EXPECT_LT(stream.size(), records.size() / 2);
      Buffer back(records.size());
      ASSERT_TRUE(IsOk(codec_->Decompress(stream, back, kCall)));
      EXPECT_TRUE(back == records) << count << " records and " << cut << " bytes";
    }
  }
}

TEST_F(PcoColumnsTest, PartsAreThoseOfTheWhole) {
  const Buffer records = Records(5000);
  const Buffer stream = Compressed(records);
  std::mt19937_64 dice(7);
  for (int i = 0; i < 200; ++i) {
    const size_t first = dice() % 5000;
    const size_t count = dice() % (5000 - first) + 1;
    const FieldSpan fields[] = {
        {.offset = 13, .size = 4, .dst = {}},
        {.offset = static_cast<int32_t>(dice() % 5 + 8), .size = 1, .dst = {}},
        {.offset = 23, .size = 4, .dst = {}}};
    Buffer back(records.size());
    const codec::StreamPart part = {.begin = first * kRecord,
                                    .end = (first + count) * kRecord,
                                    .item_size = kRecord,
                                    .fields = std::span(fields).first(dice() % 4)};
    ASSERT_TRUE(IsOk(codec_->DecompressPart(stream, back, part, kCall)));
    for (size_t at = first * kRecord; at < (first + count) * kRecord; ++at) {
      if (part.Wants(kRecord, at % kRecord, 1)) {
        ASSERT_EQ(back[at], records[at]) << at;
      }
    }
  }
}

TEST_F(PcoColumnsTest, DamageInAColumnIsNotSeenByTheOthers) {
  const Buffer records = Records(2000);
  Buffer stream = Compressed(records);
  std::fill(stream.end() - 300, stream.end() - 260, std::byte{0xFF});
  Buffer back(records.size());
  EXPECT_FALSE(codec_->Decompress(stream, back, kCall).ok() && back == records);
  const FieldSpan first = {.offset = 0, .size = 8, .dst = {}};
  ASSERT_TRUE(IsOk(codec_->DecompressPart(
      stream, back, {.end = back.size(), .item_size = kRecord, .fields = {&first, 1}}, kCall)));
  for (size_t at = 0; at < back.size(); at += kRecord) {
    ASSERT_TRUE(std::equal(back.begin() + static_cast<int64_t>(at),
                           back.begin() + static_cast<int64_t>(at) + 8,
                           records.begin() + static_cast<int64_t>(at)));
  }
}

}  // namespace
}  // namespace cairn::pco
