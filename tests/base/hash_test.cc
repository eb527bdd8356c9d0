#include "engine/base/hash.h"

#include <vector>
#include <xxhash.h>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/base/endian.h"

namespace cairn {
namespace {

// Whichever kernel runs, the bytes of a file must hash alike on every machine.
TEST(Xxh3Test, EqualsThePlainFunctionForEverySize) {
  std::vector<std::byte> bytes;
  for (int i = 0; i < 5000; ++i) {
    ASSERT_EQ(Xxh3(bytes), XXH3_64bits(bytes.data(), bytes.size())) << i;
    bytes.push_back(static_cast<std::byte>(i * i >> 3));
  }
  Xxh3Stream stream;
  stream.Update(Bytes(bytes).first(1777));
  stream.Update(Bytes(bytes).subspan(1777));
  EXPECT_EQ(stream.Digest(), XXH3_64bits(bytes.data(), bytes.size()));
  const Bytes parts[] = {bytes};
  const XXH128_hash_t wide = XXH3_128bits(bytes.data(), bytes.size());
  const auto fingerprint = Fingerprint(FingerprintType::k128Bit, parts);
  EXPECT_EQ(LoadBe<uint64_t>(fingerprint.data()), wide.high64);
  EXPECT_EQ(LoadBe<uint64_t>(fingerprint.data() + 8), wide.low64);
}

TEST(FingerprintTest, PartsHashLikeTheirConcatenation) {
  for (const FingerprintType type :
       {FingerprintType::k32Bit, FingerprintType::k64Bit, FingerprintType::k128Bit}) {
    const Bytes whole[] = {AsBytes("one two")};
    const Bytes parts[] = {AsBytes("one"), Bytes(), AsBytes(" two")};
    EXPECT_EQ(Fingerprint(type, whole), Fingerprint(type, parts));
  }
}

TEST(FingerprintTest, ShortKindsArePaddedOnTheLeft) {
  const Bytes parts[] = {AsBytes("abc")};
  const auto narrow = Fingerprint(FingerprintType::k32Bit, parts);
  EXPECT_EQ(LoadBe<uint64_t>(narrow.data()), 0u);
  // Values of `printf abc | xxhsum -H0` and `-H3`.
  EXPECT_EQ(LoadBe<uint64_t>(narrow.data() + 8), 0x32d153ffu);
  const auto wide = Fingerprint(FingerprintType::k64Bit, parts);
  EXPECT_EQ(LoadBe<uint64_t>(wide.data()), 0u);
  EXPECT_EQ(LoadBe<uint64_t>(wide.data() + 8), Xxh3(parts[0]));
}

TEST(FingerprintTest, NoneIsZero) {
  const Bytes parts[] = {AsBytes("abc")};
  EXPECT_EQ(Fingerprint(FingerprintType::kNone, parts), (std::array<std::byte, 16>{}));
}

}  // namespace
}  // namespace cairn
