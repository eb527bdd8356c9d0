#include "engine/chunk/encode_options.h"

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "engine/chunk/header.h"
#include "tests/support/status.h"

namespace cairn::chunk {
namespace {

absl::Status CheckWith(const std::function<void(CompressionOptions&)>& change) {
  CompressionOptions options;
  change(options);
  return CheckOptions(options);
}

testing::AssertionResult Misuse(const absl::Status& status, std::string_view part) {
  return Fails(status, absl::StatusCode::kInvalidArgument, part);
}

TEST(CheckOptionsTest, AcceptsTheDefaults) { EXPECT_TRUE(IsOk(CheckOptions({}))); }

TEST(CheckOptionsTest, BoundsTheLevel) {
  EXPECT_TRUE(IsOk(CheckWith([](auto& o) { o.clevel = 0; })));
  EXPECT_TRUE(IsOk(CheckWith([](auto& o) { o.clevel = 9; })));
  EXPECT_TRUE(Misuse(CheckWith([](auto& o) { o.clevel = -1; }), "clevel: expected 0 to 9, got -1"));
  EXPECT_TRUE(Misuse(CheckWith([](auto& o) { o.clevel = 10; }), "clevel"));
}

TEST(CheckOptionsTest, BoundsTheTypesize) {
  EXPECT_TRUE(IsOk(CheckWith([](auto& o) { o.typesize = kMaxBlockSize; })));
  for (const int32_t typesize : {0, -1, kMaxBlockSize + 1}) {
    EXPECT_TRUE(Misuse(CheckWith([&](auto& o) { o.typesize = typesize; }), "typesize"));
  }
}

TEST(CheckOptionsTest, BoundsTheBlockSize) {
  EXPECT_TRUE(IsOk(CheckWith([](auto& o) { o.blocksize = kMaxBlockSize; })));
  for (const int32_t blocksize : {-1, kMaxBlockSize + 1}) {
    EXPECT_TRUE(Misuse(CheckWith([&](auto& o) { o.blocksize = blocksize; }), "blocksize"));
  }
}

TEST(CheckOptionsTest, GivesDictionariesToThreeCodecsOnly) {
  for (const Codec codec : {Codec::kLz4, Codec::kLz4Hc, Codec::kZstd}) {
    EXPECT_TRUE(IsOk(CheckWith([&](auto& o) { o.codec = codec, o.use_dict = true; })));
  }
  for (const Codec codec : {Codec::kBloscLz, Codec::kZlib, static_cast<Codec>(200)}) {
    EXPECT_TRUE(
        Misuse(CheckWith([&](auto& o) { o.codec = codec, o.use_dict = true; }), "dictionary"));
  }
}

TEST(CheckOptionsTest, HasSixFilterSlots) {
  EXPECT_TRUE(IsOk(CheckWith([](auto& o) { o.filters.assign(6, {Filter::kShuffle}); })));
  EXPECT_TRUE(Misuse(CheckWith([](auto& o) { o.filters.assign(7, {Filter::kShuffle}); }),
                     "filters: at most 6, got 7"));
}

TEST(CheckOptionsTest, WantsDeltaBeforeWhatLosesBits) {
  for (const Filter lossy : {Filter::kTruncPrec, Filter::kIntTrunc, Filter::kNdMean}) {
    EXPECT_TRUE(Misuse(CheckWith([&](auto& o) {
                         o.typesize = 4;
                         o.blockshape = {4, 4};
                         o.filters = {{lossy, 4}, {Filter::kShuffle}, {Filter::kDelta}};
                       }),
                       "delta must come before"));
    EXPECT_TRUE(IsOk(CheckWith([&](auto& o) {
      o.typesize = 4;
      o.blockshape = {4, 4};
      o.filters = {{Filter::kDelta}, {lossy, 4}};
    })));
  }
}

TEST(CheckOptionsTest, RefusesTheFilterThatIsDecodedOnly) {
  EXPECT_TRUE(Fails(CheckWith([](auto& o) {
                      o.filters = {{Filter::kByteDeltaBuggy, 2}};
                    }),
                    absl::StatusCode::kUnimplemented, "filter id 34"));
}

TEST(CheckOptionsTest, FiltersOfArraysNeedTheShapeOfBlocks) {
  for (const Filter filter : {Filter::kNdCell, Filter::kNdMean}) {
    const auto check = [&](std::vector<int32_t> blockshape) {
      return CheckWith([&](auto& o) {
        o.typesize = 4;
        o.filters = {{filter, 4}, {Filter::kShuffle}};
        o.blockshape = std::move(blockshape);
      });
    };
    EXPECT_TRUE(Misuse(check({}), "arrays only"));
    EXPECT_TRUE(Misuse(check({8, 0}), "blockshape"));
    EXPECT_TRUE(IsOk(check({8, 9})));
  }
  EXPECT_TRUE(Misuse(CheckWith([](auto& o) {
                       o.typesize = 4;
                       o.blockshape = {2, 3};
                       o.filters = {{Filter::kNdCell, 4}};
                     }),
                     "cells of 16 elements in a block of 6"));
}

TEST(CheckOptionsTest, WantsTheChannelsOfByteDeltaWhereTheHeaderLosesTheTypesize) {
  const auto check = [](int32_t typesize, uint8_t channels) {
    return CheckWith([&](auto& o) {
      o.typesize = typesize;
      o.filters = {{Filter::kByteDelta, channels}};
    });
  };
  EXPECT_TRUE(IsOk(check(255, 0)));
  EXPECT_TRUE(IsOk(check(256, 4)));
  EXPECT_TRUE(Misuse(check(256, 0), "bytedelta needs a number of channels for typesize 256"));
}

absl::Status CheckBlosc1With(const std::function<void(CompressionOptions&)>& change) {
  return CheckWith([&](CompressionOptions& options) {
    options.format = ChunkFormat::kBlosc1;
    change(options);
  });
}

TEST(CheckOptionsTest, KeepsBlosc1ChunksToWhatBlosc1Knows) {
  EXPECT_TRUE(IsOk(CheckBlosc1With([](auto&) {})));
  EXPECT_TRUE(IsOk(CheckBlosc1With([](auto& o) { o.filters = {}; })));
  EXPECT_TRUE(IsOk(CheckBlosc1With([](auto& o) {
    o.filters = {{Filter::kNone}, {Filter::kBitShuffle}};
  })));
  EXPECT_TRUE(Misuse(CheckBlosc1With([](auto& o) { o.use_dict = true; }), "no dictionaries"));
  EXPECT_TRUE(
      Misuse(CheckBlosc1With([](auto& o) { o.codec = static_cast<Codec>(200); }), "codec id 200"));
  EXPECT_TRUE(Misuse(CheckBlosc1With([](auto& o) { o.filters = {{Filter::kDelta}}; }),
                     "at most one filter"));
  EXPECT_TRUE(Misuse(CheckBlosc1With([](auto& o) {
                       o.filters = {{Filter::kShuffle, 4}};
                     }),
                     "at most one filter"));
  EXPECT_TRUE(Misuse(CheckBlosc1With([](auto& o) {
                       o.filters = {{Filter::kShuffle}, {Filter::kBitShuffle}};
                     }),
                     "at most one filter"));
}

TEST(SlotsOfTest, PutsTheFiltersAtTheEnd) {
  CompressionOptions options;
  options.filters = {{Filter::kDelta}, {Filter::kShuffle, 4}};
  const auto slots = SlotsOf(options);
  EXPECT_EQ(slots[3], FilterStage{});
  EXPECT_EQ(slots[4], (FilterStage{Filter::kDelta, 0}));
  EXPECT_EQ(slots[5], (FilterStage{Filter::kShuffle, 4}));
}

TEST(HeaderTypesizeTest, IsOneAbove255) {
  EXPECT_EQ(HeaderTypesize(1), 1);
  EXPECT_EQ(HeaderTypesize(255), 255);
  EXPECT_EQ(HeaderTypesize(256), 1);
  EXPECT_EQ(HeaderTypesize(kMaxBlockSize), 1);
}

TEST(CheckOptionsTest, PcoTakesNumbersThatExist) {
  const auto pco = [](int32_t typesize, uint8_t meta, std::vector<FilterStage> filters) {
    return CheckWith([&](auto& o) {
      o.codec = Codec::kPco;
      o.typesize = typesize;
      o.codec_meta = meta;
      o.filters = std::move(filters);
    });
  };
  EXPECT_TRUE(IsOk(pco(8, 3, {})));
  EXPECT_TRUE(IsOk(pco(1, 2, {})));
  EXPECT_TRUE(Misuse(pco(1, 3, {}), "meta: expected 0 to 2, got 3"));
  EXPECT_TRUE(Misuse(pco(4, 4, {}), "meta: expected 0 to 3, got 4"));
  EXPECT_TRUE(Misuse(pco(12, 0, {}), "pco: expected items of 1, 2, 4 or 8 bytes, or an array"));
  EXPECT_TRUE(Misuse(pco(8, 0, {{.filter = Filter::kShuffle}}), "takes apart"));
}

TEST(CheckOptionsTest, AutoTakesItemsOfAnySize) {
  const auto with = [](int32_t typesize, std::vector<FilterStage> filters) {
    return CheckOptions(
        {.codec = Codec::kAuto, .typesize = typesize, .filters = std::move(filters)});
  };
  EXPECT_TRUE(IsOk(with(8, {})));
  EXPECT_TRUE(IsOk(with(1, {})));
  EXPECT_TRUE(IsOk(with(300, {})));
  EXPECT_TRUE(Misuse(with(8, {{.filter = Filter::kShuffle}}), "auto codes numbers"));
}

TEST(CheckOptionsTest, PcoTakesColumnsThatMakeAnItem) {
  const auto pco = [](int32_t typesize, std::vector<ItemColumn> columns) {
    return CheckOptions(
        {.codec = Codec::kPco, .typesize = typesize, .filters = {}, .columns = std::move(columns)});
  };
  EXPECT_TRUE(IsOk(pco(300, {{.kind = 3, .size = 8}, {.kind = 0, .count = 292}})));
  EXPECT_TRUE(IsOk(pco(14, {{.kind = 2, .size = 4, .count = 3}, {.kind = 3, .size = 2}})));
  EXPECT_TRUE(Misuse(pco(16, {{.kind = 3, .size = 8}}), "columns: expected 16 bytes"));
  EXPECT_TRUE(Misuse(pco(3, {{.kind = 1, .size = 3}}), "columns: 1 numbers of kind 1 and 3 bytes"));
  EXPECT_TRUE(Misuse(pco(2, {{.kind = 3, .size = 1, .count = 2}}), "columns:"));
  EXPECT_TRUE(Misuse(pco(2, {{.kind = 0, .size = 2}}), "columns:"));
  EXPECT_TRUE(Misuse(pco(1, {{.kind = 4, .size = 1}}), "columns:"));
  EXPECT_TRUE(
      Misuse(pco(8, {{.kind = 1, .size = 8}, {.kind = 1, .size = 8, .count = 0}}), "columns:"));
}

}  // namespace
}  // namespace cairn::chunk
