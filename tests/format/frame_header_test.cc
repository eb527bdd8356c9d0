#include "engine/format/frame_header.h"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "tests/support/hex.h"
#include "tests/support/status.h"

namespace cairn::format {
namespace {

// The header of a frame of 212 bytes: a chunk of two i32, BloscLZ, shuffle, no metalayers.
constexpr std::string_view kMinimal =
    "9e a8 62 32 66 72 61 6d 65 00 d2 00 00 00 61 cf"
    "00 00 00 00 00 00 00 d4 a4 12 00 50 03 d3 00 00"
    "00 00 00 00 00 08 d3 00 00 00 00 00 00 00 28 d2"
    "00 00 00 04 d2 00 00 00 00 d2 00 00 00 08 d1 00"
    "01 d1 00 01 c2 d8 06 00 00 00 00 00 01 00 00 00"
    "00 00 00 00 00 00 00 93 cd 00 07 de 00 00 dc 00"
    "00";

FrameHeader Minimal() {
  FrameHeader header;
  header.frame_size = 212;
  header.codec = Codec::kBloscLz;
  header.nbytes = 8;
  header.cbytes = 40;
  header.typesize = 4;
  header.chunksize = 8;
  header.filters[5] = {Filter::kShuffle, 0};
  return header;
}

std::vector<std::byte> With(size_t at, std::string_view bytes) {
  std::vector<std::byte> header = Hex(kMinimal);
  CopyBytes(Hex(bytes), MutableBytes(header).subspan(at));
  return header;
}

absl::StatusOr<FrameHeader> ParseHeaderWith(size_t at, std::string_view bytes) {
  return ParseFrameHeader(With(at, bytes));
}

TEST(FrameHeaderTest, WritesTheMinimalHeaderOfTheFormat) {
  FrameHeader header = Minimal();
  EXPECT_EQ(ToHex(EncodeNewHeader(header)), ToHex(Hex(kMinimal)));
  EXPECT_EQ(header.header_len, 97);
}

TEST(FrameHeaderTest, ReadsTheMinimalHeaderOfTheFormat) {
  const auto header = ParseFrameHeader(Hex(kMinimal));
  ASSERT_TRUE(IsOk(header));
  EXPECT_EQ(header->header_len, 97);
  EXPECT_EQ(header->frame_size, 212);
  EXPECT_EQ(header->version, 2);
  EXPECT_EQ(header->layout, Layout::kContiguous);
  EXPECT_FALSE(header->vlblocks);
  EXPECT_EQ(header->codec, Codec::kBloscLz);
  EXPECT_EQ(header->clevel, 5);
  EXPECT_EQ(header->split_mode, SplitMode::kForwardCompat);
  EXPECT_EQ(header->nbytes, 8);
  EXPECT_EQ(header->cbytes, 40);
  EXPECT_EQ(header->typesize, 4);
  EXPECT_EQ(header->blocksize, 0);
  EXPECT_EQ(header->chunksize, 8);
  EXPECT_FALSE(header->variable_chunks());
  EXPECT_FALSE(header->has_vlmetalayers);
  EXPECT_EQ(header->filters[5], (FilterStage{Filter::kShuffle, 0}));
  EXPECT_FALSE(header->use_dict);
  EXPECT_TRUE(header->metalayers.empty());
  EXPECT_EQ(*ParseHeaderLength(Bytes(Hex(kMinimal)).first(87)), 97);
}

TEST(FrameHeaderTest, WritesTheGeneralFlagsThatArePractice) {
  const auto flags = [](int32_t chunksize, bool vlblocks) {
    FrameHeader header = Minimal();
    header.chunksize = chunksize;
    header.vlblocks = vlblocks;
    return std::to_integer<int>(EncodeFixedHeader(header)[0x19]);
  };
  EXPECT_EQ(flags(8, false), 0x12);
  EXPECT_EQ(flags(kChunksizeUnknown, false), 0x12);
  EXPECT_EQ(flags(kChunksizeVariable, false), 0x53);
  EXPECT_EQ(flags(8, true), 0x93);
  EXPECT_EQ(flags(kChunksizeVariable, true), 0xD3);
}

TEST(FrameHeaderTest, NamesCodecsByTheirIdsNotTheirFormats) {
  const auto written = [](int id) {
    FrameHeader header = Minimal();
    header.codec = static_cast<Codec>(id);
    const std::vector<std::byte> bytes = EncodeFixedHeader(header);
    return ToHex(Bytes(bytes).subspan(0x1B, 1)) + ToHex(Bytes(bytes).subspan(0x4D, 1));
  };
  EXPECT_EQ(written(0), "5000");
  EXPECT_EQ(written(1), "5101");
  EXPECT_EQ(written(2), "5202");
  EXPECT_EQ(written(4), "5404");
  EXPECT_EQ(written(5), "5505");
  EXPECT_EQ(written(38), "5626");
  EXPECT_EQ(written(255), "56ff");
  EXPECT_EQ(ParseHeaderWith(0x1B, "55")->codec, Codec::kZstd)
      << "byte 0x4D counts from nibble 6 on";
}

TEST(FrameHeaderTest, EncodesMetalayersAsTheFormatSays) {
  FrameHeader header = Minimal();
  header.metalayers = {{"ab", Hex("01 02 03")}, {"", {}}};
  const std::vector<std::byte> bytes = EncodeNewHeader(header);
  EXPECT_EQ(ToHex(Bytes(bytes).subspan(0x57)),
            ToHex(Hex("93  cd 00 15  de 00 02  a2 61 62 d2 00 00 00 6f  a0 d2 00 00 00 77"
                      "dc 00 02  c6 00 00 00 03 01 02 03  c6 00 00 00 00")));
  EXPECT_EQ(header.header_len, static_cast<int64_t>(bytes.size()));
  const auto parsed = ParseFrameHeader(bytes);
  ASSERT_TRUE(IsOk(parsed));
  EXPECT_EQ(parsed->metalayers, header.metalayers);
  EXPECT_EQ(parsed->places[0].begin, 0x74);
  EXPECT_EQ(parsed->places[0].size, 3);
}

FrameHeader RandomHeader(std::mt19937_64& random) {
  const auto below = [&random](auto limit) {
    return static_cast<decltype(limit)>(random() % static_cast<uint64_t>(limit));
  };
  FrameHeader header;
  header.frame_size = below(INT64_MAX);
  header.layout = static_cast<Layout>(below(2));
  header.vlblocks = below(2) != 0;
  header.codec = static_cast<Codec>(below(256));
  header.codec_meta = static_cast<uint8_t>(below(256));
  header.clevel = below(10);
  header.split_mode = static_cast<SplitMode>(1 + below(4));
  header.nbytes = below(INT64_MAX);
  header.cbytes = below(INT64_MAX);
  header.typesize = 1 + below(INT32_MAX - 1);
  header.blocksize = below(INT32_MAX);
  header.chunksize = below(3) == 0 ? kChunksizeVariable : below(INT32_MAX);
  header.has_vlmetalayers = below(2) != 0;
  for (FilterStage& stage : header.filters) {
    stage = {static_cast<Filter>(below(256)), static_cast<uint8_t>(below(256))};
  }
  header.use_dict = below(2) != 0;
  for (int i = below(17); i > 0; --i) {
    header.metalayers.push_back(
        {std::string(static_cast<size_t>(below(32)), 'x'),
         std::vector<std::byte>(static_cast<size_t>(below(300)), std::byte{7})});
  }
  return header;
}

void ExpectSame(const FrameHeader& a, const FrameHeader& b) {
  EXPECT_EQ(a.header_len, b.header_len);
  EXPECT_EQ(a.frame_size, b.frame_size);
  EXPECT_EQ(a.layout, b.layout);
  EXPECT_EQ(a.vlblocks, b.vlblocks);
  EXPECT_EQ(a.codec, b.codec);
  EXPECT_EQ(a.codec_meta, b.codec_meta);
  EXPECT_EQ(a.clevel, b.clevel);
  EXPECT_EQ(a.split_mode, b.split_mode);
  EXPECT_EQ(a.nbytes, b.nbytes);
  EXPECT_EQ(a.cbytes, b.cbytes);
  EXPECT_EQ(a.typesize, b.typesize);
  EXPECT_EQ(a.blocksize, b.blocksize);
  EXPECT_EQ(a.chunksize, b.chunksize);
  EXPECT_EQ(a.has_vlmetalayers, b.has_vlmetalayers);
  EXPECT_EQ(a.filters, b.filters);
  EXPECT_EQ(a.use_dict, b.use_dict);
  EXPECT_EQ(a.metalayers, b.metalayers);
}

TEST(FrameHeaderTest, ParsingUndoesEncoding) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 500; ++i) {
    FrameHeader header = RandomHeader(random);
    const std::vector<std::byte> bytes = EncodeNewHeader(header);
    const auto parsed = ParseFrameHeader(bytes);
    ASSERT_TRUE(IsOk(parsed));
    ExpectSame(*parsed, header);
    EXPECT_EQ(EncodeFixedHeader(*parsed), ToVector(Bytes(bytes).first(kFixedHeaderSize)));
    for (size_t k = 0; k < header.places.size(); ++k) {
      EXPECT_EQ(header.places[k].begin, parsed->places[k].begin);
      EXPECT_EQ(header.places[k].size, parsed->places[k].size);
    }
  }
}

TEST(FrameHeaderTest, RefusesWrongMarkersByName) {
  for (const auto& [at, field] :
       std::vector<std::pair<size_t, std::string>>{{0x01, "magic"},
                                                   {0x02, "magic"},
                                                   {0x09, "magic"},
                                                   {0x0A, "header_len"},
                                                   {0x0F, "frame_size"},
                                                   {0x18, "flags"},
                                                   {0x1D, "nbytes"},
                                                   {0x26, "cbytes"},
                                                   {0x2F, "typesize"},
                                                   {0x34, "blocksize"},
                                                   {0x39, "chunksize"},
                                                   {0x3E, "nthreads_comp"},
                                                   {0x41, "nthreads_decomp"},
                                                   {0x45, "filters"},
                                                   {0x57, "layers"},
                                                   {0x58, "map_size"},
                                                   {0x5B, "layer names"}}) {
    EXPECT_TRUE(IsDamage(ParseHeaderWith(at, "01"), "frame header: " + field)) << at;
  }
  EXPECT_TRUE(IsDamage(ParseHeaderWith(0, "9f"), "frame header: array"));
}

TEST(FrameHeaderTest, LeavesPreReleasesToTheirOwnParsers) {
  for (const std::string_view array : {"9b", "9c", "9d"}) {
    EXPECT_TRUE(IsDamage(ParseHeaderWith(0, array), "array"));
    EXPECT_TRUE(IsDamage(ParseHeaderLength(With(0, array)), "frame header: array"));
  }
}

TEST(FrameHeaderTest, ChecksTheHeaderLength) {
  EXPECT_TRUE(IsDamage(ParseHeaderWith(0x0B, "00 00 00 56"), "frame header: header_len"));
  EXPECT_TRUE(IsDamage(ParseHeaderWith(0x0B, "ff ff ff ff"), "frame header: header_len"));
  EXPECT_TRUE(IsDamage(ParseHeaderWith(0x0B, "00 00 00 62"), "frame header: header_len 98"));
  EXPECT_TRUE(IsDamage(ParseHeaderWith(0x0B, "00 00 00 57"), "frame header: layers"))
      << "nothing lies after header_len";
}

TEST(FrameHeaderTest, ChecksNumbersByName) {
  const std::string_view minus1 = "ff ff ff ff ff ff ff ff";
  EXPECT_TRUE(Fails(ParseHeaderWith(0x19, "14"), absl::StatusCode::kUnimplemented,
                    "frame header: version 4"));
  EXPECT_TRUE(Fails(ParseHeaderWith(0x1A, "02"), absl::StatusCode::kUnimplemented,
                    "frame header: frame_type 2"));
  EXPECT_TRUE(IsDamage(ParseHeaderWith(0x1B, "a0"), "frame header: clevel"));
  EXPECT_TRUE(IsDamage(ParseHeaderWith(0x1E, minus1), "frame header: nbytes"));
  EXPECT_TRUE(IsDamage(ParseHeaderWith(0x27, minus1), "frame header: cbytes"));
  EXPECT_TRUE(IsDamage(ParseHeaderWith(0x30, "00 00 00 00"), "frame header: typesize"));
  EXPECT_TRUE(IsDamage(ParseHeaderWith(0x30, "80 00 00 00"), "frame header: typesize"));
  EXPECT_TRUE(IsDamage(ParseHeaderWith(0x35, "ff ff ff ff"), "frame header: blocksize"));
  EXPECT_TRUE(IsDamage(ParseHeaderWith(0x3A, "ff ff ff ff"), "frame header: chunksize"))
      << "a frame with data has one";
  EXPECT_TRUE(IsDamage(ParseHeaderWith(0x46, "07"), "frame header: filter count"));
}

TEST(FrameHeaderTest, AcceptsWhatReadersIgnore) {
  for (const std::string_view flags : {"00", "10", "11", "22", "13", "c2", "f3"}) {
    EXPECT_TRUE(IsOk(ParseHeaderWith(0x19, flags))) << flags;
  }
  EXPECT_TRUE(IsOk(ParseHeaderWith(0x3F, "ff ff"))) << "threads";
  EXPECT_TRUE(IsOk(ParseHeaderWith(0x44, "00"))) << "neither true nor false";
  EXPECT_TRUE(IsOk(ParseHeaderWith(0x56, "ff"))) << "padding";
  EXPECT_TRUE(IsOk(ParseHeaderWith(0x59, "ff ff"))) << "map_size";
  EXPECT_EQ(ParseHeaderWith(0x46, "05")->filters[5], FilterStage{}) << "slots that are not counted";
  std::vector<std::byte> empty = With(0x3A, "ff ff ff ff");
  empty[0x25] = std::byte{0};
  EXPECT_EQ(ParseFrameHeader(empty)->chunksize, kChunksizeUnknown);
}

TEST(FrameHeaderTest, ChecksMetalayersByName) {
  FrameHeader header = Minimal();
  header.metalayers = {{"name", Hex("01 02 03")}};
  const std::vector<std::byte> bytes = EncodeNewHeader(header);
  const auto with = [&](size_t at, std::string_view hex) {
    std::vector<std::byte> copy = bytes;
    CopyBytes(Hex(hex), MutableBytes(copy).subspan(at));
    return ParseFrameHeader(copy);
  };
  ASSERT_TRUE(IsOk(with(0x57, "93")));
  EXPECT_TRUE(IsDamage(with(0x5C, "00 11"), "frame header: layer count"));
  EXPECT_TRUE(IsDamage(with(0x5E, "c0"), "frame header: layer name"));
  EXPECT_TRUE(IsDamage(with(0x63, "00"), "frame header: layer offset"));
  EXPECT_TRUE(IsDamage(with(0x64, "ff ff ff ff"), "is negative"));
  EXPECT_TRUE(IsDamage(with(0x64, "00 00 10 00"), "frame header: layer offset"));
  EXPECT_TRUE(IsDamage(with(0x64, "00 00 00 00"), "frame header: layer content"));
  EXPECT_TRUE(IsDamage(with(0x6B, "00"), "frame header: layer content"));
  EXPECT_TRUE(IsDamage(with(0x6C, "00 00 00 04"), "frame header: layer content"));
  EXPECT_TRUE(IsDamage(with(0x6C, "ff ff ff ff"), "frame header: layer content"));
}

// Returns a header with a metalayer that has more content than its name says, and an empty one.
std::vector<std::byte> SampleHeader() {
  FrameHeader header = Minimal();
  header.metalayers = {{"one", Hex("01 02 03")}, {"two", {}}};
  return EncodeNewHeader(header);
}

TEST(FrameHeaderTest, AnswersEveryFlippedBit) {
  const std::vector<std::byte> bytes = SampleHeader();
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::vector<std::byte> flipped = bytes;
    flipped[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_TRUE(IsOkOrRefusal(ParseFrameHeader(flipped).status())) << "bit " << bit;
    EXPECT_TRUE(IsOkOrRefusal(ParseHeaderLength(flipped).status())) << "bit " << bit;
  }
}

TEST(FrameHeaderTest, RefusesEveryTruncation) {
  const std::vector<std::byte> bytes = SampleHeader();
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::vector<std::byte> part(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_TRUE(IsDamage(ParseFrameHeader(part), "frame header")) << size;
  }
}

TEST(FrameHeaderTest, AlignsTheWordThatCommits) {
  FrameHeader header = Minimal();
  header.frame_size = 0x0102030405060708;
  EXPECT_EQ(kFrameSizeOffset % 8, 0);
  EXPECT_EQ(LoadBe<uint64_t>(EncodeFixedHeader(header).data() + kFrameSizeOffset),
            0x0102030405060708u);
}

}  // namespace
}  // namespace cairn::format
