// Tests the promises of every codec.
#include "engine/codec/stream_codec.h"

#include <algorithm>
#include <ostream>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/codec/codec_set.h"
#include "tests/codec/samples.h"
#include "tests/support/status.h"

namespace cairn::codec {
namespace {

struct CodecCase {
  std::string name;
  std::unique_ptr<StreamCodec> (*make)();
  bool has_versions = false;  // a stream may be of a version that is not supported

  // Its bytes, which would be printed else, are not all initialised.
  friend std::ostream& operator<<(std::ostream& out, const CodecCase& one) {
    return out << one.name;
  }
};

class StreamCodecTest : public testing::TestWithParam<CodecCase> {
 protected:
  // The stream, or nothing when it does not fit. Buffers are exact, so that a sanitizer sees any
  // access beside them.
  static std::vector<std::byte> Compress(StreamCodec& codec, Bytes src, size_t room, int clevel) {
    std::vector<std::byte> out(room);
    const auto size = codec.Compress(src, out, {.typesize = 1, .clevel = clevel});
    EXPECT_TRUE(IsOk(size));
    out.resize(size.value_or(0));
    return {out.begin(), out.end()};
  }

  static absl::Status Decompress(StreamCodec& codec, const std::vector<std::byte>& stream,
                                 std::vector<std::byte>& out) {
    return codec.Decompress(stream, out, {});
  }

  std::unique_ptr<StreamCodec> codec_ = GetParam().make();
};

TEST_P(StreamCodecTest, RoundTrips) {
  int compressed = 0;
  for (const size_t size : SampleSizes()) {
    for (const Sample& sample : Samples(size)) {
      for (const int clevel : {1, 5, 9}) {
        // The best levels take seconds on much data; what differs there is up to the library.
        if (size > 10000 && clevel == 9 && GetParam().name != "BloscLz") continue;
        SCOPED_TRACE(sample.name + " " + std::to_string(size) + " " + std::to_string(clevel));
        const auto stream = Compress(*codec_, sample.bytes, size + 100, clevel);
        if (stream.empty()) continue;
        ++compressed;
        ASSERT_LT(stream.size(), size);
        std::vector<std::byte> decoded(size);
        ASSERT_TRUE(IsOk(Decompress(*codec_, stream, decoded)));
        ASSERT_EQ(decoded, sample.bytes);
      }
    }
  }
  EXPECT_GT(compressed, 250);
}

TEST_P(StreamCodecTest, OutputDependsOnTheInputAlone) {
  for (const size_t size : {100, 512, 2048, 2049, 5000, 70000}) {
    for (const Sample& sample : Samples(size)) {
      for (const int clevel : {1, 3, 5}) {
        SCOPED_TRACE(sample.name + " " + std::to_string(size) + " " + std::to_string(clevel));
        const auto fresh = Compress(*GetParam().make(), sample.bytes, size, clevel);
        // codec_ has coded all the samples before this one, at other levels too.
        EXPECT_EQ(Compress(*codec_, sample.bytes, size, clevel), fresh);
        // Libraries want a little slack before they believe that a stream fits.
        if (fresh.empty() || fresh.size() + 64 > size) continue;
        EXPECT_EQ(Compress(*codec_, sample.bytes, fresh.size() + 64, clevel), fresh);
        EXPECT_EQ(Compress(*codec_, sample.bytes, 2 * size + 1000, clevel), fresh);
      }
    }
  }
}

// Codecs that keep their tables from stream to stream number the bytes, and begin again some day.
TEST_P(StreamCodecTest, MillionthByteIsCodedAsTheFirst) {
  for (const Sample& sample : Samples(512)) {
    const auto fresh = Compress(*GetParam().make(), sample.bytes, 512, 5);
    const int rounds = GetParam().name == "Lz4" ? 9000 : 100;
    for (int i = 0; i < rounds; ++i) {
      ASSERT_EQ(Compress(*codec_, sample.bytes, 512, 5), fresh) << sample.name << " " << i;
    }
  }
}

TEST_P(StreamCodecTest, GivesNothingWhenItDoesNotFit) {
  std::mt19937 random(1);
  const auto noise = Generate(10000, random);
  EXPECT_TRUE(Compress(*codec_, noise, noise.size(), 5).empty());
  for (const Sample& sample : Samples(10000)) {
    const size_t size = Compress(*codec_, sample.bytes, 20000, 5).size();
    for (const size_t room : {size_t{0}, size_t{1}, size / 2, size - 1}) {
      if (size == 0) break;
      EXPECT_TRUE(Compress(*codec_, sample.bytes, room, 5).empty()) << sample.name << room;
    }
    // Having failed does not matter to the next stream.
    EXPECT_EQ(Compress(*codec_, sample.bytes, 20000, 5).size(), size) << sample.name;
  }
}

TEST_P(StreamCodecTest, RejectsStreamsOfAnotherSize) {
  for (const Sample& sample : Samples(3000)) {
    const auto stream = Compress(*codec_, sample.bytes, 3000, 5);
    if (stream.empty()) continue;
    for (const size_t size : {1, 2999, 3001, 6000}) {
      std::vector<std::byte> decoded(size);
      EXPECT_TRUE(absl::IsDataLoss(Decompress(*codec_, stream, decoded))) << sample.name << size;
    }
  }
}

TEST_P(StreamCodecTest, RejectsTruncatedAndExtendedStreams) {
  std::vector<std::byte> decoded(3000);
  for (const Sample& sample : Samples(3000)) {
    const auto stream = Compress(*codec_, sample.bytes, 3000, 5);
    if (stream.empty()) continue;
    for (size_t size = 0; size < stream.size(); size += 1 + size / 40) {
      const std::vector<std::byte> cut(stream.begin(), stream.begin() + static_cast<long>(size));
      EXPECT_TRUE(absl::IsDataLoss(Decompress(*codec_, cut, decoded))) << sample.name << size;
    }
    std::vector<std::byte> longer = stream;
    longer.push_back(std::byte{0});
    EXPECT_TRUE(absl::IsDataLoss(Decompress(*codec_, longer, decoded))) << sample.name;
    ASSERT_TRUE(IsOk(Decompress(*codec_, stream, decoded))) << sample.name;
    EXPECT_EQ(decoded, sample.bytes);
  }
}

TEST_P(StreamCodecTest, SurvivesMutatedStreams) {
  std::mt19937 random(2);
  std::vector<std::byte> decoded(2000);
  for (const Sample& sample : Samples(2000)) {
    const auto stream = Compress(*codec_, sample.bytes, 2000, 5);
    if (stream.empty()) continue;
    for (int round = 0; round < 500; ++round) {
      std::vector<std::byte> mutant = stream;
      for (size_t flips = 1 + random() % 4; flips > 0; --flips) {
        mutant[random() % mutant.size()] = static_cast<std::byte>(random());
      }
      const absl::Status status = Decompress(*codec_, mutant, decoded);
      const bool newer = GetParam().has_versions && absl::IsUnimplemented(status);
      EXPECT_TRUE(status.ok() || absl::IsDataLoss(status) || newer) << status;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Codecs, StreamCodecTest,
                         testing::Values(CodecCase{"BloscLz", MakeBloscLz},
                                         CodecCase{"Lz4", MakeLz4}, CodecCase{"Lz4Hc", MakeLz4Hc},
                                         CodecCase{"Zlib", MakeZlib}, CodecCase{"Zstd", MakeZstd},
                                         CodecCase{"Pco", MakePco, true},
                                         CodecCase{"Bitpack", MakeBitpack, true}),
                         [](const auto& info) { return info.param.name; });

// LZ4 forbids a match at distance 0, but decodes it.
TEST(Lz4Test, StartShowsNothingOfTheMemoryThatItIsDecodedInto) {
  // 4 literals; 100 bytes at distance 0; 5 literals.
  std::vector<std::byte> stream;
  for (const int byte : {0x4f, 1, 2, 3, 4, 0, 0, 81, 0x50, 5, 6, 7, 8, 9}) {
    stream.push_back(static_cast<std::byte>(byte));
  }
  const std::unique_ptr<StreamCodec> codec = MakeLz4();
  for (size_t wanted = 1; wanted <= 54; ++wanted) {
    std::vector<std::byte> start(109, std::byte{0x99});
    ASSERT_TRUE(IsOk(codec->DecompressStart(stream, start, wanted, {}))) << wanted;
    start.resize(wanted);
    ASSERT_EQ(std::ranges::count(start, std::byte{0x99}), 0) << wanted;
  }
}

TEST(Lz4Test, EveryStartIsThatOfAFullDecodeWhateverTheStreamRepeats) {
  // A run, whose copies are written in larger steps than it is long, and in it or after it a match
  // at distance 0.
  for (const std::vector<int>& sequences :
       {std::vector{0x1f, 0x41, 1, 0, 5, 0x08, 0, 0}, std::vector{0x18, 0x41, 0, 0, 0x0f, 1, 0, 9},
        std::vector{0x1f, 0x41, 1, 0, 5, 0x0f, 0, 0, 0, 0x28, 0, 0, 2, 0}}) {
    std::vector<std::byte> stream;
    for (const int byte : sequences) stream.push_back(static_cast<std::byte>(byte));
    stream.insert(stream.end(), {std::byte{0xf0}, std::byte{255}, std::byte{30}});
    stream.insert(stream.end(), 300, std::byte{'z'});
    const std::unique_ptr<StreamCodec> codec = MakeLz4();
    std::vector<std::byte> whole(400, std::byte{0x55});
    size_t size = whole.size();
    while (size > 0 && !codec->Decompress(stream, MutableBytes(whole).first(size), {}).ok()) --size;
    ASSERT_GT(size, 300u);
    for (size_t wanted = 1; wanted <= size; ++wanted) {
      std::vector<std::byte> start(size, std::byte{0x55});
      ASSERT_TRUE(IsOk(codec->DecompressStart(stream, start, wanted, {}))) << wanted;
      ASSERT_TRUE(std::ranges::equal(Bytes(start).first(wanted), Bytes(whole).first(wanted)))
          << wanted;
    }
  }
}

TEST(ZlibTest, NamesWhatIsWrong) {
  const auto codec = MakeZlib();
  const std::vector<std::byte> src(1000);
  std::vector<std::byte> stream(100);
  stream.resize(codec->Compress(src, stream, {.clevel = 5}).value_or(0));
  ASSERT_FALSE(stream.empty());
  EXPECT_EQ(stream[0], std::byte{0x78});
  std::vector<std::byte> decoded(1000);
  stream[0] = std::byte{0x77};
  const absl::Status status = codec->Decompress(stream, decoded, {});
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_NE(status.message().find("header"), std::string_view::npos) << status;
}

TEST(ZstdTest, StoresTheDecodedSize) {
  const auto codec = MakeZstd();
  const std::vector<std::byte> src(1000);
  std::vector<std::byte> stream(100);
  stream.resize(codec->Compress(src, stream, {.clevel = 5}).value_or(0));
  ASSERT_GT(stream.size(), 7);
  // Magic, a descriptor that announces a two-byte size in a single segment, the size less 256.
  EXPECT_EQ(AsText(Bytes(stream).first(7)), std::string_view("\x28\xB5\x2F\xFD\x60\xE8\x02", 7));
}

}  // namespace
}  // namespace cairn::codec
