// Chunks made to waste time: what they cost grows no faster than what they hold.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "engine/chunk/decoder.h"
#include "engine/chunk/header.h"
#include "engine/chunk/special.h"
#include "tests/chunk/test_chunks.h"
#include "tests/support/cost.h"
#include "tests/support/status.h"

namespace cairn::chunk {
namespace {

using Buffer = std::vector<std::byte>;

// The places of the chunk's size and of its blocks' positions.
constexpr size_t kCbytesAt = 0x0C;
constexpr size_t kPositionsAt = kHeaderSize;
constexpr size_t kPositionSize = 4;

CompressionOptions OfBlocks(int32_t blocksize) {
  CompressionOptions options;
  options.typesize = 1;
  options.blocksize = blocksize;
  options.filters = {};
  options.split_mode = SplitMode::kNever;
  return options;
}

// A chunk: positions, and then what they name.
struct Blocks {
  Blocks(Bytes payload, int32_t blocksize)
      : chunk(Compress(payload, OfBlocks(blocksize))),
        count(payload.size() / static_cast<size_t>(blocksize)) {}

  size_t begin() const { return kPositionsAt + kPositionSize * count; }
  size_t PositionAt(size_t block) const { return kPositionsAt + kPositionSize * block; }

  Buffer chunk;
  size_t count;
};

// Decodes all of it, and then a byte of every block but the last.
void ReadEverything(const Buffer& chunk, Bytes expected, int32_t blocksize) {
  WorkspacePool pool;
  DecodeContext context;
  context.pool = &pool;
  Decoder decoder;
  ASSERT_TRUE(IsOk(decoder.Open(chunk, context)));
  Buffer all(expected.size());
  ASSERT_TRUE(IsOk(decoder.DecodeRange(0, all)));
  EXPECT_TRUE(std::ranges::equal(all, expected));
  for (int64_t at = blocksize - 1; at < std::ssize(expected); at += blocksize) {
    std::byte last;
    ASSERT_TRUE(IsOk(decoder.DecodeRange(at, {&last, 1})));
    EXPECT_EQ(last, expected[static_cast<size_t>(at)]);
  }
}

TEST(ChunkCostsTest, BlocksThatLieBackwardsAreDecodedInLinearTime) {
  constexpr int32_t kBlock = 64;
  test::ExpectLinear(4000, [](int64_t count) {
    const Buffer payload = Payload(Kind::kMixed, static_cast<size_t>(kBlock * count));
    Blocks blocks(payload, kBlock);
    Buffer backwards = payload;
    for (size_t i = 0; i < blocks.count / 2; ++i) {
      const size_t j = blocks.count - 1 - i;
      std::swap_ranges(&blocks.chunk[blocks.PositionAt(i)], &blocks.chunk[blocks.PositionAt(i + 1)],
                       &blocks.chunk[blocks.PositionAt(j)]);
      std::swap_ranges(&backwards[i * kBlock], &backwards[(i + 1) * kBlock],
                       &backwards[j * kBlock]);
    }
    return [=] { ReadEverything(blocks.chunk, backwards, kBlock); };
  });
}

TEST(ChunkCostsTest, OneBlockOfManyPositionsIsDecodedInLinearTime) {
  constexpr int32_t kBlock = 64;
  test::ExpectLinear(4000, [](int64_t count) {
    const Buffer payload = Payload(Kind::kMixed, static_cast<size_t>(kBlock * count));
    Blocks blocks(payload, kBlock);
    Buffer same;
    for (size_t i = 0; i < blocks.count; ++i) {
      SetInt32(blocks.chunk, blocks.PositionAt(i), Int32At(blocks.chunk, kPositionsAt));
      same.insert(same.end(), payload.begin(), payload.begin() + kBlock);
    }
    return [=] { ReadEverything(blocks.chunk, same, kBlock); };
  });
}

// Every block is a stored copy of the sizes of those after it.
TEST(ChunkCostsTest, BlocksWithinBlocksAreDecodedInLinearTime) {
  constexpr int32_t kBlock = 1024;
  test::ExpectLinear(1000, [](int64_t count) {
    Blocks blocks(Payload(Kind::kMixed, static_cast<size_t>(kBlock * count)), kBlock);
    blocks.chunk.resize(blocks.begin() + kPositionSize * blocks.count + kBlock);
    SetInt32(blocks.chunk, kCbytesAt, std::ssize(blocks.chunk));
    for (size_t at = blocks.begin(); at < blocks.chunk.size(); at += kPositionSize) {
      SetInt32(blocks.chunk, at, kBlock);
    }
    for (size_t i = 0; i < blocks.count; ++i) {
      SetInt32(blocks.chunk, blocks.PositionAt(i),
               static_cast<int64_t>(blocks.begin() + kPositionSize * i));
    }
    Buffer sizes(static_cast<size_t>(kBlock * count));
    for (size_t at = 0; at < sizes.size(); at += kPositionSize) SetInt32(sizes, at, kBlock);
    return [=] { ReadEverything(blocks.chunk, sizes, kBlock); };
  });
}

TEST(ChunkCostsTest, DictionaryIsNotLoadedForEachBlock) {
  constexpr int32_t kBlock = 64;
  for (const Codec codec : {Codec::kLz4, Codec::kZstd}) {
    SCOPED_TRACE(static_cast<int>(codec));
    test::ExpectLinear(2000, [codec](int64_t count) {
      // The dictionary grows with the chunk.
      const Buffer payload = Payload(Kind::kMixed, static_cast<size_t>(kBlock * count));
      CompressionOptions options = OfBlocks(kBlock);
      options.codec = codec;
      options.use_dict = true;
      return [=, chunk = Compress(payload, options)] {
        EXPECT_TRUE(ParseHeader(chunk, std::ssize(chunk))->has_dict);
        WorkspacePool pool;
        DecodeContext context;
        context.pool = &pool;
        Decoder decoder;
        ASSERT_TRUE(IsOk(decoder.Open(chunk, context)));
        Buffer all(payload.size());
        ASSERT_TRUE(IsOk(decoder.DecodeRange(0, all)));
        EXPECT_EQ(all, payload);
      };
    });
  }
}

}  // namespace
}  // namespace cairn::chunk
