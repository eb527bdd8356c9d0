#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/chunk/special.h"
#include "tests/chunk/test_chunks.h"
#include "tests/support/hex.h"
#include "tests/support/status.h"

namespace cairn::chunk {
namespace {

TEST(MemcpyedChunkTest, IsHeaderAndPayload) {
  EXPECT_EQ(ToHex(MemcpyedChunk(Hex("00 00 00 00 01 00 00 00"))),
            ToHex(Hex("05 01 07 01  08 00 00 00  08 00 00 00  28 00 00 00"
                      "00 00 00 00 00 00  00 00  00 00 00 00 00 00  00 00"
                      "00 00 00 00 01 00 00 00")));
}

TEST(MemcpyedChunkTest, OfNothingIsABareHeader) {
  EXPECT_EQ(ToHex(MemcpyedChunk({})),
            ToHex(Hex("05 01 07 01  00 00 00 00  01 00 00 00  20 00 00 00"
                      "00 00 00 00 00 00  00 00  00 00 00 00 00 00  00 00")));
  EXPECT_TRUE(MemcpyedPayload(MemcpyedChunk({}))->empty());
}

TEST(MemcpyedChunkTest, GivesItsPayloadInPlaceAndDecoded) {
  for (const size_t size : {0, 1, 31, 32, 1000}) {
    const std::vector<std::byte> payload = Payload(Kind::kRandom, size);
    std::vector<std::byte> chunk = MemcpyedChunk(payload);
    EXPECT_EQ(Decoded(chunk), payload);
    chunk.resize(chunk.size() + 7);
    const auto place = MemcpyedPayload(chunk);
    ASSERT_TRUE(IsOk(place));
    EXPECT_EQ(ToVector(*place), payload);
    EXPECT_EQ(place->data(), chunk.data() + 32);
  }
}

TEST(ZerosChunkTest, DecodesToZeros) {
  for (const int32_t size : {0, 1, 4000}) {
    const std::vector<std::byte> chunk = ZerosChunk(size);
    EXPECT_EQ(chunk.size(), 32u);
    EXPECT_EQ(Decoded(chunk), std::vector<std::byte>(static_cast<size_t>(size)));
  }
}

TEST(ZerosChunkTest, ReachesTheLargestPayload) {
  const auto info = InspectChunk(ZerosChunk(kMaxChunkBytes));
  ASSERT_TRUE(IsOk(info));
  EXPECT_EQ(info->nbytes, kMaxChunkBytes);
}

TEST(MemcpyedPayloadTest, ReadsShortHeaders) {
  const auto chunk = Hex("02 01 02 01  02 00 00 00  02 00 00 00  12 00 00 00  aa bb");
  EXPECT_EQ(ToHex(*MemcpyedPayload(chunk)), "aabb");
}

TEST(MemcpyedPayloadTest, RefusesOtherForms) {
  EXPECT_TRUE(IsDamage(MemcpyedPayload(ZerosChunk(8)), "expected a memcpyed chunk"));
  EXPECT_TRUE(IsDamage(MemcpyedPayload(Compress(Payload(Kind::kMixed, 1000), {})),
                       "expected a memcpyed chunk"));
  EXPECT_TRUE(IsDamage(MemcpyedPayload({}), "chunk header"));
  std::vector<std::byte> both = MemcpyedChunk({});
  both[0x1F] = std::byte{0x10};
  EXPECT_TRUE(IsDamage(MemcpyedPayload(both), "expected a memcpyed chunk"));
}

}  // namespace
}  // namespace cairn::chunk
