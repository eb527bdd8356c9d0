#include "engine/format/layers.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "tests/support/hex.h"
#include "tests/support/status.h"

namespace cairn::format {
namespace {

// The list after three bytes of something else.
std::vector<std::byte> Write(const std::vector<NamedBytes>& layers, MapSizeOrigin origin,
                             std::vector<LayerPlace>* places = nullptr) {
  ByteWriter writer;
  writer.Zeros(3);
  const std::vector<LayerPlace> written = WriteLayers(layers, origin, writer);
  EXPECT_EQ(static_cast<int64_t>(writer.size()), 3 + LayersSize(layers));
  if (places != nullptr) *places = written;
  return std::move(writer).Take();
}

absl::StatusOr<std::vector<LayerPlace>> Read(Bytes bytes, int max_layers = kMaxMetalayers) {
  ByteReader reader(bytes, "test");
  reader.Take(3, "start");
  const std::vector<LayerPlace> layers = ReadLayers(reader, max_layers);
  if (!reader.ok()) return reader.status();
  return layers;
}

TEST(LayersTest, CountTheMapFromTheirOrigin) {
  EXPECT_EQ(ToHex(Bytes(Write({}, MapSizeOrigin::kArray)).subspan(3)),
            ToHex(Hex("93 cd 00 07 de 00 00 dc 00 00")));
  EXPECT_EQ(ToHex(Bytes(Write({}, MapSizeOrigin::kMapSize)).subspan(3)),
            ToHex(Hex("93 cd 00 06 de 00 00 dc 00 00")));
}

TEST(LayersTest, CountOffsetsFromTheStructureAroundThem) {
  const std::vector<std::byte> content = Hex("aa bb");
  const auto bytes = Write({{"n", content}, {"mm", {}}}, MapSizeOrigin::kMapSize);
  EXPECT_EQ(ToHex(Bytes(bytes).subspan(3)),
            ToHex(Hex("93 cd 00 15 de 00 02 a1 6e d2 00 00 00 1c a2 6d 6d d2 00 00 00 23"
                      "dc 00 02 c6 00 00 00 02 aa bb c6 00 00 00 00")));
}

TEST(LayersTest, AreReadWhereTheyWereWritten) {
  const std::string longest(31, 'z');
  const std::vector<std::byte> content(1000, std::byte{5});
  std::vector<NamedBytes> layers;
  for (int i = 0; i < 16; ++i) {
    layers.push_back({std::string_view(longest).substr(static_cast<size_t>(2 * i)),
                      Bytes(content).first(static_cast<size_t>(60 * i))});
  }
  std::vector<LayerPlace> places;
  const std::vector<std::byte> bytes = Write(layers, MapSizeOrigin::kArray, &places);
  const auto read = Read(bytes);
  ASSERT_TRUE(IsOk(read));
  ASSERT_EQ(read->size(), 16u);
  for (size_t i = 0; i < 16; ++i) {
    const LayerPlace& place = (*read)[i];
    EXPECT_EQ(place.name, layers[i].name);
    EXPECT_EQ(place.begin, places[i].begin);
    EXPECT_EQ(place.size, places[i].size);
    EXPECT_EQ(ToVector(Bytes(bytes).subspan(static_cast<size_t>(place.begin),
                                            static_cast<size_t>(place.size))),
              ToVector(layers[i].content));
  }
}

TEST(LayersTest, AreFoundByOffsetNotByOrder) {
  std::vector<std::byte> bytes = Write({{"a", Hex("01")}, {"b", {}}}, MapSizeOrigin::kArray);
  // Both names lead to the second value.
  bytes[3 + 7 + 6] = bytes[3 + 7 + 7 + 6];
  const auto read = Read(bytes);
  ASSERT_TRUE(IsOk(read));
  EXPECT_EQ((*read)[0].size, 0);
}

TEST(LayersTest, ReaderEndsWhereTheValuesBegin) {
  const std::vector<std::byte> bytes = Write({{"a", {}}}, MapSizeOrigin::kArray);
  ByteReader reader(bytes, "test");
  reader.Take(3, "start");
  ReadLayers(reader, 16);
  EXPECT_EQ(reader.U8("value"), 0xC6);
}

TEST(LayersTest, RefuseMoreThanTheirLimit) {
  const std::vector<NamedBytes> layers(17);
  const std::vector<std::byte> bytes = Write(layers, MapSizeOrigin::kArray);
  EXPECT_TRUE(IsDamage(Read(bytes, 16), "test: layer count"));
  EXPECT_TRUE(IsDamage(Read(bytes, 16), "expected up to 16, got 17"));
  EXPECT_EQ(Read(bytes, 17)->size(), 17u);
}

TEST(LayersTest, RefuseToHoldMoreThanThereIs) {
  const std::vector<std::byte> content(100, std::byte{5});
  std::vector<LayerPlace> places;
  std::vector<std::byte> bytes =
      Write({{"a", content}, {"b", {}}}, MapSizeOrigin::kMapSize, &places);
  EXPECT_TRUE(IsOk(Read(bytes)));
  // The offset of b becomes that of a: both hold the same bytes.
  const size_t offset_of_a = 3 + 1 + 3 + 3 + 2 + 1;
  std::copy_n(bytes.begin() + offset_of_a, 4, bytes.begin() + offset_of_a + 4 + 2 + 1);
  EXPECT_TRUE(IsDamage(Read(bytes).status(), "layers overlap"));
}

// Layers "a" with this content and "b", whose offset is another.
std::vector<std::byte> MoveSecond(Bytes content, int32_t offset) {
  std::vector<std::byte> bytes = Write({{"a", content}, {"b", Hex("07")}}, MapSizeOrigin::kMapSize);
  const size_t offset_of_b = 3 + 1 + 3 + 3 + 2 + 1 + 4 + 2 + 1;
  StoreBe(bytes.data() + offset_of_b, static_cast<uint32_t>(offset));
  return bytes;
}

TEST(LayersTest, RefuseToLieInEachOther) {
  // The content of a reads as a complete layer.
  const std::vector<std::byte> content = Hex("00 c6 00 00 00 01 55 00");
  std::vector<LayerPlace> places;
  Write({{"a", content}, {"b", Hex("07")}}, MapSizeOrigin::kMapSize, &places);
  EXPECT_TRUE(IsOk(Read(MoveSecond(content, static_cast<int32_t>(places[1].begin) - 5))));
  const auto read = Read(MoveSecond(content, static_cast<int32_t>(places[0].begin) + 1));
  EXPECT_TRUE(IsDamage(read.status(), "layers overlap"));
}

TEST(LayersTest, RefuseToLieBeforeTheirValues) {
  // The bytes before the list read as an empty layer.
  ByteWriter writer;
  writer.Append(Hex("c6 00 00 00 00"));
  WriteLayers(std::vector<NamedBytes>{{"a", {}}}, MapSizeOrigin::kMapSize, writer);
  std::vector<std::byte> bytes = std::move(writer).Take();
  const size_t offset_of_a = 5 + 1 + 3 + 3 + 2 + 1;
  StoreBe(bytes.data() + offset_of_a, uint32_t{0});
  ByteReader reader(bytes, "test");
  reader.Take(5, "start");
  ReadLayers(reader, kMaxMetalayers);
  EXPECT_TRUE(IsDamage(reader.status(), "leads before the values"));
}

TEST(LayersTest, RefuseEveryTruncation) {
  const std::vector<std::byte> bytes =
      Write({{"first", Hex("0102")}, {"second", Hex("03")}}, MapSizeOrigin::kArray);
  for (size_t size = 3; size < bytes.size(); ++size) {
    const std::vector<std::byte> part(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_TRUE(IsDamage(Read(part), "test: ")) << size;
  }
}

TEST(CheckLayerNameTest, TakesNoNul) {
  EXPECT_EQ(CheckLayerName(std::string_view("a\0b", 3)).code(), absl::StatusCode::kInvalidArgument);
}

TEST(CheckLayerNameTest, TakesUpTo31Bytes) {
  EXPECT_TRUE(IsOk(CheckLayerName("")));
  EXPECT_TRUE(IsOk(CheckLayerName(std::string(31, 'x'))));
  EXPECT_TRUE(Fails(CheckLayerName(std::string(32, 'x')), absl::StatusCode::kInvalidArgument,
                    "at most 31 bytes, got 32"));
}

}  // namespace
}  // namespace cairn::format
