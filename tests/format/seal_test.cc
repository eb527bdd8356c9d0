#include "engine/format/seal.h"

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "engine/base/binary_value.h"
#include "engine/base/byte_writer.h"
#include "engine/base/bytes.h"
#include "engine/base/hash.h"
#include "tests/support/hex.h"
#include "tests/support/status.h"

namespace cairn::format {
namespace {

Seal SampleSeal() {
  Seal seal;
  seal.nonce = 0x1122334455667788;
  seal.generation = 7;
  seal.previous_end = 1000;
  seal.oldest_generation = 3;
  seal.dead_bytes = -1;
  seal.uncovered = 2;
  seal.type = FingerprintType::k128Bit;
  seal.header_hash = 0xAABB;
  seal.index_hash = 0xCCDD;
  seal.header_copy = Hex("9e a8 62");
  seal.pages = {5, 5, 5, 6, 5};
  seal.space.free = {{100, 200}, {300, 350}};
  seal.space.dead = {{.bytes = {200, 260}, .born = 5, .died = 7}};
  seal.journal = {.generation = 7, .begin = 2000, .base = 0xEE, .last = 0xFF, .since = 4};
  return seal;
}

void ExpectSame(const Seal& a, const Seal& b) {
  EXPECT_EQ(a.nonce, b.nonce);
  EXPECT_EQ(a.generation, b.generation);
  EXPECT_EQ(a.previous_end, b.previous_end);
  EXPECT_EQ(a.oldest_generation, b.oldest_generation);
  EXPECT_EQ(a.dead_bytes, b.dead_bytes);
  EXPECT_EQ(a.uncovered, b.uncovered);
  EXPECT_EQ(a.type, b.type);
  EXPECT_EQ(a.header_hash, b.header_hash);
  EXPECT_EQ(a.index_hash, b.index_hash);
  EXPECT_EQ(a.header_copy, b.header_copy);
  EXPECT_EQ(a.pages, b.pages);
  EXPECT_EQ(a.space, b.space);
  EXPECT_EQ(a.journal, b.journal);
}

// From the length of the header on to the runs.
constexpr char kStart[] =
    "03 00 00 00"
    "88 77 66 55 44 33 22 11  07 00 00 00 00 00 00 00"
    "e8 03 00 00 00 00 00 00  03 00 00 00 00 00 00 00"
    "ff ff ff ff ff ff ff ff  02 00 00 00 00 00 00 00"
    "03 00 00 00 00 00 00 00  bb aa 00 00 00 00 00 00"
    "dd cc 00 00 00 00 00 00  9e a8 62"
    "03 00 00 00"
    "03 00 00 00  05 00 00 00 00 00 00 00"
    "01 00 00 00  06 00 00 00 00 00 00 00"
    "01 00 00 00  05 00 00 00 00 00 00 00";

constexpr char kJournal[] =
    "01 00 00 00  d0 07 00 00 00 00 00 00"
    "ee 00 00 00 00 00 00 00  ff 00 00 00 00 00 00 00"
    "04 00 00 00 00 00 00 00";

constexpr char kSpace[] =
    "02 00 00 00  64 64  64 32"
    "01 00 00 00  c8 01 3c 00 03";

// The space list of versions 2 and 3.
constexpr char kWideSpace[] =
    "02 00 00 00"
    "64 00 00 00 00 00 00 00  64 00 00 00 00 00 00 00"
    "2c 01 00 00 00 00 00 00  32 00 00 00 00 00 00 00"
    "01 00 00 00"
    "c8 00 00 00 00 00 00 00  3c 00 00 00 00 00 00 00"
    "05 00 00 00 00 00 00 00  07 00 00 00 00 00 00 00";

TEST(SealTest, LiesInTheFileAsDescribed) {
  EXPECT_EQ(ToHex(EncodeSeal(SampleSeal())),
            ToHex(Hex(absl::StrCat("c6 00 00 00 b0  05 00 00 00", kStart, kSpace, kJournal))));
}

TEST(SealTest, CountsThatCannotBeAreDamage) {
  Seal seal = SampleSeal();
  seal.dead_bytes = -2;
  EXPECT_EQ(ParseSeal(EncodeSeal(seal), 50).status().code(), absl::StatusCode::kDataLoss);
  seal = SampleSeal();
  seal.generation = kMaxGeneration + 1;
  EXPECT_EQ(ParseSeal(EncodeSeal(seal), 50).status().code(), absl::StatusCode::kDataLoss);
  seal = SampleSeal();
  seal.uncovered = -1;
  EXPECT_EQ(ParseSeal(EncodeSeal(seal), 50).status().code(), absl::StatusCode::kDataLoss);
  seal = SampleSeal();
  seal.uncovered = 50 * kPageEntries + 1;
  EXPECT_EQ(ParseSeal(EncodeSeal(seal), 50).status().code(), absl::StatusCode::kDataLoss);
  seal = SampleSeal();
  seal.chunksize = -1;
  EXPECT_EQ(ParseSeal(EncodeSeal(seal), 50).status().code(), absl::StatusCode::kDataLoss);
}

TEST(SealTest, ParsingUndoesEncoding) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 300; ++i) {
    Seal seal;
    seal.nonce = random();
    seal.generation = random() % kMaxGeneration;
    seal.previous_end = static_cast<int64_t>(random());
    seal.oldest_generation = random() % kMaxGeneration;
    seal.dead_bytes = static_cast<int64_t>(random() >> 1) - 1;
    seal.uncovered = static_cast<int64_t>(random() % (50 * kPageEntries));
    seal.chunksize = static_cast<int32_t>(random() % kMaxChunkBytes);
    seal.type = static_cast<FingerprintType>(random() % 4);
    seal.header_hash = random();
    seal.index_hash = random();
    seal.header_copy.resize(random() % 200, std::byte{1});
    for (size_t n = random() % 50; n > 0; --n) seal.pages.push_back(random() % 2 * random());
    const auto parsed = ParseSeal(EncodeSeal(seal), 50);
    ASSERT_TRUE(IsOk(parsed));
    ExpectSame(*parsed, seal);
  }
}

TEST(SealTest, EqualPagesTakeOneRun) {
  Seal seal;
  const size_t empty = EncodeSeal(seal).size();
  seal.pages.assign(100000, 42);
  EXPECT_EQ(EncodeSeal(seal).size(), empty + 12);
  EXPECT_EQ(ParseSeal(EncodeSeal(seal), 100000)->pages, seal.pages);
}

TEST(SealTest, NeverExpandsToMorePagesThanTheFrameHas) {
  const std::vector<std::byte> bytes = EncodeSeal(SampleSeal());
  EXPECT_TRUE(IsOk(ParseSeal(bytes, 5)));
  EXPECT_TRUE(IsDamage(ParseSeal(bytes, 4), "seal: page count"));
  EXPECT_TRUE(IsDamage(ParseSeal(bytes, 4), "more than 4 pages"));
  EXPECT_TRUE(IsDamage(ParseSeal(bytes, 0), "seal: page count"));
  Seal huge;
  huge.pages = {1};
  std::vector<std::byte> run = EncodeSeal(huge);
  CopyBytes(Hex("ff ff ff ff"), MutableBytes(run).last(12 + 8 + 4));
  EXPECT_TRUE(IsDamage(ParseSeal(run, 1000), "seal: page count")) << "32 GiB of pages";
}

TEST(SealTest, ChecksFieldsByName) {
  const auto with = [](size_t at, std::string_view hex) {
    std::vector<std::byte> bytes = EncodeSeal(SampleSeal());
    CopyBytes(Hex(hex), MutableBytes(bytes).subspan(kBinaryHead + at));
    return ParseSeal(bytes, 5);
  };
  EXPECT_TRUE(Fails(with(0, "06"), absl::StatusCode::kUnimplemented, "seal: version 6"));
  EXPECT_TRUE(IsDamage(with(4, "ff ff ff ff"), "seal: header copy"));
  EXPECT_TRUE(IsDamage(with(56, "04"), "seal: fingerprint type"));
  EXPECT_TRUE(IsDamage(with(83, "04"), "seal: page count"));
}

TEST(SealTest, OlderVersionsAreRead) {
  Seal seal = SampleSeal();
  const auto parse = [](const std::string& hex) { return ParseSeal(Hex(hex), 5); };
  const auto fourth = parse(absl::StrCat("04 00 00 00", kStart, kSpace, kJournal));
  ASSERT_TRUE(IsOk(fourth));
  ExpectSame(*fourth, seal);
  const auto third = parse(absl::StrCat("03 00 00 00", kStart, kWideSpace, kJournal));
  ASSERT_TRUE(IsOk(third));
  ExpectSame(*third, seal);
  seal.journal.reset();
  const auto second = parse(absl::StrCat("02 00 00 00", kStart, kWideSpace));
  ASSERT_TRUE(IsOk(second));
  ExpectSame(*second, seal);
  seal.space = {};
  const auto first = parse(absl::StrCat("01 00 00 00", kStart));
  ASSERT_TRUE(IsOk(first));
  ExpectSame(*first, seal);
}

TEST(SealTest, ListsOfSpaceTakeNoMoreThanIsSaid) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 300; ++i) {
    Seal seal;
    seal.generation = random() >> (3 + random() % 60);
    const size_t without = EncodeSeal(seal).size();
    const uint64_t widest = uint64_t{1} << (1 + random() % 40);
    int64_t end = 0;
    const auto next = [&] {
      const int64_t begin = end + static_cast<int64_t>(random() % widest);
      end = begin + 1 + static_cast<int64_t>(random() % widest);
      return Extent{begin, end};
    };
    for (uint64_t n = random() % 40; n > 0; --n) seal.space.free.push_back(next());
    int64_t last = std::exchange(end, 0);
    for (uint64_t n = random() % 40; n > 0; --n) {
      const uint64_t died = random() % (seal.generation + 1);
      seal.space.dead.push_back({.bytes = next(), .born = random() % (died + 1), .died = died});
    }
    last = std::max(last, std::exchange(end, 0));
    for (uint64_t n = random() % 40; n > 0; --n) {
      seal.space.born.push_back({.bytes = next(), .generation = random() % (seal.generation + 1)});
    }
    last = std::max(last, end);
    const auto taken = static_cast<int64_t>(EncodeSeal(seal).size() - without) + 8;
    EXPECT_LE(taken, SpaceList::MostBytes(std::ssize(seal.space.free), std::ssize(seal.space.dead),
                                          std::ssize(seal.space.born), last, seal.generation));
    const auto parsed = ParseSeal(EncodeSeal(seal), 5);
    ASSERT_TRUE(IsOk(parsed));
    EXPECT_EQ(parsed->space, seal.space);
  }
}

TEST(SealTest, JournalIsInheritedOrNot) {
  const auto with = [](size_t before_end, std::string_view hex) {
    std::vector<std::byte> bytes = EncodeSeal(SampleSeal());
    CopyBytes(Hex(hex), MutableBytes(bytes).subspan(bytes.size() - before_end));
    return ParseSeal(bytes, 5);
  };
  EXPECT_TRUE(IsDamage(with(4 * 8 + 4, "02"), "seal: journal at byte 149: 2 is neither"));
  EXPECT_TRUE(IsDamage(with(3 * 8 + 1, "ff"), "seal: journal at byte 181: begins at byte -"));
}

TEST(SealTest, ExtentsAreInOrderAndDoNotOverlap) {
  const auto parse = [](const SpaceList& space) {
    Seal seal = SampleSeal();
    seal.space = space;
    return ParseSeal(EncodeSeal(seal), 5);
  };
  EXPECT_TRUE(IsOk(parse({.free = {{0, 10}, {10, 20}}, .dead = {}})));
  EXPECT_TRUE(IsDamage(parse({.free = {{0, 10}, {9, 20}}, .dead = {}}), "seal: space"));
  EXPECT_TRUE(IsDamage(parse({.free = {{30, 40}, {9, 20}}, .dead = {}}), "seal: space"));
  EXPECT_TRUE(IsDamage(parse({.free = {{10, 10}}, .dead = {}}), "seal: space"));
  EXPECT_TRUE(IsDamage(parse({.free = {{-1, 10}}, .dead = {}}), "seal: space"));
  EXPECT_TRUE(IsDamage(parse({.free = {{9, 4}}, .dead = {}}), "seal: space"));
  const DeadExtent dead = {.bytes = {10, 20}, .born = 2, .died = 3};
  EXPECT_TRUE(IsOk(parse({.free = {{10, 20}}, .dead = {dead}})));
  EXPECT_TRUE(IsDamage(parse({.free = {}, .dead = {dead, dead}}), "seal: space"));
  EXPECT_TRUE(IsDamage(parse({.free = {}, .dead = {{.bytes = {1, 2}, .born = 4, .died = 2}}}),
                       "seal: space"));
  const uint64_t next = SampleSeal().generation + 1;
  EXPECT_TRUE(IsDamage(parse({.free = {}, .dead = {{.bytes = {1, 2}, .born = 3, .died = next}}}),
                       "seal: space"))
      << "it would have died after the checkpoint that says so";
}

TEST(SealTest, RefusesEveryTruncation) {
  const std::vector<std::byte> bytes = EncodeSeal(SampleSeal());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::vector<std::byte> part(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_TRUE(IsDamage(ParseSeal(part, 5), "seal: ")) << size;
  }
}

TEST(SealTest, AnswersEveryFlippedBit) {
  const std::vector<std::byte> bytes = EncodeSeal(SampleSeal());
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::vector<std::byte> flipped = bytes;
    flipped[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_TRUE(IsOkOrRefusal(ParseSeal(flipped, 1000).status())) << "bit " << bit;
  }
}

TEST(HashPageTest, IsTheHashOfAllPartsInOrder) {
  EXPECT_EQ(HashPage(AsBytes("entries"), AsBytes("prints"), AsBytes("sizes")),
            Xxh3(AsBytes("entriesprintssizes")));
  EXPECT_NE(HashPage(AsBytes("a"), AsBytes("b"), {}), HashPage(AsBytes("b"), AsBytes("a"), {}));
  EXPECT_EQ(HashPage({}, {}, {}), Xxh3({}));
}

TEST(HashChunkTest, IsXxh3AndNeverZero) {
  EXPECT_EQ(HashChunk(AsBytes("chunk")), Xxh3(AsBytes("chunk")));
  EXPECT_NE(HashChunk({}), 0u);
}

}  // namespace
}  // namespace cairn::format
