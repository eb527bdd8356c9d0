// Headers of 2019 and of the betas, and the betas' trailers.
#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/format/legacy/early_frame.h"
#include "tests/format/legacy_frames.h"
#include "tests/support/hex.h"
#include "tests/support/status.h"

namespace cairn::format::legacy {
namespace {

using test::BetaTrailerForm;
using Buffer = std::vector<std::byte>;

Buffer First(Buffer bytes, size_t size) {
  bytes.resize(size);
  return bytes;
}

Buffer With(Buffer bytes, size_t at, std::string_view hex) {
  CopyBytes(Hex(hex), MutableBytes(bytes).subspan(at));
  return bytes;
}

Buffer Header2019() { return First(test::Frame2019(), 64); }
Buffer Header2019WithLayer() { return First(test::Frame2019WithLayer(), 88); }
Buffer BetaHeader() { return First(test::BetaFrame(BetaTrailerForm::kBeta2), 92); }

Buffer BetaTrailerBytes(BetaTrailerForm form) {
  const Buffer frame = test::BetaFrame(form);
  return ToVector(Bytes(frame).last(0x42));
}

void ExpectFields(const FrameHeader& header) {
  EXPECT_EQ(header.nbytes, 12);
  EXPECT_EQ(header.cbytes, 76);
  EXPECT_EQ(header.typesize, 4);
  EXPECT_EQ(header.chunksize, 8);
  EXPECT_EQ(header.blocksize, 0);
  EXPECT_EQ(header.codec, Codec::kLz4);
  EXPECT_EQ(header.clevel, 5);
}

TEST(LegacyHeaderTest, ReadsTheHeaderOf2019) {
  const auto header = ParseHeader2019(Header2019());
  ASSERT_TRUE(IsOk(header));
  ExpectFields(*header);
  EXPECT_EQ(header->header_len, 64);
  EXPECT_EQ(header->frame_size, 188);
  EXPECT_EQ(header->version, 0);
  EXPECT_TRUE(header->metalayers.empty());
}

TEST(LegacyHeaderTest, ReadsMetalayersOf2019) {
  const auto header = ParseHeader2019(Header2019WithLayer());
  ASSERT_TRUE(IsOk(header));
  ExpectFields(*header);
  EXPECT_EQ(header->header_len, 88);
  ASSERT_EQ(header->metalayers.size(), 1u);
  EXPECT_EQ(header->metalayers[0].name, "m");
  EXPECT_EQ(AsText(header->metalayers[0].content), "ab");
}

TEST(LegacyHeaderTest, NeedsArrayAndFlagOf2019ToAgree) {
  EXPECT_TRUE(IsDamage(ParseHeader2019(With(Header2019(), 0x3F, "c3")), "metalayers at byte 63"));
  EXPECT_TRUE(IsDamage(ParseHeader2019(With(Header2019(), 0, "9c")), "metalayers at byte 63"));
  EXPECT_TRUE(IsDamage(ParseHeader2019(With(Header2019WithLayer(), 0x3F, "c2")), "metalayers"));
}

TEST(LegacyHeaderTest, ReadsTheHeaderOfTheBetas) {
  const auto header = ParseBetaHeader(BetaHeader());
  ASSERT_TRUE(IsOk(header));
  ExpectFields(*header);
  EXPECT_EQ(header->header_len, 92);
  EXPECT_EQ(header->frame_size, 282);
  EXPECT_EQ(header->version, 1);
  EXPECT_EQ(header->filters[0], (FilterStage{Filter::kShuffle, 0}));
  EXPECT_EQ(header->filters[1], FilterStage());
}

TEST(LegacyHeaderTest, ReadsOnlyTheActiveFiltersOfTheBetas) {
  const auto header = ParseBetaHeader(
      With(BetaHeader(), 0x41, "02  04 01 03 00 00 00 00 00  19 00 07 00 00 00 00 00"));
  ASSERT_TRUE(IsOk(header));
  EXPECT_EQ(header->filters[0], (FilterStage{Filter::kTruncPrec, 25}));
  EXPECT_EQ(header->filters[1], (FilterStage{Filter::kShuffle, 0}));
  EXPECT_EQ(header->filters[2], FilterStage());
  EXPECT_TRUE(IsDamage(ParseBetaHeader(With(BetaHeader(), 0x41, "07")), "filter count"));
}

TEST(LegacyHeaderTest, KeepsCodecsThatAreNoMore) {
  const auto header = ParseBetaHeader(With(BetaHeader(), 0x1B, "56"));
  ASSERT_TRUE(IsOk(header));
  EXPECT_EQ(static_cast<int>(header->codec), 6) << "Lizard";
}

TEST(LegacyHeaderTest, ChecksNumbers) {
  EXPECT_TRUE(IsDamage(ParseHeader2019(With(Header2019(), 0x30, "00 00 00 00")), "typesize"));
  EXPECT_TRUE(IsDamage(ParseHeader2019(With(Header2019(), 0x27, "ff")), "cbytes is negative"));
  EXPECT_TRUE(IsDamage(ParseBetaHeader(With(BetaHeader(), 0x1E, "ff")), "nbytes is negative"));
  EXPECT_TRUE(IsDamage(ParseBetaHeader(With(BetaHeader(), 0x35, "ff")), "chunksize"));
  EXPECT_TRUE(IsDamage(ParseBetaHeader(With(BetaHeader(), 0x1B, "a0")), "clevel"));
  EXPECT_TRUE(IsDamage(ParseHeaderLength(With(Header2019(), 0x0B, "00 00 00 3f"), kEarlyFieldsSize),
                       "header_len at byte 15: expected at least 64, got 63"));
}

TEST(LegacyHeaderTest, RefusesEveryTruncation) {
  for (size_t size = 0; size < 88; ++size) {
    EXPECT_TRUE(IsDamage(ParseHeader2019(First(Header2019WithLayer(), size)), "frame header"));
  }
  for (size_t size = 0; size < 92; ++size) {
    EXPECT_TRUE(IsDamage(ParseBetaHeader(First(BetaHeader(), size)), "frame header"));
  }
}

TEST(LegacyTrailerTest, ReadsBothForms) {
  for (const BetaTrailerForm form : {BetaTrailerForm::kBeta2, BetaTrailerForm::kBeta4}) {
    const auto trailer = ParseBetaTrailer(BetaTrailerBytes(form));
    ASSERT_TRUE(IsOk(trailer));
    EXPECT_EQ(trailer->beta2, form == BetaTrailerForm::kBeta2);
    EXPECT_EQ(trailer->usermeta.name, "usermeta");
    EXPECT_EQ(trailer->usermeta.begin, 7);
    EXPECT_EQ(trailer->usermeta.size, 36);
  }
}

TEST(LegacyTrailerTest, ReadsTheSmallest) {
  const auto trailer = ParseBetaTrailer(
      Hex("0d 00 c6 00 00 00 00 ce 00 00 00 1e d8 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
          "00"));
  ASSERT_TRUE(IsOk(trailer));
  EXPECT_EQ(trailer->usermeta.size, 0);
}

TEST(LegacyTrailerTest, RefusesOtherForms) {
  const Buffer good = BetaTrailerBytes(BetaTrailerForm::kBeta4);
  EXPECT_TRUE(IsDamage(ParseBetaTrailer(With(good, 0, "93")), "trailer: array"));
  EXPECT_TRUE(IsDamage(ParseBetaTrailer(With(good, 2, "93")), "usermeta at byte 2"));
  EXPECT_TRUE(IsDamage(ParseBetaTrailer(With(good, 3, "00 00 00 23")), "trailer_len"));
  EXPECT_TRUE(IsDamage(ParseBetaTrailer(With(good, 3, "ff ff ff ff")), "usermeta"));
  EXPECT_TRUE(IsDamage(ParseBetaTrailer(First(good, good.size() + 1)), "leaves 1 bytes"));
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_TRUE(IsDamage(ParseBetaTrailer(First(good, size)), "trailer"));
  }
}

}  // namespace
}  // namespace cairn::format::legacy
