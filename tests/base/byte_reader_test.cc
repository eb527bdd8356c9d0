#include "engine/base/byte_reader.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/byte_writer.h"
#include "tests/support/hex.h"

namespace cairn {
namespace {

constexpr std::array<std::byte, 6> kBytes = {std::byte{1}, std::byte{2}, std::byte{3},
                                             std::byte{4}, std::byte{5}, std::byte{6}};

TEST(ByteReaderTest, ReadsBothByteOrders) {
  ByteReader reader(kBytes, "test");
  EXPECT_EQ(reader.Le<uint16_t>("a"), 0x0201);
  EXPECT_EQ(reader.Be<uint32_t>("b"), 0x03040506u);
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(reader.remaining(), 0u);
}

TEST(ByteReaderTest, FirstFailureNamesSectionFieldAndOffsetAndSticks) {
  ByteReader reader(kBytes, "trailer");
  reader.Le<uint32_t>("count");
  EXPECT_EQ(reader.Le<uint32_t>("trailer_len"), 0u);
  EXPECT_EQ(reader.U8("later"), 0);
  EXPECT_EQ(reader.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(reader.status().message(), "trailer: trailer_len at byte 4: needs 4 bytes, 2 left");
}

TEST(ByteReaderTest, ExpectReportsBothValues) {
  ByteReader reader(kBytes, "header");
  reader.Expect(0x9e, "array");
  EXPECT_EQ(reader.status().message(), "header: array at byte 0: expected 0x9e, got 0x01");
}

TEST(ByteReaderTest, HugeSizesDoNotWrap) {
  ByteReader reader(kBytes, "test");
  reader.Take(2, "first");
  EXPECT_TRUE(reader.Take(~uint64_t{0}, "content").empty());
  EXPECT_FALSE(reader.ok());
}

TEST(ByteReaderTest, VarintTakesAsManyBytesAsItNeeds) {
  const std::pair<uint64_t, size_t> numbers[] = {{0, 1},
                                                 {127, 1},
                                                 {128, 2},
                                                 {16383, 2},
                                                 {16384, 3},
                                                 {~uint64_t{0} >> 1, 9},
                                                 {~uint64_t{0}, 10}};
  for (const auto& [number, size] : numbers) {
    ByteWriter writer;
    writer.Varint(number);
    EXPECT_EQ(writer.size(), size) << number;
    ByteReader reader(writer.written(), "test");
    EXPECT_EQ(reader.Varint("number"), number);
    EXPECT_TRUE(reader.ok());
    EXPECT_EQ(reader.remaining(), 0u);
  }
}

TEST(ByteReaderTest, VarintOfMoreThan64BitsOrWithoutAnEndIsDamage) {
  const auto read = [](std::string_view hex) {
    const std::vector<std::byte> bytes = Hex(hex);
    ByteReader reader(bytes, "test");
    EXPECT_EQ(reader.Varint("number"), 0u) << hex;
    return reader.status();
  };
  const std::string message = "test: number at byte 0: more than 64 bits";
  EXPECT_EQ(read("ff ff ff ff ff ff ff ff ff 02").message(), message);
  EXPECT_EQ(read("80 80 80 80 80 80 80 80 80 80 00").message(), message);
  EXPECT_EQ(read("ff ff").message(), "test: number at byte 0: needs 3 bytes, 2 left");
}

TEST(ByteReaderTest, VarintsAreSummedUp) {
  ByteWriter writer;
  uint64_t sum = 0;
  for (const uint64_t number : {0, 1, 127, 128, 16383, 16384, 1 << 30, 5, 300, 7}) {
    writer.Varint(number);
    sum += number;
  }
  ByteReader reader(writer.written(), "test");
  EXPECT_EQ(reader.SumVarints(0, "numbers"), 0u);
  EXPECT_EQ(reader.SumVarints(9, "numbers"), sum - 7);
  EXPECT_EQ(reader.Varint("number"), 7u);
  EXPECT_EQ(reader.remaining(), 0u);
  EXPECT_EQ(reader.SumVarints(1, "numbers"), 0u);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.SumVarints(1, "numbers"), 0u);
  writer.Varint(~uint64_t{0} - sum);
  ByteReader most(writer.written(), "test");
  EXPECT_EQ(most.SumVarints(11, "numbers"), ~uint64_t{0});
  writer.Varint(1 << 20);
  ByteReader more(writer.written(), "test");
  EXPECT_EQ(more.SumVarints(12, "numbers"), 0u);
  EXPECT_FALSE(more.ok());
}

TEST(ByteReaderTest, SeeksUpToTheEndOnly) {
  ByteReader reader(kBytes, "test");
  reader.Seek(6, "end");
  EXPECT_TRUE(reader.ok());
  reader.Seek(7, "past");
  EXPECT_FALSE(reader.ok());
}

}  // namespace
}  // namespace cairn
