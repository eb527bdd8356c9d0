#include "engine/collection/store/embedded_values.h"

#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/support/status.h"

namespace cairn::collection {
namespace {

using namespace std::string_view_literals;

absl::StatusOr<EmbeddedValues> Parse(std::string_view layer) {
  return ParseEmbeddedValues(std::as_bytes(std::span(layer)));
}

// Returns a layer with this value of the name "/a".
std::string LayerWith(std::string_view value) {
  return std::string(
             "\x82\xAE"
             "current_offset\x05\xA9"
             "embed_map\x81\xA2/a"sv)
      .append(value);
}

TEST(EmbeddedValuesTest, NumbersOfAllSizesAreRead) {
  for (const std::string_view number :
       {"\x07"sv, "\xCC\x07"sv, "\xCD\0\x07"sv, "\xCE\0\0\0\x07"sv, "\xCF\0\0\0\0\0\0\0\x07"sv,
        "\xD0\x07"sv, "\xD1\0\x07"sv, "\xD2\0\0\0\x07"sv, "\xD3\0\0\0\0\0\0\0\x07"sv}) {
    const auto values = Parse(LayerWith(
        std::string("\x82\xA6offset"sv).append(number).append("\xA6length"sv).append(number)));
    ASSERT_TRUE(IsOk(values));
    EXPECT_EQ(*values, (EmbeddedValues{{"/a", {.offset = 7, .length = 7}}}));
  }
}

TEST(EmbeddedValuesTest, WhatOthersAddIsSkipped) {
  const std::string_view others =
      "\x86\xA6offset\x01\xA6length\x02"
      "\xA1n\xC0\xA1l\x93\xC3\xCB\0\0\0\0\0\0\0\0\xD9\x02xy"
      "\xA1m\x81\xA1k\xC4\x01z\xA1"
      "e\xD6\x05"
      "1234"sv;
  const auto values = Parse(LayerWith(others));
  ASSERT_TRUE(IsOk(values));
  EXPECT_EQ(*values, (EmbeddedValues{{"/a", {.offset = 1, .length = 2}}}));
}

TEST(EmbeddedValuesTest, ArraysOnServersHaveNoPlace) {
  const auto values = Parse(LayerWith("\x82\xA7urlbase\xA3web\xA4path\xA1x"sv));
  ASSERT_TRUE(IsOk(values));
  EXPECT_TRUE(values->at("/a").is_elsewhere);
}

TEST(EmbeddedValuesTest, DamageIsTold) {
  EXPECT_TRUE(IsDamage(Parse(""), "layer"));
  EXPECT_TRUE(IsDamage(Parse("\xA1x"sv), "is no map"));
  EXPECT_TRUE(IsDamage(Parse(LayerWith("\x80"sv)), "has no offset"));
  EXPECT_TRUE(IsDamage(Parse(LayerWith("\x81\xA6offset\xFF"sv)), "is no count"));
  EXPECT_TRUE(IsDamage(Parse(LayerWith("\x81\xA6offset\xD3\x80\0\0\0\0\0\0\0"sv)), "is no count"));
  EXPECT_TRUE(IsDamage(Parse(LayerWith("\x81\xA6offset\x01\x01"sv)), "is followed by more"));
  EXPECT_TRUE(IsDamage(Parse(LayerWith("\xDF\xFF\xFF\xFF\xFF\xA6offset\x01"sv)), ""));
  const std::string nested(100, '\x91');
  EXPECT_TRUE(IsDamage(Parse("\x81\xA1x" + nested), "nested too deep"));
  const std::string whole = LayerWith("\x82\xA6offset\x01\xA6length\xCD\x01\x02"sv);
  ASSERT_TRUE(IsOk(Parse(whole)));
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_TRUE(IsDamage(Parse(std::string_view(whole).substr(0, size)), "")) << size;
  }
}

}  // namespace
}  // namespace cairn::collection
