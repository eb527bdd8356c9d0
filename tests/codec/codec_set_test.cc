#include "engine/codec/codec_set.h"

#include <algorithm>
#include <initializer_list>
#include <string>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "tests/support/status.h"

namespace cairn::codec {
namespace {

constexpr auto kMine = static_cast<Codec>(200);

// Drops zeros at the end; adds the meta byte to all others.
class TrimCodec final : public CodecPlugin {
 public:
  absl::StatusOr<size_t> Compress(Bytes src, MutableBytes dst,
                                  const PluginCall& call) const override {
    size_t size = src.size();
    while (size > 0 && src[size - 1] == std::byte{0}) --size;
    if (call.clevel == 1) return size + 1000;
    if (size > dst.size()) return 0;
    std::transform(src.begin(), src.begin() + static_cast<ptrdiff_t>(size), dst.begin(),
                   [&](std::byte byte) { return byte ^ std::byte{call.meta}; });
    return size;
  }
  absl::Status Decompress(Bytes src, MutableBytes dst, const PluginCall& call) const override {
    if (src.size() > dst.size()) return DataLoss("%d bytes for %d", src.size(), dst.size());
    FillBytes(dst, std::byte{0});
    std::transform(src.begin(), src.end(), dst.begin(),
                   [&](std::byte byte) { return byte ^ std::byte{call.meta}; });
    return absl::OkStatus();
  }
};

TEST(CodecSetTest, GivesEachCodecOfTheFormatOnce) {
  CodecSet set;
  for (const Codec id :
       {Codec::kBloscLz, Codec::kLz4, Codec::kLz4Hc, Codec::kZlib, Codec::kZstd, Codec::kNdlz}) {
    const auto codec = set.Get(id, nullptr);
    ASSERT_TRUE(IsOk(codec));
    const auto again = set.Get(id, nullptr);
    ASSERT_TRUE(IsOk(again));
    EXPECT_EQ(*codec, *again);
  }
}

TEST(CodecSetTest, NamesRegisteredCodecsThatNoBuildHas) {
  for (const auto& [id, name] : std::initializer_list<std::pair<int, std::string>>{
           {36, "OpenHTJ2K"}, {37, "Grok"}, {38, "OpenZL"}}) {
    const absl::Status status = CodecSet().Get(static_cast<Codec>(id), nullptr).status();
    EXPECT_TRUE(Fails(status, absl::StatusCode::kUnimplemented, name));
  }
}

TEST(CodecSetTest, NamesTheCodecItLacks) {
  CodecSet set;
  const Registry empty;
  for (const int id : {3, 6, 36, 200, 255}) {
    for (const Registry* registry : {static_cast<const Registry*>(nullptr), &empty}) {
      const absl::Status status = set.Get(static_cast<Codec>(id), registry).status();
      EXPECT_TRUE(absl::IsUnimplemented(status)) << status;
      EXPECT_NE(status.message().find(std::to_string(id)), std::string_view::npos) << status;
    }
  }
}

TEST(CodecSetTest, RoundTripsThroughAPlugin) {
  Registry registry;
  ASSERT_TRUE(IsOk(registry.AddCodec(200, std::make_unique<TrimCodec>())));
  CodecSet set;
  const auto codec = set.Get(kMine, &registry);
  ASSERT_TRUE(IsOk(codec));
  std::vector<std::byte> src(100);
  src[3] = std::byte{7};
  std::vector<std::byte> stream(100);
  const auto size = (*codec)->Compress(src, stream, {.clevel = 5, .meta = 0x11});
  ASSERT_TRUE(IsOk(size));
  ASSERT_EQ(*size, 4);
  EXPECT_EQ(stream[3], std::byte{0x16});
  stream.resize(*size);
  std::vector<std::byte> decoded(100, std::byte{1});
  ASSERT_TRUE((*codec)->Decompress(stream, decoded, {.meta = 0x11}).ok());
  EXPECT_EQ(decoded, src);
  EXPECT_TRUE(absl::IsUnimplemented(set.Get(kMine, nullptr).status()));
}

TEST(CodecSetTest, DoesNotBelieveAPluginThatClaimsMoreThanTheCapacity) {
  Registry registry;
  ASSERT_TRUE(IsOk(registry.AddCodec(200, std::make_unique<TrimCodec>())));
  CodecSet set;
  const auto codec = set.Get(kMine, &registry);
  ASSERT_TRUE(IsOk(codec));
  const std::vector<std::byte> src(100);
  std::vector<std::byte> stream(100);
  const auto size = (*codec)->Compress(src, stream, {.clevel = 1});
  ASSERT_TRUE(IsOk(size));
  EXPECT_EQ(*size, 0);
}

TEST(CodecSetTest, OnlySomeCodecsTakeDictionaries) {
  EXPECT_TRUE(SupportsDictionary(Codec::kLz4));
  EXPECT_TRUE(SupportsDictionary(Codec::kLz4Hc));
  EXPECT_TRUE(SupportsDictionary(Codec::kZstd));
  EXPECT_FALSE(SupportsDictionary(Codec::kBloscLz));
  EXPECT_FALSE(SupportsDictionary(Codec::kZlib));
  EXPECT_FALSE(SupportsDictionary(kMine));
}

TEST(RegistryTest, KeepsTheFormatsIdsToItself) {
  Registry registry;
  for (const uint8_t id : std::initializer_list<uint8_t>{0, 5, 32, 35}) {
    EXPECT_TRUE(
        absl::IsInvalidArgument(registry.AddCodec(id, std::make_unique<const TrimCodec>())));
    EXPECT_TRUE(absl::IsInvalidArgument(registry.AddFilter(id, nullptr)));
    EXPECT_EQ(registry.codec(id), nullptr);
  }
  for (const uint8_t id : std::initializer_list<uint8_t>{160, 255}) {
    EXPECT_TRUE(IsOk(registry.AddCodec(id, std::make_unique<const TrimCodec>())));
    EXPECT_NE(registry.codec(id), nullptr);
    EXPECT_EQ(registry.filter(id), nullptr);
  }
}

TEST(RegistryTest, TakesCodecsThatTheFormatRegistersForOthers) {
  Registry registry;
  CodecSet codecs;
  ASSERT_TRUE(IsOk(codecs.Get(Codec::kPco, nullptr)));  // is not taken for codec 36
  for (const uint8_t id : std::initializer_list<uint8_t>{36, 159}) {
    const auto codec = static_cast<Codec>(id);
    EXPECT_TRUE(absl::IsUnimplemented(codecs.Get(codec, &registry).status()));
    EXPECT_TRUE(IsOk(registry.AddCodec(id, std::make_unique<const TrimCodec>())));
    EXPECT_TRUE(IsOk(codecs.Get(codec, &registry)));
  }
}

TEST(RegistryTest, RefusesDuplicatesAndNothing) {
  Registry registry;
  ASSERT_TRUE(IsOk(registry.AddCodec(200, std::make_unique<const TrimCodec>())));
  const CodecPlugin* first = registry.codec(200);
  EXPECT_TRUE(absl::IsAlreadyExists(registry.AddCodec(200, std::make_unique<const TrimCodec>())));
  EXPECT_EQ(registry.codec(200), first);
  for (const Codec codec : {Codec::kPco, Codec::kBitpack}) {
    EXPECT_TRUE(absl::IsAlreadyExists(
        registry.AddCodec(static_cast<uint8_t>(codec), std::make_unique<const TrimCodec>())));
  }
  EXPECT_TRUE(absl::IsInvalidArgument(registry.AddCodec(201, nullptr)));
  EXPECT_TRUE(absl::IsInvalidArgument(registry.AddFilter(201, nullptr)));
}

}  // namespace
}  // namespace cairn::codec
