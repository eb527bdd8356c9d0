#include <array>

#include <gtest/gtest.h>

#include "engine/chunk/encode_options.h"

namespace cairn::chunk {
namespace {

constexpr int32_t kOneKiB = 1024;
constexpr int32_t kPayload = 64 << 20;

CompressionOptions Options(Codec codec, int clevel, int32_t typesize) {
  CompressionOptions options;
  options.codec = codec;
  options.clevel = clevel;
  options.typesize = typesize;
  return options;
}

// Sizes in KiB by clevel 1..9.
using Row = std::array<int32_t, 9>;

Row Chosen(CompressionOptions options) {
  Row row;
  for (int clevel = 1; clevel <= 9; ++clevel) {
    options.clevel = clevel;
    row[static_cast<size_t>(clevel - 1)] = ChooseBlockSize(options, kPayload) / kOneKiB;
  }
  return row;
}

constexpr Row kUnsplitFast = {16, 32, 64, 128, 128, 256, 256, 256, 256};
constexpr Row kUnsplitHighRatio = {32, 64, 128, 256, 256, 512, 512, 512, 1024};
constexpr Row kSplit1 = {32, 32, 32, 64, 64, 64, 128, 256, 512};
constexpr Row kSplit4 = {128, 128, 128, 256, 256, 256, 512, 1024, 2048};
constexpr Row kSplit16 = {512, 512, 512, 1024, 1024, 1024, 2048, 4096, 4096};

TEST(ChooseBlockSizeTest, ChoosesWhatTheFormatListsFor64MiB) {
  for (const Codec codec : {Codec::kBloscLz, Codec::kLz4}) {
    EXPECT_EQ(Chosen(Options(codec, 0, 1)), kSplit1);
    EXPECT_EQ(Chosen(Options(codec, 0, 4)), kSplit4);
    EXPECT_EQ(Chosen(Options(codec, 0, 16)), kSplit16);
  }
  for (const Codec codec : {Codec::kLz4Hc, Codec::kZlib}) {
    for (const int32_t typesize : {1, 4, 16}) {
      EXPECT_EQ(Chosen(Options(codec, 0, typesize)), kUnsplitHighRatio);
    }
  }
  EXPECT_EQ(Chosen(Options(Codec::kZstd, 0, 1)), (Row{32, 32, 32, 64, 64, 512, 512, 512, 1024}));
  EXPECT_EQ(Chosen(Options(Codec::kZstd, 0, 4)),
            (Row{128, 128, 128, 256, 256, 512, 512, 512, 1024}));
  EXPECT_EQ(Chosen(Options(Codec::kZstd, 0, 16)),
            (Row{512, 512, 512, 1024, 1024, 512, 512, 512, 1024}));
}

TEST(ChooseBlockSizeTest, FollowsTheSplitMode) {
  CompressionOptions options = Options(Codec::kZlib, 0, 4);
  options.split_mode = SplitMode::kAlways;
  EXPECT_EQ(Chosen(options), kSplit4);
  options.split_mode = SplitMode::kNever;
  EXPECT_EQ(Chosen(options), kUnsplitHighRatio);
  options.codec = Codec::kLz4;
  EXPECT_EQ(Chosen(options), kUnsplitFast);
}

TEST(ChooseBlockSizeTest, NeedsShuffleAndSmallItemsForTheSplitRow) {
  CompressionOptions options = Options(Codec::kLz4, 0, 8);
  options.filters = {{Filter::kBitShuffle}};
  EXPECT_EQ(Chosen(options), kUnsplitFast);
  EXPECT_EQ(ChooseBlockSize(Options(Codec::kLz4, 5, 17), kPayload), 128 * kOneKiB / 17 * 17);
}

TEST(ChooseBlockSizeTest, IsAQuarterOfTheBaseAtLevelZero) {
  EXPECT_EQ(ChooseBlockSize(Options(Codec::kLz4, 0, 4), kPayload), 8 * kOneKiB);
  EXPECT_EQ(ChooseBlockSize(Options(Codec::kZstd, 0, 4), kPayload), 16 * kOneKiB);
}

TEST(ChooseBlockSizeTest, NeverPassesThePayload) {
  EXPECT_EQ(ChooseBlockSize(Options(Codec::kZlib, 5, 4), 32 * kOneKiB - 4), 32 * kOneKiB - 4);
  EXPECT_EQ(ChooseBlockSize(Options(Codec::kZlib, 5, 4), 40000), 40000);
  EXPECT_EQ(ChooseBlockSize(Options(Codec::kLz4, 5, 4), 1000), 1000);
  EXPECT_EQ(ChooseBlockSize(Options(Codec::kLz4, 5, 4), 1003), 1000) << "whole items only";
  CompressionOptions options = Options(Codec::kLz4, 5, 4);
  options.blocksize = 4096;
  EXPECT_EQ(ChooseBlockSize(options, 1000), 1000);
}

TEST(ChooseBlockSizeTest, RoundsTheWantedSizeDownToCompleteItems) {
  CompressionOptions options = Options(Codec::kLz4, 5, 7);
  options.blocksize = 1000;
  EXPECT_EQ(ChooseBlockSize(options, 100000), 994);
  options.blocksize = 7;
  EXPECT_EQ(ChooseBlockSize(options, 100000), 7);
  options.blocksize = 5;
  EXPECT_EQ(ChooseBlockSize(options, 100000), 5) << "less than an item stays";
}

TEST(ChooseBlockSizeTest, IsAtLeastOneByte) {
  EXPECT_EQ(ChooseBlockSize(Options(Codec::kLz4, 5, 4), 1), 1);
  EXPECT_EQ(ChooseBlockSize(Options(Codec::kLz4, 5, 1000), 0), 1);
  EXPECT_EQ(ChooseBlockSize(Options(Codec::kLz4, 5, 1000), 999), 999);
  EXPECT_EQ(ChooseBlockSize(Options(Codec::kLz4, 5, 536866816), kMaxChunkBytes), 128 * kOneKiB);
}

bool Splits(Codec codec, int clevel, int32_t typesize, int32_t blocksize) {
  return SplitsBlocks(Options(codec, clevel, typesize), typesize, blocksize);
}

TEST(SplitsBlocksTest, IsForTheCodecsThatGain) {
  for (int clevel = 0; clevel <= 9; ++clevel) {
    EXPECT_TRUE(Splits(Codec::kBloscLz, clevel, 4, 4096));
    EXPECT_TRUE(Splits(Codec::kLz4, clevel, 4, 4096));
    EXPECT_FALSE(Splits(Codec::kLz4Hc, clevel, 4, 4096));
    EXPECT_FALSE(Splits(Codec::kZlib, clevel, 4, 4096));
    EXPECT_EQ(Splits(Codec::kZstd, clevel, 4, 4096), clevel <= 5);
    EXPECT_FALSE(Splits(static_cast<Codec>(200), clevel, 4, 4096));
  }
}

TEST(SplitsBlocksTest, NeedsSmallItemsAndLongStreams) {
  EXPECT_TRUE(Splits(Codec::kLz4, 5, 16, 4096));
  EXPECT_FALSE(Splits(Codec::kLz4, 5, 17, 4096));
  EXPECT_TRUE(Splits(Codec::kLz4, 5, 4, 128));
  EXPECT_FALSE(Splits(Codec::kLz4, 5, 4, 127));
}

TEST(SplitsBlocksTest, NeedsShuffleInSomeSlot) {
  CompressionOptions options = Options(Codec::kLz4, 5, 4);
  options.filters = {{Filter::kShuffle}, {Filter::kByteDelta, 4}};
  EXPECT_TRUE(SplitsBlocks(options, 4, 4096));
  options.filters = {{Filter::kDelta}, {Filter::kBitShuffle}};
  EXPECT_FALSE(SplitsBlocks(options, 4, 4096));
  options.filters = {};
  EXPECT_FALSE(SplitsBlocks(options, 4, 4096));
}

TEST(SplitsBlocksTest, ObeysTheMode) {
  CompressionOptions options = Options(Codec::kZlib, 9, 200);
  options.filters = {};
  options.split_mode = SplitMode::kAlways;
  EXPECT_TRUE(SplitsBlocks(options, 200, 200));
  options = Options(Codec::kLz4, 5, 4);
  options.split_mode = SplitMode::kNever;
  EXPECT_FALSE(SplitsBlocks(options, 4, 4096));
  options.split_mode = SplitMode::kAuto;
  EXPECT_TRUE(SplitsBlocks(options, 4, 4096));
}

}  // namespace
}  // namespace cairn::chunk
