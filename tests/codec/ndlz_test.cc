#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/endian.h"
#include "engine/codec/stream_codec.h"
#include "tests/codec/samples.h"
#include "tests/support/status.h"

namespace cairn::codec {
namespace {

using Buffer = std::vector<std::byte>;

// The start of a stream, and bytes that follow it.
Buffer StreamOf(int32_t rows, int32_t columns, const std::vector<int>& cells) {
  Buffer stream(9);
  stream[0] = std::byte{2};
  StoreLe(&stream[1], rows);
  StoreLe(&stream[5], columns);
  for (const int byte : cells) stream.push_back(static_cast<std::byte>(byte));
  return stream;
}

Buffer BytesOf(const std::vector<int>& values) {
  Buffer bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

absl::StatusOr<Buffer> Decode(uint8_t side, const Buffer& stream, size_t size) {
  Buffer out(size);
  const absl::Status status = MakeNdlz()->Decompress(stream, out, {.meta = side});
  if (!status.ok()) return status;
  return out;
}

// 1..16, as the literal cell that others refer to: its rows lie at bytes 10, 14, 18 and 22.
std::vector<int> With16(std::vector<int> more) {
  std::vector<int> cells = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  cells.insert(cells.end(), more.begin(), more.end());
  return cells;
}

// The second of two cells that lie one under the other.
absl::StatusOr<Buffer> SecondCell(std::vector<int> token_and_more) {
  const auto decoded = Decode(4, StreamOf(8, 4, With16(std::move(token_and_more))), 32);
  if (!decoded.ok()) return decoded;
  return Buffer(decoded->begin() + 16, decoded->end());
}

constexpr int kToken = 26;  // of the second cell

TEST(NdlzTest, ReadsEachKindOfCell) {
  const int at_first = kToken - 10;
  EXPECT_EQ(SecondCell({0x40, 9}).value(), Buffer(16, std::byte{9}));
  EXPECT_EQ(SecondCell({0xC0, at_first, 0}).value(),
            BytesOf({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}));
  EXPECT_EQ(SecondCell({0xF0, at_first, 0, 91, 92, 93, 94}).value(),
            BytesOf({1, 2, 3, 4, 5, 6, 7, 8, 91, 92, 93, 94, 9, 10, 11, 12}));
  EXPECT_EQ(SecondCell({0xB0, at_first, 0, 91, 92, 93, 94, 95, 96, 97, 98}).value(),
            BytesOf({91, 92, 93, 94, 1, 2, 3, 4, 5, 6, 7, 8, 95, 96, 97, 98}));
  EXPECT_EQ(SecondCell({0x30, at_first, 0, at_first - 8, 0}).value(),
            BytesOf({1, 2, 3, 4, 9, 10, 11, 12, 5, 6, 7, 8, 13, 14, 15, 16}));
}

TEST(NdlzTest, ReadsCellsThatTheBorderCuts) {
  EXPECT_EQ(Decode(4, StreamOf(1, 5, {0, 1, 2, 3, 4, 0, 5}), 5).value(), BytesOf({1, 2, 3, 4, 5}));
  EXPECT_EQ(Decode(8, StreamOf(2, 2, {0, 1, 2, 3, 4}), 4).value(), BytesOf({1, 2, 3, 4}));
}

TEST(NdlzTest, RefusesWhatIsNoStream) {
  const auto refuses = [](const absl::StatusOr<Buffer>& decoded, std::string_view part) {
    return Fails(decoded.status(), absl::StatusCode::kDataLoss, part);
  };
  EXPECT_TRUE(refuses(Decode(5, StreamOf(8, 4, {}), 32), "expected 4 or 8"));
  EXPECT_TRUE(refuses(Decode(4, {}, 32), "dimensions"));
  EXPECT_TRUE(refuses(Decode(4, StreamOf(8, 5, With16({0x40, 9})), 32), "shape"));
  EXPECT_TRUE(refuses(Decode(4, StreamOf(-8, -4, With16({0x40, 9})), 32), "shape"));
  EXPECT_TRUE(refuses(SecondCell({}), "token"));
  EXPECT_TRUE(refuses(SecondCell({0x40}), "value"));
  EXPECT_TRUE(refuses(SecondCell({0x41, 9}), "token"));
  EXPECT_TRUE(refuses(SecondCell({0x40, 9, 1}), "end"));
  EXPECT_TRUE(refuses(SecondCell({0xC0, kToken + 1, 0}), "offset"));
  EXPECT_TRUE(refuses(SecondCell({0xC0, 4, 0}), "offset"));
  EXPECT_TRUE(refuses(SecondCell({0xF0, 16, 0, 91}), "row"));
  EXPECT_TRUE(refuses(Decode(4, StreamOf(1, 5, {0x40, 1, 0x40, 2}), 5), "border"));
}

// Blocks with all kinds of repeats.
std::vector<Buffer> Blocks(size_t rows, size_t columns) {
  std::vector<Buffer> blocks;
  std::mt19937 random(static_cast<unsigned>(rows * 1000 + columns));
  for (const unsigned values : {2u, 4u, 60u}) {
    blocks.push_back(Generate(rows * columns, [&] { return random() % values; }));
    // Rows that repeat those before.
    Buffer& block = blocks.emplace_back(blocks.back());
    for (size_t row = 1; row < rows; ++row) {
      const size_t from = random() % row;
      std::copy_n(block.begin() + static_cast<ptrdiff_t>(from * columns), columns,
                  block.begin() + static_cast<ptrdiff_t>(row * columns));
    }
  }
  return blocks;
}

TEST(NdlzTest, RoundTripsBlocksOfAnyShape) {
  const auto codec = MakeNdlz();
  int compressed = 0;
  for (const auto& [rows, columns] : std::initializer_list<std::pair<int, int>>{
           {1, 1}, {4, 4}, {5, 9}, {8, 8}, {64, 3}, {7, 200}, {64, 64}, {300, 310}}) {
    for (const Buffer& block : Blocks(static_cast<size_t>(rows), static_cast<size_t>(columns))) {
      for (const uint8_t side : {uint8_t{4}, uint8_t{8}}) {
        const std::vector<int32_t> shape = {rows, columns};
        const PluginCall call{.meta = side, .blockshape = shape};
        Buffer stream(block.size());
        const auto size = codec->Compress(block, stream, call);
        ASSERT_TRUE(IsOk(size));
        if (*size == 0) continue;
        ASSERT_LT(*size, block.size());
        stream.resize(*size);
        EXPECT_TRUE(Decode(side, stream, block.size()).value() == block) << rows << " " << columns;
        ++compressed;
      }
    }
  }
  EXPECT_GT(compressed, 20);
}

TEST(NdlzTest, CodesBlocksOfTheShapeAlone) {
  const Buffer block(64, std::byte{1});
  Buffer stream(64);
  const std::vector<int32_t> shape = {8, 9};
  EXPECT_EQ(MakeNdlz()->Compress(block, stream, {.meta = 4, .blockshape = shape}).value(), 0u);
  EXPECT_TRUE(Fails(MakeNdlz()->Compress(block, stream, {.meta = 4}).status(),
                    absl::StatusCode::kInvalidArgument, "dimensions"));
}

}  // namespace
}  // namespace cairn::codec
