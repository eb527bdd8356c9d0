// Whatever the bytes of a chunk, decoding gives data or a status.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/chunk/header.h"
#include "tests/chunk/test_chunks.h"
#include "tests/support/hex.h"
#include "tests/support/search.h"
#include "tests/support/status.h"

namespace cairn::chunk {
namespace {

struct Sample {
  std::string name;
  std::vector<std::byte> chunk;
};

std::vector<Sample> Samples() {
  const std::vector<std::byte> payload = Payload(Kind::kCounter, 1300, 4);
  std::vector<Sample> samples;
  for (const Codec codec : kCodecs) {
    CompressionOptions options;
    options.codec = codec;
    options.typesize = 4;
    options.blocksize = 512;
    const std::string id = std::to_string(static_cast<int>(codec));
    samples.push_back({"codec " + id, Compress(payload, options)});
    options.filters = {{Filter::kDelta}, {Filter::kBitShuffle}, {Filter::kByteDelta, 4}};
    samples.push_back({"delta, codec " + id, Compress(payload, options)});
    const Bytes all = payload;
    const Bytes blocks[] = {all.first(300), all.subspan(300, 7), all.last(900)};
    samples.push_back({"vlblocks, codec " + id, CompressBlocks(blocks, options)});
    options.filters = {{Filter::kShuffle}};
    options.format = ChunkFormat::kBlosc1;
    samples.push_back({"Blosc1, codec " + id, Compress(payload, options)});
  }
  CompressionOptions options;
  options.typesize = 4;
  samples.push_back({"zeros", *MakeSpecialChunk(SpecialValue::kZeros, 1300, {}, options)});
  samples.push_back({"nans", *MakeSpecialChunk(SpecialValue::kNans, 1300, {}, options)});
  samples.push_back({"repeat", *MakeSpecialChunk(SpecialValue::kRepeat, 1300,
                                                 Bytes(payload).first(13), options)});
  options.clevel = 0;
  samples.push_back({"copy", Compress(Bytes(payload).first(50), options)});
  return samples;
}

TEST(DamagedChunkTest, MoreBlocksThanTheChunkHasBytesForAreDamage) {
  const std::vector<std::byte> payload = Payload(Kind::kCounter, 300, 4);
  const Bytes blocks[] = {payload};
  std::vector<std::byte> chunk = CompressBlocks(blocks, {});
  constexpr size_t kBlocksizeAt = 0x08;  // where such a chunk has the number of its blocks
  const auto most = static_cast<uint32_t>((chunk.size() - kHeaderSize) / 9);
  std::vector<std::byte> out(payload.size());
  StoreLe(chunk.data() + kBlocksizeAt, most + 1);
  EXPECT_TRUE(IsDamage(DecompressChunk(chunk, out), "too few for"));
  StoreLe(chunk.data() + kBlocksizeAt, most);
  EXPECT_TRUE(IsDamage(DecompressChunk(chunk, out), "position of block"));
}

Sample DictionarySample(Codec codec) {
  CompressionOptions options;
  options.codec = codec;
  options.typesize = 4;
  options.blocksize = 4096;
  options.use_dict = true;
  return {"dictionary", Compress(Payload(Kind::kCounter, 5300, 4), options)};
}

// Decodes all of it, a range of it, and its sizes.
void Touch(const std::vector<std::byte>& chunk) {
  EXPECT_TRUE(IsOkOrRefusal(BlockSizes(chunk).status()));
  const absl::StatusOr<ChunkInfo> info = InspectChunk(chunk);
  EXPECT_TRUE(IsOkOrRefusal(info.status()));
  // A small chunk may stand for gigabytes; these need no test here.
  if (!info.ok() || info->nbytes > 1 << 20 || info->nbytes == 0) return;
  const auto decoded = Decompress(chunk);
  ASSERT_TRUE(IsOkOrRefusal(decoded.status()));
  std::vector<std::byte> item(static_cast<size_t>(info->typesize));
  const int64_t middle = info->nbytes / info->typesize / 2;
  if ((middle + 1) * info->typesize > info->nbytes) return;
  const absl::Status status = DecompressItems(chunk, middle, item);
  ASSERT_TRUE(IsOkOrRefusal(status));
  if (!decoded.ok()) return;
  ASSERT_TRUE(IsOk(status)) << "a part of what is all right: " << status;
  ASSERT_TRUE(std::equal(item.begin(), item.end(),
                         decoded->begin() + static_cast<ptrdiff_t>(middle * info->typesize)));
}

TEST(DamagedChunkTest, EveryFlippedBitGivesDataOrAStatus) {
  for (const Sample& sample : Samples()) {
    SCOPED_TRACE(sample.name);
    ASSERT_FALSE(sample.chunk.empty());
    for (size_t bit = 0; bit < sample.chunk.size() * 8; bit += test::kTryEach) {
      std::vector<std::byte> chunk = sample.chunk;
      chunk[bit / 8] ^= std::byte{1} << (bit % 8);
      Touch(chunk);
    }
  }
}

TEST(DamagedChunkTest, EveryByteOfAChunkWithDictionaryMayBeWrong) {
  for (const Codec codec : {Codec::kLz4, Codec::kZstd}) {
    const Sample sample = DictionarySample(codec);
    ASSERT_TRUE(InspectChunk(sample.chunk)->has_dict);
    for (size_t at = 0; at < sample.chunk.size(); ++at) {
      std::vector<std::byte> chunk = sample.chunk;
      chunk[at] ^= std::byte{0xFF};
      Touch(chunk);
    }
  }
}

TEST(DamagedChunkTest, EveryTruncationIsSeen) {
  std::vector<Sample> samples = Samples();
  samples.push_back(DictionarySample(Codec::kLz4));
  for (const Sample& sample : samples) {
    SCOPED_TRACE(sample.name);
    for (size_t size = 0; size < sample.chunk.size(); ++size) {
      // A vector of its own, so that AddressSanitizer sees reads after it.
      const std::vector<std::byte> chunk(sample.chunk.begin(),
                                         sample.chunk.begin() + static_cast<ptrdiff_t>(size));
      ASSERT_TRUE(IsDamage(InspectChunk(chunk), "chunk header")) << size;
      ASSERT_TRUE(IsDamage(Decompress(chunk), "chunk header")) << size;
    }
  }
}

TEST(DamagedChunkTest, EveryTruncationThatTheHeaderHidesGivesDataOrAStatus) {
  for (const Sample& sample : Samples()) {
    SCOPED_TRACE(sample.name);
    for (size_t size = 16; size < sample.chunk.size(); ++size) {
      std::vector<std::byte> chunk(sample.chunk.begin(),
                                   sample.chunk.begin() + static_cast<ptrdiff_t>(size));
      SetInt32(chunk, 12, static_cast<int64_t>(size));
      Touch(chunk);
    }
  }
}

TEST(DamagedChunkTest, StreamIsNoLongerThanWhatItDecodesTo) {
  CompressionOptions options;
  options.codec = Codec::kZlib;
  options.filters = {};
  const std::vector<std::byte> payload = Payload(Kind::kCounter, 512, 4);
  std::vector<std::byte> chunk = Compress(payload, options);
  constexpr size_t kStream = 32 + 4 + 4;  // after the only position, and its csize
  const size_t stored = chunk.size() - kStream;
  ASSERT_LT(stored + 10, payload.size());
  // Part after part of no bytes, after the two bytes that every stream of zlib begins with.
  const std::vector<std::byte> nothing = Hex("00 00 00 ff ff");
  for (size_t size = stored; size < 2 * payload.size(); size += nothing.size()) {
    SetInt32(chunk, 0x0C, static_cast<int64_t>(chunk.size()));
    SetInt32(chunk, kStream - 4, static_cast<int64_t>(size));
    const auto decoded = Decompress(chunk);
    // Bytes of that length are not a stream.
    if (size < payload.size()) {
      EXPECT_EQ(decoded.value(), payload) << size;
    } else if (size > payload.size()) {
      EXPECT_TRUE(IsDamage(decoded.status(), "csize")) << size << decoded.status();
    }
    chunk.insert(chunk.begin() + kStream + 2, nothing.begin(), nothing.end());
  }
}

TEST(DamagedChunkTest, WildWordsGiveDataOrAStatus) {
  constexpr int64_t kWords[] = {0, 1, -1, -255, -256, 255, 16, 1 << 16, INT32_MAX, INT32_MIN};
  std::mt19937 random(9);
  for (const Sample& sample : Samples()) {
    SCOPED_TRACE(sample.name);
    if (sample.chunk.size() < 36) continue;
    for (int i = 0; i < 2000; ++i) {
      std::vector<std::byte> chunk = sample.chunk;
      for (int edits = 0; edits < 3; ++edits) {
        const int64_t word = random() % 2 == 0 ? kWords[random() % std::size(kWords)]
                                               : static_cast<int64_t>(random() % chunk.size());
        SetInt32(chunk, random() % (chunk.size() - 3), word);
      }
      Touch(chunk);
    }
  }
}

}  // namespace
}  // namespace cairn::chunk
