#include "engine/chunk/header.h"

#include <random>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "tests/support/hex.h"
#include "tests/support/status.h"

namespace cairn::chunk {
namespace {

// 64 zero bytes of typesize 4 in one block: its position, and a run.
constexpr std::string_view kRegular =
    "05 01 15 04  40 00 00 00  40 00 00 00  28 00 00 00"
    "00 00 00 00 00 01  00 00  00 00 00 00 00 00  00 00"
    "24 00 00 00  00 00 00 00";

struct Edit {
  size_t at;
  std::string_view bytes;
};

std::vector<std::byte> With(std::string_view chunk, std::initializer_list<Edit> edits) {
  std::vector<std::byte> bytes = Hex(chunk);
  for (const Edit& edit : edits) CopyBytes(Hex(edit.bytes), MutableBytes(bytes).subspan(edit.at));
  return bytes;
}

absl::StatusOr<Header> ParseWith(std::initializer_list<Edit> edits) {
  return ParseHeader(With(kRegular, edits));
}

Header Parsed(std::initializer_list<Edit> edits) {
  const absl::StatusOr<Header> header = ParseWith(edits);
  EXPECT_TRUE(IsOk(header));
  return header.value_or(Header());
}

constexpr Edit Version(std::string_view hex) { return {0x00, hex}; }
constexpr Edit Flags(std::string_view hex) { return {0x02, hex}; }
constexpr Edit Typesize(std::string_view hex) { return {0x03, hex}; }
constexpr Edit Nbytes(std::string_view hex) { return {0x04, hex}; }
constexpr Edit BlockSize(std::string_view hex) { return {0x08, hex}; }
constexpr Edit Cbytes(std::string_view hex) { return {0x0C, hex}; }
constexpr Edit Flags2(std::string_view hex) { return {0x1E, hex}; }
constexpr Edit Special(std::string_view hex) { return {0x1F, hex}; }

TEST(ParseHeaderTest, ReadsEveryFieldOfAnExtendedHeader) {
  const auto header =
      ParseHeader(Hex("05 01 95 04  40 00 00 00  20 00 00 00  30 00 00 00"
                      "24 03 00 00 00 01  05 07  11 12 13 14 15 16  00 81"
                      "28 00 00 00 2c 00 00 00 00 00 00 00 00 00 00 00"));
  ASSERT_TRUE(IsOk(header));
  EXPECT_EQ(header->version, 5);
  EXPECT_TRUE(header->extended);
  EXPECT_FALSE(header->memcpyed);
  EXPECT_TRUE(header->unsplit);
  EXPECT_EQ(header->format_code, 4);
  EXPECT_EQ(header->typesize, 4);
  EXPECT_EQ(header->nbytes, 64);
  EXPECT_EQ(header->blocksize, 32);
  EXPECT_EQ(header->cbytes, 48);
  EXPECT_EQ(header->filters[0], (FilterStage{Filter::kIntTrunc, 0x11}));
  EXPECT_EQ(header->filters[1], (FilterStage{Filter::kDelta, 0x12}));
  EXPECT_EQ(header->filters[5], (FilterStage{Filter::kShuffle, 0x16}));
  EXPECT_EQ(header->codec_id, 5);
  EXPECT_EQ(header->codec_meta, 7);
  EXPECT_FALSE(header->vlblocks);
  EXPECT_TRUE(header->has_dict);
  EXPECT_TRUE(header->instrumented);
  EXPECT_EQ(header->special, SpecialValue::kNone);
  EXPECT_EQ(header->size(), 32);
  EXPECT_EQ(header->nblocks(), 2);
}

TEST(ParseHeaderTest, PutsTheFlagsOfAShortHeaderIntoSlots) {
  const auto parse = [](std::string_view flags) {
    return *ParseHeader(
        With("02 01 00 04  40 00 00 00  40 00 00 00  18 00 00 00"
             "14 00 00 00  00 00 00 00",
             {Flags(flags)}));
  };
  EXPECT_FALSE(parse("00").extended);
  EXPECT_EQ(parse("00").size(), 16);
  EXPECT_EQ(parse("00").filters, (std::array<FilterStage, kMaxFilters>{}));
  EXPECT_EQ(parse("01").filters[5].filter, Filter::kShuffle);
  EXPECT_EQ(parse("04").filters[5].filter, Filter::kBitShuffle);
  EXPECT_EQ(parse("08").filters[4].filter, Filter::kDelta);
  EXPECT_EQ(parse("09").filters[5].filter, Filter::kShuffle);
  EXPECT_TRUE(parse("10").unsplit);
  EXPECT_EQ(parse("60").format_code, 3);
}

TEST(ParseHeaderTest, AcceptsVersionsOneToSix) {
  for (const std::string_view version : {"01", "02", "03", "04", "05", "06"}) {
    EXPECT_TRUE(IsOk(ParseWith({Version(version)}))) << version;
  }
  EXPECT_TRUE(IsDamage(ParseWith({Version("00")}), "chunk header: version"));
  EXPECT_TRUE(Fails(ParseWith({Version("07")}), absl::StatusCode::kUnimplemented,
                    "chunk header: version 7"));
}

TEST(ParseHeaderTest, RefusesEveryTruncation) {
  const std::vector<std::byte> chunk = Hex(kRegular);
  for (size_t size = 0; size < chunk.size(); ++size) {
    const std::vector<std::byte> part(chunk.begin(), chunk.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_TRUE(IsDamage(ParseHeader(part), size < 32 ? "chunk header: " : "chunk header: cbytes"))
        << size;
  }
  EXPECT_TRUE(IsDamage(ParseHeader(Bytes(chunk).first(9)), "chunk header: blocksize at byte 8"));
  EXPECT_TRUE(IsDamage(ParseHeader(Bytes(chunk).first(16)), "chunk header: filters at byte 16"));
}

TEST(ParseHeaderTest, BelievesTheAvailableBytesNotTheSpan) {
  const std::vector<std::byte> chunk = Hex(kRegular);
  EXPECT_TRUE(IsOk(ParseHeader(Bytes(chunk).first(32), 40)));
  EXPECT_TRUE(
      IsDamage(ParseHeader(Bytes(chunk).first(32), 39), "cbytes: expected 32 to 39, got 40"));
}

TEST(ParseHeaderTest, IgnoresBytesAfterTheChunk) {
  std::vector<std::byte> chunk = Hex(kRegular);
  chunk.resize(1000);
  EXPECT_EQ(ParseHeader(chunk)->cbytes, 40);
}

TEST(ParseHeaderTest, RefusesFieldsOutOfRange) {
  EXPECT_TRUE(IsDamage(ParseWith({Typesize("00")}), "chunk header: typesize"));
  EXPECT_TRUE(IsDamage(ParseWith({Nbytes("ff ff ff ff")}), "chunk header: nbytes"));
  for (const std::string_view size : {"00 00 00 00", "ff ff ff ff", "01 00 00 20", "01 f0 ff 1f"}) {
    EXPECT_TRUE(IsDamage(ParseWith({BlockSize(size)}), "chunk header: blocksize")) << size;
  }
  EXPECT_TRUE(IsOk(ParseWith({BlockSize("00 f0 ff 1f")}))) << "the largest block size";
  for (const std::string_view size :
       {"00 00 00 00", "0f 00 00 00", "1f 00 00 00", "29 00 00 00", "ff ff ff 7f", "ff ff ff ff"}) {
    EXPECT_TRUE(IsDamage(ParseWith({Cbytes(size)}), "chunk header: cbytes")) << size;
  }
  EXPECT_TRUE(IsDamage(ParseHeader(Hex("02 01 02 01  00 00 00 00  01 00 00 00  0f 00 00 00")),
                       "chunk header: cbytes: expected 16"));
}

TEST(ParseHeaderTest, RefusesVariableBlocksWithoutBlocks) {
  EXPECT_TRUE(IsDamage(ParseWith({Flags2("01"), Special("10")}), "chunk header: variable blocks"));
  EXPECT_TRUE(IsDamage(ParseWith({Flags2("01"), Flags("17"), Nbytes("08 00 00 00")}),
                       "chunk header: variable blocks"));
}

TEST(ParseHeaderTest, RefusesReservedSpecialValues) {
  for (const std::string_view special : {"50", "60", "70"}) {
    EXPECT_TRUE(IsDamage(ParseWith({Special(special)}), "chunk header: special value")) << special;
  }
}

TEST(ParseHeaderTest, ChecksTheWidthOfARepeatedValue) {
  const auto parse = [](std::string_view nbytes, std::string_view cbytes, int64_t available) {
    const auto chunk = With(kRegular, {Special("30"), Nbytes(nbytes), Cbytes(cbytes)});
    return ParseHeader(Bytes(chunk).first(32), available);
  };
  EXPECT_TRUE(IsOk(parse("40 00 00 00", "28 00 00 00", 40)));
  const std::string_view refusal = "chunk header: a value of";
  EXPECT_TRUE(IsDamage(parse("40 00 00 00", "20 00 00 00", 40), refusal)) << "no value";
  EXPECT_TRUE(IsDamage(parse("04 00 00 00", "28 00 00 00", 40), refusal)) << "wider than nbytes";
  EXPECT_TRUE(IsDamage(parse("00 00 00 00", "28 00 00 00", 40), refusal)) << "nothing to fill";
  EXPECT_TRUE(IsDamage(parse("41 00 00 00", "28 00 00 00", 40), refusal)) << "no multiple";
  // The widest value is 536866816 bytes.
  EXPECT_TRUE(IsOk(parse("00 f0 ff 1f", "20 f0 ff 1f", INT32_MAX)));
  EXPECT_TRUE(IsDamage(parse("01 f0 ff 1f", "21 f0 ff 1f", INT32_MAX), refusal)) << "too wide";
}

TEST(ParseHeaderTest, WantsCompleteItemsOfNansAndUninitialised) {
  EXPECT_TRUE(IsOk(ParseWith({Special("20")})));
  EXPECT_TRUE(IsOk(ParseWith({Special("40")})));
  const Edit odd = Nbytes("41 00 00 00");
  EXPECT_TRUE(IsDamage(ParseWith({odd, Special("20")}), "chunk header: nbytes 65"));
  EXPECT_TRUE(IsDamage(ParseWith({odd, Special("40")}), "chunk header: nbytes 65"));
  EXPECT_TRUE(IsOk(ParseWith({odd, Special("10")}))) << "zeros need no whole items";
}

TEST(ParseHeaderTest, WantsAMemcpyedPayloadToFillTheChunk) {
  EXPECT_TRUE(IsOk(ParseWith({Flags("07"), Nbytes("08 00 00 00")})));
  EXPECT_TRUE(IsDamage(ParseWith({Flags("07"), Nbytes("07 00 00 00")}), "in cbytes 40"));
  EXPECT_TRUE(IsDamage(ParseWith({Flags("07"), Nbytes("09 00 00 00")}), "in cbytes 40"));
}

TEST(ParseHeaderTest, WantsRoomForTheBlockPositions) {
  const auto two_blocks = ParseWith({BlockSize("20 00 00 00")});
  ASSERT_TRUE(IsOk(two_blocks));
  EXPECT_EQ(two_blocks->nblocks(), 2);
  EXPECT_TRUE(IsDamage(ParseWith({BlockSize("10 00 00 00")}), "chunk header: cbytes 40"));
  EXPECT_TRUE(IsDamage(ParseWith({Nbytes("ff ff ff 7f"), BlockSize("01 00 00 00")}),
                       "positions of 2147483647 blocks"));
  EXPECT_TRUE(
      IsDamage(ParseWith({Flags2("01"), BlockSize("03 00 00 00")}), "positions of 3 blocks"));
}

TEST(ParseHeaderTest, ClampsTheBlockSizeToThePayload) {
  EXPECT_EQ(Parsed({BlockSize("00 00 01 00")}).blocksize, 64);
  EXPECT_EQ(Parsed({BlockSize("00 00 01 00"), Special("10")}).blocksize, 64);
  EXPECT_EQ(Parsed({BlockSize("00 00 01 00"), Flags("07"), Nbytes("08 00 00 00")}).blocksize, 8);
  EXPECT_EQ(Parsed({BlockSize("02 00 00 00"), Flags2("01")}).blocksize, 2) << "a count there";
}

TEST(ParseHeaderTest, RoundsTheBlockSizeDownToCompleteItemsSinceVersionFive) {
  const Edit odd = BlockSize("23 00 00 00");
  EXPECT_EQ(Parsed({odd}).blocksize, 32);
  EXPECT_EQ(Parsed({odd, Version("04")}).blocksize, 35);
  EXPECT_EQ(Parsed({odd, Special("10")}).blocksize, 35) << "no blocks were cut";
  EXPECT_EQ(Parsed({BlockSize("41 00 00 00"), Nbytes("42 00 00 00")}).blocksize, 64);
  EXPECT_EQ(Parsed({BlockSize("21 00 00 00"), Typesize("22")}).blocksize, 33)
      << "less than an item is not rounded";
}

TEST(ParseHeaderTest, ForgetsTheDictionaryOfAMemcpyedChunk) {
  EXPECT_TRUE(Parsed({Special("01")}).has_dict);
  EXPECT_FALSE(Parsed({Special("01"), Flags("37"), Nbytes("08 00 00 00")}).has_dict);
}

TEST(ParseHeaderTest, ClearsTheGarbageSlotOfVersionThree) {
  const Edit slots = {0x10, "00 00 00 00 03 77"};
  const Edit metas = {0x18, "00 00 00 00 01 99"};
  const auto alpha = ParseWith({Version("03"), slots, metas});
  EXPECT_EQ(alpha->filters[5], FilterStage{});
  EXPECT_EQ(alpha->filters[4], (FilterStage{Filter::kDelta, 1}));
  EXPECT_EQ(Parsed({Version("04"), slots, metas}).filters[5].meta, 0x99);
}

TEST(ParseHeaderTest, HasNoBlocksWithoutPayload) {
  EXPECT_EQ(Parsed({Nbytes("00 00 00 00"), Cbytes("20 00 00 00")}).nblocks(), 0);
  EXPECT_EQ(Parsed({Special("10")}).nblocks(), 0);
  EXPECT_EQ(Parsed({Flags("07"), Nbytes("08 00 00 00")}).nblocks(), 0);
}

TEST(ParseHeaderTest, AnswersEveryFlippedBit) {
  for (size_t bit = 0; bit < 32 * 8; ++bit) {
    std::vector<std::byte> chunk = Hex(kRegular);
    chunk[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_TRUE(IsOkOrRefusal(ParseHeader(chunk).status())) << "bit " << bit;
  }
}

Header RandomHeader(std::mt19937& random) {
  Header header;
  header.version = static_cast<uint8_t>(4 + random() % 2);
  header.unsplit = random() % 2 != 0;
  header.format_code = static_cast<uint8_t>(random() % 7);
  header.typesize = static_cast<uint8_t>(1 + random() % 255);
  header.blocksize = header.typesize * static_cast<int32_t>(1 + random() % 100);
  header.nbytes = header.blocksize * static_cast<int32_t>(1 + random() % 5);
  header.cbytes = 1000;
  for (FilterStage& stage : header.filters) {
    stage = {static_cast<Filter>(random() % 256), static_cast<uint8_t>(random())};
  }
  header.codec_id = static_cast<uint8_t>(random());
  header.codec_meta = static_cast<uint8_t>(random());
  header.has_dict = random() % 2 != 0;
  return header;
}

TEST(StoreHeaderTest, IsUndoneByParsing) {
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    const Header header = RandomHeader(random);
    std::array<std::byte, kHeaderSize> bytes;
    StoreHeader(header, bytes);
    const auto parsed = ParseHeader(bytes, 1000);
    ASSERT_TRUE(IsOk(parsed));
    EXPECT_EQ(parsed->filters, header.filters);
    EXPECT_EQ(parsed->nbytes, header.nbytes);
    EXPECT_EQ(parsed->blocksize, header.blocksize);
    EXPECT_EQ(parsed->has_dict, header.has_dict);
    std::array<std::byte, kHeaderSize> again;
    StoreHeader(*parsed, again);
    EXPECT_EQ(ToHex(again), ToHex(bytes));
  }
}

TEST(StoreHeaderTest, WritesDeltaAlsoIntoTheFlags) {
  Header header;
  header.filters[4] = {Filter::kDelta, 0};
  std::array<std::byte, kHeaderSize> bytes;
  StoreHeader(header, bytes);
  EXPECT_EQ(bytes[2], std::byte{0x0D});
}

TEST(CodecOfTest, KeepsTheTwoNumberingsApart) {
  EXPECT_EQ(FormatCodeOf(Codec::kBloscLz), 0);
  EXPECT_EQ(FormatCodeOf(Codec::kLz4), 1);
  EXPECT_EQ(FormatCodeOf(Codec::kLz4Hc), 1);
  EXPECT_EQ(FormatCodeOf(Codec::kZlib), 3);
  EXPECT_EQ(FormatCodeOf(Codec::kZstd), 4);
  EXPECT_EQ(FormatCodeOf(static_cast<Codec>(200)), kUserFormatCode);
  const auto codec_of = [](uint8_t format_code, uint8_t id) {
    Header header;
    header.format_code = format_code;
    header.codec_id = id;
    return CodecOf(header);
  };
  EXPECT_EQ(*codec_of(0, 9), Codec::kBloscLz) << "the id counts for user formats only";
  EXPECT_EQ(*codec_of(1, 0), Codec::kLz4);
  EXPECT_EQ(*codec_of(1, 2), Codec::kLz4Hc);
  EXPECT_EQ(*codec_of(3, 0), Codec::kZlib);
  EXPECT_EQ(*codec_of(4, 0), Codec::kZstd);
  EXPECT_EQ(*codec_of(6, 200), static_cast<Codec>(200));
  for (const uint8_t lost :
       {uint8_t{2}, uint8_t{5}, uint8_t{7}}) {  // Snappy, Lizard, never written
    EXPECT_TRUE(Fails(codec_of(lost, 0), absl::StatusCode::kUnimplemented,
                      "codec format " + std::to_string(lost)));
  }
}

}  // namespace
}  // namespace cairn::chunk
