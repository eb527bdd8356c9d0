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
#include "tests/codec/number_samples.h"
#include "tests/codec/vector_folder.h"
#include "tests/support/files.h"
#include "tests/support/pco_file.h"
#include "tests/support/status.h"

namespace cairn::pco {
namespace {

using test::Buffer;
using test::kNumberTypes;
using test::Mixture;
using test::Numbers;

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

TEST(PcoVectorsTest, PartsOfPagesAreThoseOfTheWhole) {
  for (const Vector& vector : Vectors()) {
    const Buffer file = test::FileBytes(kFolder + vector.name);
    for (const size_t part : {1, 7, 255, 256, 299}) {
      const auto numbers = test::DecodePcoFile(file, 1 << 20, part);
      ASSERT_TRUE(IsOk(numbers)) << vector.name << " in parts of " << part;
      EXPECT_EQ(absl::StrFormat("%016x", Xxh3(*numbers)), vector.hash)
          << vector.name << " in parts of " << part;
    }
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
    const MutableBytes decoded =
        std::span(out).subspan(begin).first(std::min(size, out.size() - begin));
    CAIRN_RETURN_IF_ERROR(
        decoder->DecodePage(in, decoded.size() / static_cast<size_t>(type.size), 0, decoded));
  }
  if (in.bits_left() != 0) return DataLoss("%d bits are left", in.bits_left());
  return out;
}

TEST(PcoRoundTripTest, AnyPartOfAPageIsDecodedAlone) {
  constexpr size_t kCount = 1000;
  constexpr size_t kEdges[] = {0,   1,   2,   100, 255, 256, 257, 511,
                               512, 513, 700, 768, 998, 999, 1000};
  for (const NumberType type : kNumberTypes) {
    const auto size = static_cast<size_t>(type.size);
    for (const Buffer& mixture : Mixture(type)) {
      const Bytes numbers = Bytes(mixture).first(kCount * size);
      Buffer stream = Encode(type, numbers, kCount, 8);
      stream.resize(stream.size() + kPadding);
      BitReader description(stream);
      auto meta = ReadChunkMeta({}, type, description);
      ASSERT_TRUE(meta.ok()) << meta.status();
      const auto decoder = ChunkDecoder::Make(type.size);
      decoder->BeginChunk(type.kind, *std::move(meta));
      for (const size_t begin : kEdges) {
        for (const size_t end : kEdges) {
          if (end < begin) continue;
          BitReader page = description;
          Buffer got((end - begin) * size);
          ASSERT_TRUE(IsOk(decoder->DecodePage(page, kCount, begin, got)));
          EXPECT_TRUE(std::ranges::equal(got, numbers.subspan(begin * size, got.size())))
              << begin << " to " << end << " of " << size << " bytes";
          if (end == kCount) {
            EXPECT_EQ(page.bits_left(), 0) << begin;
          }
        }
      }
    }
  }
}

// Makes a variable of a few bins, whose offsets have up to `most` bits.
LatentVar AnyVariable(std::mt19937_64& dice, int bits, int most) {
  LatentVar var = {.bits = bits, .table_log = static_cast<int>(dice() % 7)};
  for (uint32_t left = uint32_t{1} << var.table_log; left > 0; left -= var.bins.back().weight) {
    var.bins.push_back({.weight = 1 + static_cast<uint32_t>(dice() % left),
                        .lower = dice() >> (64 - bits),
                        .offset_bits = static_cast<int>(dice() % static_cast<uint64_t>(most + 1))});
  }
  return var;
}

TEST(PcoPagesTest, PartsOfAnyPageAreThoseOfTheWhole) {
  constexpr size_t kCount = 700;
  constexpr size_t kEnd = kCount - 1;  // any bits may be set after the last number
  std::mt19937_64 dice(6);
  int pages = 0;
  for (int i = 0; i < 400; ++i) {
    const NumberType type = kNumberTypes[dice() % std::size(kNumberTypes)];
    const auto size = static_cast<size_t>(type.size);
    const int bits = 8 * type.size;
    const int most = static_cast<int>(dice() % 2 * (dice() % static_cast<uint64_t>(bits + 1)));
    ChunkMeta meta = {.order = static_cast<int>(dice() % 3)};
    if (meta.order > 0) meta.delta = Delta::kConsecutive;
    meta.primary = AnyVariable(dice, bits, most);
    meta.primary.has_deltas = meta.order > 0;
    if (dice() % 2 == 0) {
      meta.mode = Mode::kIntMult;
      meta.mult = dice() % 100;
      meta.secondary = AnyVariable(dice, bits, dice() % 2 == 0 ? 0 : bits);
    }
    Buffer page(kCount * 2 * (size + 1) + 100 + kPadding);
    for (std::byte& byte : page) byte = static_cast<std::byte>(dice());
    const auto decoder = ChunkDecoder::Make(type.size);
    decoder->BeginChunk(type.kind, meta);
    // Returns nothing if bits are set between the states and the first batch.
    const auto part = [&](size_t begin, size_t end) {
      Buffer got((end - begin) * size);
      BitReader in(page);
      if (!decoder->DecodePage(in, kCount, begin, got).ok()) got.clear();
      return got;
    };
    const Buffer whole = part(0, kEnd);
    if (whole.empty()) continue;
    ++pages;
    for (const size_t begin : {0, 1, 100, 254, 255, 256, 511, 512, 600, 697}) {
      for (const size_t end : {begin + 1, begin + 2, std::min<size_t>(begin + 300, kEnd)}) {
        EXPECT_TRUE(std::ranges::equal(part(begin, end),
                                       Bytes(whole).subspan(begin * size, (end - begin) * size)))
            << begin << " to " << end << " of " << size << " bytes";
      }
    }
  }
  EXPECT_GT(pages, 100);
}

TEST(PcoRoundTripTest, NumbersOfEveryTypeComeBackAsTheyWere) {
  std::mt19937_64 dice(1);
  const auto noise = [&] { return static_cast<double>(dice() % 2001) / 100 - 10; };
  for (const NumberType type : kNumberTypes) {
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

TEST(PcoRoundTripTest, StreamsAndNumbersAreTheSameWithAllInstructions) {
  for (const NumberType type : kNumberTypes) {
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
  for (const NumberType type : kNumberTypes) {
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

}  // namespace
}  // namespace cairn::pco
