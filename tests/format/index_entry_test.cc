#include "engine/format/index_entry.h"

#include <vector>

#include <gtest/gtest.h>

#include "cairn/chunk.h"
#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "tests/support/hex.h"
#include "tests/support/status.h"

namespace cairn::format {
namespace {

using Entries = std::vector<int64_t>;

std::vector<std::byte> Encode(const Entries& entries) {
  chunk::WorkspacePool pool;
  const auto bytes = EncodeIndex(entries, &pool);
  EXPECT_TRUE(IsOk(bytes));
  return bytes.value_or(std::vector<std::byte>());
}

Entries Decode(Bytes index) {
  std::vector<std::byte> raw(static_cast<size_t>(InspectChunk(index)->nbytes));
  EXPECT_TRUE(IsOk(DecompressChunk(index, raw)));
  Entries entries;
  for (size_t i = 0; i < raw.size(); i += 8) {
    entries.push_back(static_cast<int64_t>(LoadLe<uint64_t>(raw.data() + i)));
  }
  return entries;
}

constexpr int64_t Entry(uint64_t bits) { return static_cast<int64_t>(bits); }

TEST(IndexEntryTest, HasThreeCodesOfSpecialValues) {
  EXPECT_EQ(EntryOfSpecial(SpecialValue::kZeros), Entry(0x8100000000000000));
  EXPECT_EQ(EntryOfSpecial(SpecialValue::kNans), Entry(0x8200000000000000));
  EXPECT_EQ(EntryOfSpecial(SpecialValue::kUninit), Entry(0x8400000000000000));
  for (const SpecialValue special :
       {SpecialValue::kZeros, SpecialValue::kNans, SpecialValue::kUninit}) {
    EXPECT_TRUE(IsSpecialEntry(EntryOfSpecial(special)));
    EXPECT_EQ(*SpecialOfEntry(EntryOfSpecial(special)), special);
  }
  EXPECT_FALSE(IsSpecialEntry(0));
}

TEST(IndexEntryTest, RefusesOtherCodes) {
  for (const uint64_t bits : {0x8000000000000000, 0x8300000000000000, 0xC100000000000000,
                              0x8100000000000001, 0xFFFFFFFFFFFFFFFF}) {
    EXPECT_TRUE(IsDamage(SpecialOfEntry(Entry(bits)), "index entry 0x"));
  }
  EXPECT_TRUE(IsDamage(SpecialOfEntry(Entry(0x8300000000000000)), "0x8300000000000000"));
}

TEST(EncodeIndexTest, WritesTheMinimalIndexOfTheFormat) {
  // But for the bit that says that blocks are not split, where there are none.
  EXPECT_EQ(ToHex(Encode({0})), ToHex(Hex("05 01 17 08 08 00 00 00 08 00 00 00 28 00 00 00"
                                          "00 00 00 00 00 01 00 00 00 00 00 00 00 00 00 00"
                                          "00 00 00 00 00 00 00 00")));
}

TEST(EncodeIndexTest, WritesOneValueWhereAllChunksAreTheSameSpecial) {
  const Entries zeros(3000, EntryOfSpecial(SpecialValue::kZeros));
  const std::vector<std::byte> index = Encode(zeros);
  ASSERT_EQ(index.size(), 40u);
  EXPECT_EQ(ToHex(Bytes(index).first(2)), "0501");
  EXPECT_EQ(index[2] & std::byte{0x0F}, std::byte{0x05});
  EXPECT_EQ(ToHex(Bytes(index).subspan(3, 13)), ToHex(Hex("08 c05d0000 00400000 28000000")));
  EXPECT_EQ(ToHex(Bytes(index).subspan(0x1F)), ToHex(Hex("30 00 00 00 00 00 00 00 81")));
  EXPECT_EQ(Decode(index), zeros);
  const Entries one(1, EntryOfSpecial(SpecialValue::kNans));
  EXPECT_EQ(ToHex(Bytes(Encode(one)).subspan(4, 8)), ToHex(Hex("08000000 08000000")));
  EXPECT_EQ(Decode(Encode(one)), one);
}

TEST(EncodeIndexTest, WritesNoSpecialChunkOfOffsets) {
  // A chunk of zeros would be an index of one chunk again and again; entries may repeat all the
  // same.
  for (const Entries& entries : {Entries(100, 0), Entries(100, 64), Entries(5000, 0)}) {
    const std::vector<std::byte> index = Encode(entries);
    EXPECT_EQ(InspectChunk(index)->special, SpecialValue::kNone);
    EXPECT_EQ(Decode(index), entries);
  }
}

TEST(EncodeIndexTest, KeepsWhatReadersRelyOn) {
  for (const size_t count : {1, 2, 3, 4, 5, 2047, 2048, 2049, 10000}) {
    Entries entries;
    for (size_t i = 0; i < count; ++i) {
      entries.push_back(i % 7 == 3 ? EntryOfSpecial(SpecialValue::kUninit)
                                   : static_cast<int64_t>(i * i * 1000003 % (int64_t{1} << 40)));
    }
    const std::vector<std::byte> index = Encode(entries);
    const auto info = InspectChunk(index);
    EXPECT_EQ(info->typesize, 8);
    EXPECT_EQ(info->nbytes, static_cast<int32_t>(8 * count));
    EXPECT_EQ(info->blocksize % 8, 0);
    EXPECT_LE(info->blocksize, kIndexBlockSize);
    EXPECT_EQ(info->codec, Codec::kBloscLz);
    EXPECT_FALSE(info->split);
    EXPECT_FALSE(info->has_dict);
    EXPECT_EQ(Decode(index), entries);
  }
}

}  // namespace
}  // namespace cairn::format
