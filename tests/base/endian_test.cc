#include "engine/base/endian.h"

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/support/hex.h"

namespace cairn {
namespace {

using std::endian;

TEST(ToOrderTest, SwapsWhereTheHostHasTheOtherOrder) {
  static_assert(ToOrder<endian::little, endian::little>(uint32_t{0x01020304}) == 0x01020304);
  static_assert(ToOrder<endian::big, endian::big>(uint32_t{0x01020304}) == 0x01020304);
  static_assert(ToOrder<endian::little, endian::big>(uint32_t{0x01020304}) == 0x04030201);
  static_assert(ToOrder<endian::big, endian::little>(uint32_t{0x01020304}) == 0x04030201);
  static_assert(ToOrder<endian::big, endian::little>(uint8_t{0x01}) == 0x01);
  static_assert(ToOrder<endian::big, endian::little>(uint16_t{0x0102}) == 0x0201);
  static_assert(ToOrder<endian::little, endian::big>(uint64_t{0x0102030405060708}) ==
                0x0807060504030201);
}

// Whatever the host, for these are the bytes of files. From the second byte on nothing is aligned.
template <typename T>
void ExpectBytes(T value, std::string_view little, std::string_view big) {
  std::array<std::byte, 1 + sizeof(T)> bytes = {};
  StoreLe(bytes.data() + 1, value);
  EXPECT_EQ(ToHex(bytes), ToHex(Hex(little)));
  EXPECT_EQ(LoadLe<T>(bytes.data() + 1), value);
  StoreBe(bytes.data() + 1, value);
  EXPECT_EQ(ToHex(bytes), ToHex(Hex(big)));
  EXPECT_EQ(LoadBe<T>(bytes.data() + 1), value);
}

TEST(LoadAndStoreTest, TakeFloatsByTheirBits) {
  std::array<std::byte, 9> bytes = {};
  StoreLe(bytes.data() + 1, 1.0F);
  EXPECT_EQ(ToHex(Bytes(bytes).subspan(1, 4)), ToHex(Hex("0000803f")));
  EXPECT_EQ(LoadLe<float>(bytes.data() + 1), 1.0F);
  StoreLe(bytes.data() + 1, -2.0);
  EXPECT_EQ(ToHex(Bytes(bytes).subspan(1)), ToHex(Hex("00000000000000c0")));
  EXPECT_EQ(LoadLe<double>(bytes.data() + 1), -2.0);
}

TEST(LoadAndStoreTest, TakeAndGiveTheBytesOfTheOrderThatTheyName) {
  ExpectBytes(uint8_t{0x81}, "00 81", "00 81");
  ExpectBytes(uint16_t{0x8182}, "00 82 81", "00 81 82");
  ExpectBytes(uint32_t{0x81828384}, "00 84 83 82 81", "00 81 82 83 84");
  ExpectBytes(uint64_t{0x8182838485868788}, "00 88 87 86 85 84 83 82 81",
              "00 81 82 83 84 85 86 87 88");
}

}  // namespace
}  // namespace cairn
