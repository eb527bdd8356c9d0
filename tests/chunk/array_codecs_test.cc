// Chunks of the codecs and filters that code n-dimensional arrays.
#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/chunk.h"
#include "cairn/frame.h"
#include "tests/support/status.h"

namespace cairn {
namespace {

CompressionOptions Ndlz() {
  CompressionOptions options;
  options.codec = Codec::kNdlz;
  options.codec_meta = 4;
  options.blockshape = {16, 20};
  return options;
}

CompressionOptions Zfp() {
  CompressionOptions options;
  options.codec = Codec::kZfpAccuracy;
  options.typesize = 4;
  options.blockshape = {16, 20};
  options.filters.clear();
  return options;
}

CompressionOptions CellsOf(Filter filter) {
  CompressionOptions options;
  options.typesize = 4;
  options.blockshape = {16, 20};
  options.filters = {{.filter = filter, .meta = 4}, {.filter = Filter::kShuffle}};
  return options;
}

absl::Status Make(const CompressionOptions& options) {
  return ChunkCompressor::Make(options).status();
}

TEST(ArrayCodecsTest, ChunksRoundTripWithTheShapeOfBlocks) {
  const CompressionOptions options = Ndlz();
  std::vector<std::byte> items(5 * 16 * 20);
  for (size_t i = 0; i < items.size(); ++i) items[i] = static_cast<std::byte>(i / 20 % 8);
  std::vector<std::byte> chunk(MaxCompressedSize(items.size()));
  const auto size = CompressChunk(items, options, chunk);
  ASSERT_TRUE(IsOk(size));
  chunk.resize(*size);
  EXPECT_LT(chunk.size(), items.size());
  const auto info = InspectChunk(chunk);
  ASSERT_TRUE(IsOk(info));
  EXPECT_EQ(info->codec, Codec::kNdlz);
  EXPECT_EQ(info->codec_meta, 4);
  EXPECT_EQ(info->blocksize, 16 * 20);
  std::vector<std::byte> decoded(items.size());
  ASSERT_TRUE(IsOk(DecompressChunk(chunk, decoded, {.blockshape = options.blockshape})));
  EXPECT_EQ(decoded, items);
}

TEST(ArrayCodecsTest, CellsRoundTripWhateverTheyHold) {
  // Blocks of noise among others, since samples of blocks choose those that are stored as they are.
  CompressionOptions options = CellsOf(Filter::kNdCell);
  options.blockshape = {100, 128};
  constexpr size_t kBlock = 100 * 128 * 4;
  std::mt19937 random(5);
  for (const uint32_t kind : {0U, 1U, 2U}) {
    std::vector<std::byte> items(20 * kBlock);
    for (size_t i = 0; i < items.size(); ++i) {
      const size_t block = i / kBlock;
      const bool noise = kind == 1 || (kind == 2 && block % 3 == 0);
      items[i] = static_cast<std::byte>(noise ? random() : i / 80);
    }
    std::vector<std::byte> chunk(MaxCompressedSize(items.size()));
    const auto size = CompressChunk(items, options, chunk);
    ASSERT_TRUE(IsOk(size));
    chunk.resize(*size);
    std::vector<std::byte> decoded(items.size());
    ASSERT_TRUE(IsOk(DecompressChunk(chunk, decoded, {.blockshape = options.blockshape})));
    EXPECT_EQ(decoded, items);
  }
}

TEST(ArrayCodecsTest, ItemsOfMoreThan255BytesAreReadWithTheirSize) {
  CompressionOptions options = CellsOf(Filter::kNdCell);
  options.typesize = 300;
  options.filters = {{.filter = Filter::kNdCell, .meta = 4}};
  std::vector<std::byte> items(size_t{16} * 20 * 300);
  for (size_t i = 0; i < items.size(); ++i) items[i] = static_cast<std::byte>(i / 300 % 7 * 30);
  std::vector<std::byte> chunk(MaxCompressedSize(items.size()));
  const auto size = CompressChunk(items, options, chunk);
  ASSERT_TRUE(IsOk(size));
  ASSERT_LT(*size, items.size());
  chunk.resize(*size);
  std::vector<std::byte> decoded(items.size());
  const DecompressionOptions with{.blockshape = options.blockshape, .typesize = 300};
  ASSERT_TRUE(IsOk(DecompressChunk(chunk, decoded, with)));
  EXPECT_EQ(decoded, items);
  const DecompressionOptions without{.blockshape = options.blockshape};
  EXPECT_FALSE(DecompressChunk(chunk, decoded, without).ok() && decoded == items);
}

TEST(ArrayCodecsTest, CellsNeedCompleteBlocks) {
  const CompressionOptions options = CellsOf(Filter::kNdCell);
  std::vector<std::byte> items(3 * 16 * 20 * 4 / 2);
  for (size_t i = 0; i < items.size(); ++i) items[i] = static_cast<std::byte>(i / 80);
  std::vector<std::byte> chunk(MaxCompressedSize(items.size()));
  EXPECT_TRUE(Fails(CompressChunk(items, options, chunk).status(),
                    absl::StatusCode::kInvalidArgument, "a block of 640 bytes"));
}

TEST(ArrayCodecsTest, RefuseOptionsThatCodeNothing) {
  const auto refuses = [](CompressionOptions options, std::string_view part) {
    return Fails(Make(options), absl::StatusCode::kInvalidArgument, part);
  };
  CompressionOptions options = Ndlz();
  options.blockshape.clear();
  EXPECT_TRUE(refuses(options, "arrays only"));
  options = Ndlz();
  options.blockshape = {3, 4, 5};
  EXPECT_TRUE(refuses(options, "dimensions"));
  options.blockshape = {3, 0};
  EXPECT_TRUE(refuses(options, "blockshape"));
  options = Ndlz();
  options.codec_meta = 5;
  EXPECT_TRUE(refuses(options, "meta"));
  options = Ndlz();
  options.typesize = 4;
  EXPECT_TRUE(refuses(options, "split"));
  options = Ndlz();
  options.blocksize = 100;
  EXPECT_TRUE(refuses(options, "blocksize"));
  options = Zfp();
  options.typesize = 2;
  EXPECT_TRUE(refuses(options, "typesize"));
  options = Zfp();
  options.blockshape = {16, 3};
  EXPECT_TRUE(refuses(options, "blocks of at least 4 items along each, got 16 x 3"));
  options = Zfp();
  options.filters = {{.filter = Filter::kShuffle}};
  EXPECT_TRUE(refuses(
      options, "codec id 33 (zfp_acc) codes numbers, which filter id 1 (shuffle) takes apart"));
}

TEST(ArrayCodecsTest, AFrameWithoutAnArrayCannotUseThem) {
  CreateOptions create;
  for (const CompressionOptions& compression : {Ndlz(), CellsOf(Filter::kNdCell)}) {
    create.compression = compression;
    EXPECT_TRUE(Fails(Frame::CreateInMemory(create).status(), absl::StatusCode::kInvalidArgument,
                      "arrays only"));
  }
}

TEST(ArrayCodecsTest, AnArrayGivesThemItsShape) {
  for (CompressionOptions compression :
       {Ndlz(), Zfp(), CellsOf(Filter::kNdCell), CellsOf(Filter::kNdMean)}) {
    if (absl::IsUnimplemented(Make(compression))) continue;
    // The array's own counts.
    compression.blockshape = {1, 2, 3};
    CreateOptions create;
    create.compression = compression;
    create.array =
        ArrayInfo{.shape = {30, 50}, .chunkshape = {30, 40}, .blockshape = {10, 20}, .dtype = {}};
    auto frame = Frame::CreateInMemory(create);
    ASSERT_TRUE(IsOk(frame));
    auto writer = frame->OpenWriter();
    ASSERT_TRUE(IsOk(writer));
    const int64_t start[] = {0, 0};
    const int64_t shape[] = {30, 50};
    std::vector<std::byte> items(30 * 50 * static_cast<size_t>(compression.typesize));
    for (size_t i = 0; i < items.size(); i += 8) items[i] = static_cast<std::byte>(i / 400 % 4);
    ASSERT_TRUE(IsOk(writer->WriteBox(start, shape, items)));
    const auto snapshot = writer->Commit();
    ASSERT_TRUE(IsOk(snapshot));
    std::vector<std::byte> read(items.size());
    ASSERT_TRUE(IsOk(snapshot->ReadBox(start, shape, read)));
    // Denormal numbers, which ZFP takes for zeros here.
    const bool lossy =
        compression.codec == Codec::kZfpAccuracy ||
        (!compression.filters.empty() && compression.filters[0].filter == Filter::kNdMean);
    EXPECT_TRUE(lossy || read == items);
    EXPECT_EQ(InspectChunk(snapshot->GetChunk(0)->bytes())->codec, compression.codec);
  }
}

}  // namespace
}  // namespace cairn
