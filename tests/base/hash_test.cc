#include "engine/base/hash.h"

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/base/endian.h"

namespace cairn {
namespace {

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
