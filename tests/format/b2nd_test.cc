#include "engine/format/b2nd.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/byte_writer.h"
#include "engine/base/bytes.h"
#include "engine/format/msgpack.h"
#include "tests/support/hex.h"
#include "tests/support/status.h"

namespace cairn::format {
namespace {

// Shape 5 x 7, chunks of 3 x 5, blocks of 2 x 3, one byte an item.
constexpr std::string_view kExample =
    "97 00 02"
    "92 d3 00 00 00 00 00 00 00 05 d3 00 00 00 00 00 00 00 07"
    "92 d2 00 00 00 03 d2 00 00 00 05"
    "92 d2 00 00 00 02 d2 00 00 00 03"
    "00 db 00 00 00 03 7c 75 31";

absl::StatusOr<ArrayInfo> ParseArrayWith(size_t at, std::string_view bytes) {
  std::vector<std::byte> content = Hex(kExample);
  CopyBytes(Hex(bytes), MutableBytes(content).subspan(at));
  return ParseB2nd(content);
}

TEST(B2ndTest, ReadsShapesAndDtype) {
  const auto array = ParseB2nd(Hex(kExample));
  ASSERT_TRUE(IsOk(array));
  EXPECT_EQ(array->shape, (std::vector<int64_t>{5, 7}));
  EXPECT_EQ(array->chunkshape, (std::vector<int32_t>{3, 5}));
  EXPECT_EQ(array->blockshape, (std::vector<int32_t>{2, 3}));
  EXPECT_EQ(array->dtype, "|u1");
}

TEST(B2ndTest, ChangesNothingButTheShape) {
  std::vector<std::byte> expected = Hex(kExample);
  expected[12] = std::byte{9};
  expected[14] = std::byte{1};
  EXPECT_EQ(WithShape(Hex(kExample), std::vector<int64_t>{9, (int64_t{1} << 56) + 7}), expected);
}

TEST(B2ndTest, EncodesWhatItReads) {
  const std::vector<std::byte> content = Hex(kExample);
  ArrayInfo array = *ParseB2nd(content);
  EXPECT_EQ(EncodeB2nd(array), content);
  array.dtype_format = 5;
  array.dtype = "";
  EXPECT_EQ(*ParseB2nd(EncodeB2nd(array)), array);
  for (const size_t ndim : {size_t{0}, size_t{1}, size_t{8}, size_t{16}}) {
    array.shape.assign(ndim, int64_t{1} << 40);
    array.chunkshape.assign(ndim, 70000);
    array.blockshape.assign(ndim, 3);
    EXPECT_EQ(*ParseB2nd(EncodeB2nd(array)), array) << ndim;
  }
}

TEST(B2ndTest, PrefersTheNewerName) {
  const ArrayInfo older = {{1}, {1}, {1}, "old"};
  const ArrayInfo newer = {{2}, {2}, {2}, "new"};
  const Metalayer b2nd = {"b2nd", EncodeB2nd(newer)};
  const Metalayer caterva = {"caterva", EncodeB2nd(older)};
  EXPECT_EQ(*FindB2nd({caterva, b2nd}), newer);
  EXPECT_EQ(*FindB2nd({{"other"}, caterva}), older);
  EXPECT_EQ(FindB2nd({{"other"}}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(IsDamage(FindB2nd({caterva, {"b2nd"}}), "metalayer b2nd: array"));
}

TEST(B2ndTest, ReadsAnArrayWithoutDtype) {
  const std::vector<std::byte> content = Hex(kExample);
  const auto array = ParseB2nd(Bytes(content).first(content.size() - 9));
  ASSERT_TRUE(IsOk(array));
  EXPECT_EQ(array->dtype, "");
}

// An array of `ndim` dimensions of 4, in chunks and blocks of 2.
std::vector<std::byte> Cube(int ndim) {
  ByteWriter writer;
  writer.U8(0x97);
  writer.U8(0);
  writer.U8(static_cast<uint8_t>(ndim));
  writer.U8(msgpack::FixArray(ndim));
  for (int i = 0; i < ndim; ++i) msgpack::WriteInt<int64_t>(writer, 4);
  for (int k = 0; k < 2; ++k) {
    writer.U8(msgpack::FixArray(ndim));
    for (int i = 0; i < ndim; ++i) msgpack::WriteInt<int32_t>(writer, 2);
  }
  return std::move(writer).Take();
}

TEST(B2ndTest, ReadsUpToSixteenDimensions) {
  for (const int ndim : {0, 1, 8, 16}) {
    const auto array = ParseB2nd(Cube(ndim));
    ASSERT_TRUE(IsOk(array));
    EXPECT_EQ(array->shape, std::vector<int64_t>(static_cast<size_t>(ndim), 4));
    EXPECT_EQ(array->blockshape, std::vector<int32_t>(static_cast<size_t>(ndim), 2));
  }
  EXPECT_TRUE(IsDamage(ParseB2nd(Cube(17)), "metalayer b2nd: dimensions"));
}

TEST(B2ndTest, AcceptsEmptyExtentsOfAnEmptyShape) {
  EXPECT_TRUE(IsDamage(ParseArrayWith(29, "00 00 00 00"), "dimension 1 has shape 7")) << "chunks";
  std::vector<std::byte> content = Hex(kExample);
  content[12] = std::byte{0};  // shape
  EXPECT_TRUE(IsOk(ParseB2nd(content)));
  content[27] = std::byte{0};  // chunkshape
  content[38] = std::byte{0};  // blockshape
  EXPECT_TRUE(IsOk(ParseB2nd(content)));
}

TEST(B2ndTest, ChecksFieldsByName) {
  EXPECT_TRUE(IsDamage(ParseArrayWith(2, "11"), "metalayer b2nd: dimensions"));
  EXPECT_TRUE(IsDamage(ParseArrayWith(4, "d2"), "metalayer b2nd: shape"));
  EXPECT_TRUE(IsDamage(ParseArrayWith(23, "d3"), "metalayer b2nd: chunkshape"));
  EXPECT_TRUE(IsDamage(ParseArrayWith(34, "d3"), "metalayer b2nd: blockshape"));
  EXPECT_TRUE(IsDamage(ParseArrayWith(45, "da"), "metalayer b2nd: dtype"));
  EXPECT_TRUE(IsDamage(ParseArrayWith(46, "00 00 00 04"), "metalayer b2nd: dtype"));
  EXPECT_TRUE(IsDamage(ParseArrayWith(5, "ff"), "metalayer b2nd: dimension 0"));
  EXPECT_TRUE(IsDamage(ParseArrayWith(24, "ff"), "metalayer b2nd: dimension 0"));
  EXPECT_TRUE(IsDamage(ParseArrayWith(40, "ff"), "metalayer b2nd: dimension 1"));
  EXPECT_TRUE(IsDamage(ParseArrayWith(35, "00 00 00 00"), "metalayer b2nd: dimension 0"));
}

TEST(B2ndTest, RefusesEveryTruncationButThatOfTheDtype) {
  const std::vector<std::byte> content = Hex(kExample);
  for (size_t size = 0; size < content.size(); ++size) {
    const std::vector<std::byte> part(content.begin(),
                                      content.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_EQ(ParseB2nd(part).ok(), size == content.size() - 9) << size;
    if (ParseB2nd(part).ok()) continue;
    EXPECT_TRUE(IsDamage(ParseB2nd(part), "metalayer b2nd: "));
  }
}

TEST(B2ndTest, AnswersEveryFlippedBit) {
  const std::vector<std::byte> content = Hex(kExample);
  for (size_t bit = 0; bit < content.size() * 8; ++bit) {
    std::vector<std::byte> flipped = content;
    flipped[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_TRUE(IsOkOrRefusal(ParseB2nd(flipped).status())) << "bit " << bit;
  }
}

}  // namespace
}  // namespace cairn::format
