#include "engine/format/trailer.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/base/hash.h"
#include "engine/chunk/special.h"
#include "tests/support/hex.h"
#include "tests/support/status.h"

namespace cairn::format {
namespace {

constexpr std::string_view kSmallest =
    "94 01 93 cd 00 06 de 00 00 dc 00 00 ce 00 00 00 23 d8 00"
    "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00";
constexpr FingerprintType kTypes[] = {FingerprintType::k32Bit, FingerprintType::k64Bit,
                                      FingerprintType::k128Bit};

// A table of 16 bytes between two other layers.
struct Sealed {
  std::vector<std::byte> table = chunk::MemcpyedChunk(std::vector<std::byte>(16, std::byte{9}));
  std::vector<std::byte> bytes;

  explicit Sealed(FingerprintType type) {
    const std::vector<NamedBytes> layers = {
        {"before", AsBytes("0123")}, {kTableLayer, table}, {"after", AsBytes("4567")}};
    bytes = EncodeTrailer(layers, type);
    EXPECT_EQ(static_cast<int64_t>(bytes.size()), TrailerSize(layers));
  }
};

TEST(TrailerTest, WritesTheSmallestTrailerOfTheFormat) {
  EXPECT_EQ(ToHex(EncodeTrailer({}, FingerprintType::kNone)), ToHex(Hex(kSmallest)));
  EXPECT_EQ(TrailerSize({}), 35);
}

TEST(TrailerTest, ReadsTheSmallestTrailerOfTheFormat) {
  const auto trailer = ParseTrailer(Hex(kSmallest));
  ASSERT_TRUE(IsOk(trailer));
  EXPECT_EQ(trailer->size, 35);
  EXPECT_TRUE(trailer->layers.empty());
  EXPECT_EQ(trailer->fingerprint_type, 0);
  EXPECT_EQ(ToHex(trailer->fingerprint), std::string(32, '0'));
}

TEST(TrailerTest, ParsingUndoesEncoding) {
  for (const FingerprintType type : kTypes) {
    const Sealed sealed(type);
    const auto trailer = ParseTrailer(sealed.bytes);
    ASSERT_TRUE(IsOk(trailer));
    ASSERT_EQ(trailer->layers.size(), 3u);
    EXPECT_EQ(trailer->layers[1].name, "cairn.fp");
    EXPECT_EQ(ToVector(Bytes(sealed.bytes)
                           .subspan(static_cast<size_t>(trailer->layers[1].begin),
                                    static_cast<size_t>(trailer->layers[1].size))),
              sealed.table);
    EXPECT_EQ(trailer->fingerprint_type, static_cast<uint8_t>(type));
    EXPECT_EQ(trailer->fingerprint, TrailerFingerprint(type, sealed.bytes, trailer->layers));
  }
}

TEST(TrailerTest, SaysItsSizeAtTheEnd) {
  const Sealed sealed(FingerprintType::k64Bit);
  const auto size = static_cast<int64_t>(sealed.bytes.size());
  const Bytes tail = Bytes(sealed.bytes).last(kTrailerTailSize);
  EXPECT_EQ(*ParseTrailerSize(tail, 1000000), size);
  EXPECT_EQ(*ParseTrailerSize(tail, size), size);
  EXPECT_TRUE(IsDamage(ParseTrailerSize(tail, size - 1), "trailer: trailer_len: expected 25 to"));
  EXPECT_TRUE(IsDamage(ParseTrailerSize(tail.first(4), size), "trailer: trailer_len"));
  EXPECT_TRUE(IsDamage(ParseTrailerSize(tail.subspan(1), size), "trailer: trailer_len"));
  EXPECT_TRUE(IsDamage(ParseTrailerSize(Hex("ce 00 00 00 18"), 1000), "got 24"));
  EXPECT_EQ(*ParseTrailerSize(Hex("ce 00 00 00 19"), 1000), 25);
  EXPECT_TRUE(IsDamage(ParseTrailerSize(Hex("ce ff ff ff ff"), 1000), "got 4294967295"));
}

absl::StatusOr<Trailer> ParseWith(size_t at, std::string_view bytes) {
  std::vector<std::byte> trailer = Hex(kSmallest);
  CopyBytes(Hex(bytes), MutableBytes(trailer).subspan(at));
  return ParseTrailer(trailer);
}

TEST(TrailerTest, RefusesWrongMarkersByName) {
  EXPECT_TRUE(IsDamage(ParseWith(0, "93"), "trailer: array"));
  EXPECT_TRUE(IsDamage(ParseWith(2, "c6"), "trailer: layers")) << "the trailers of pre-releases";
  EXPECT_TRUE(IsDamage(ParseWith(3, "00"), "trailer: map_size"));
  EXPECT_TRUE(IsDamage(ParseWith(6, "df"), "trailer: layer names"));
  EXPECT_TRUE(IsDamage(ParseWith(7, "20 01"), "trailer: layer count"));
  EXPECT_TRUE(IsDamage(ParseWith(12, "cf"), "trailer: trailer_len"));
  EXPECT_TRUE(IsDamage(ParseWith(17, "d7"), "trailer: fingerprint"));
}

TEST(TrailerTest, AcceptsWhatReadersIgnore) {
  EXPECT_TRUE(IsOk(ParseWith(1, "02"))) << "version";
  EXPECT_TRUE(IsOk(ParseWith(4, "ff ff"))) << "map_size";
  EXPECT_EQ(ParseWith(18, "c8")->fingerprint_type, 200);
}

TEST(TrailerTest, RefusesValuesThatReachIntoItsLastFields) {
  std::vector<std::byte> bytes =
      EncodeTrailer(std::vector<NamedBytes>{{"a", AsBytes("xyz")}}, FingerprintType::kNone);
  ASSERT_EQ(bytes[0x17], std::byte{3}) << "the length of the value";
  bytes[0x17] = std::byte{4};
  EXPECT_TRUE(IsDamage(ParseTrailer(bytes), "trailer: vlmetalayer a ends at byte 28"));
  bytes[0x17] = std::byte{200};
  EXPECT_TRUE(IsDamage(ParseTrailer(bytes), "trailer: layer content"));
}

TEST(TrailerTest, RefusesEveryTruncation) {
  const Sealed sealed(FingerprintType::k64Bit);
  for (size_t size = 0; size < sealed.bytes.size(); ++size) {
    const std::vector<std::byte> part(sealed.bytes.begin(),
                                      sealed.bytes.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_TRUE(IsDamage(ParseTrailer(part), "trailer: ")) << size;
  }
}

TEST(TrailerTest, AnswersEveryFlippedBit) {
  const Sealed sealed(FingerprintType::k64Bit);
  for (size_t bit = 0; bit < sealed.bytes.size() * 8; ++bit) {
    std::vector<std::byte> flipped = sealed.bytes;
    flipped[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_TRUE(IsOkOrRefusal(ParseTrailer(flipped).status())) << "bit " << bit;
    EXPECT_TRUE(
        IsOkOrRefusal(ParseTrailerSize(Bytes(flipped).last(kTrailerTailSize), 1 << 20).status()));
  }
}

TEST(TrailerFingerprintTest, CoversEveryByteButThePayloadOfTheTable) {
  for (const FingerprintType type : kTypes) {
    const Sealed sealed(type);
    const std::vector<LayerPlace> layers = ParseTrailer(sealed.bytes)->layers;
    const auto payload = static_cast<size_t>(layers[1].begin) + 32;
    const auto before = TrailerFingerprint(type, sealed.bytes, layers);
    for (size_t at = 0; at < sealed.bytes.size(); ++at) {
      std::vector<std::byte> changed = sealed.bytes;
      changed[at] ^= std::byte{1};
      const bool left_out = (at >= payload && at < payload + 16) || at >= changed.size() - 16;
      EXPECT_EQ(TrailerFingerprint(type, changed, layers) == before, left_out) << at;
    }
  }
}

TEST(TrailerFingerprintTest, CoversEveryByteWithoutATable) {
  const std::vector<std::byte> bytes =
      EncodeTrailer(std::vector<NamedBytes>{{"cairn", AsBytes("seal")}}, FingerprintType::k64Bit);
  const auto trailer = ParseTrailer(bytes);
  const Bytes covered = Bytes(bytes).first(bytes.size() - 16);
  EXPECT_EQ(trailer->fingerprint, Fingerprint(FingerprintType::k64Bit, {&covered, 1}));
}

TEST(TrailerFingerprintTest, TakesATableOfAnySize) {
  for (const size_t size : {0, 1, 31, 32, 33}) {
    const std::vector<std::byte> table(size, std::byte{1});
    const std::vector<std::byte> bytes =
        EncodeTrailer(std::vector<NamedBytes>{{kTableLayer, table}}, FingerprintType::k128Bit);
    const auto trailer = ParseTrailer(bytes);
    ASSERT_TRUE(IsOk(trailer));
    EXPECT_EQ(trailer->fingerprint,
              TrailerFingerprint(FingerprintType::k128Bit, bytes, trailer->layers));
  }
}

}  // namespace
}  // namespace cairn::format
