// Tests how much memory decoding a part of a chunk may take in addition to the caller's buffer.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include <gtest/gtest.h>

#include "engine/chunk/decoder.h"
#include "tests/chunk/test_chunks.h"
#include "tests/support/reverse_executor.h"
#include "tests/support/status.h"

namespace cairn::chunk {
namespace {

using Buffer = std::vector<std::byte>;

constexpr int32_t kWholeBlock = 64 << 10;

Buffer Items(int64_t nbytes) {
  Buffer items(static_cast<size_t>(nbytes));
  for (size_t i = 0; i < items.size(); ++i) items[i] = static_cast<std::byte>(i / 7 * (i % 5 + 1));
  return items;
}

// A chunk of blocks of kWholeBlock.
Buffer Compressed(Bytes items, std::vector<FilterStage> filters) {
  CompressionOptions options;
  options.typesize = 4;
  options.blocksize = kWholeBlock;
  options.filters = std::move(filters);
  Buffer chunk(MaxCompressedSize(items.size()));
  chunk.resize(CompressChunk(items, options, chunk).value());
  return chunk;
}

class DecodeMemoryTest : public testing::Test {
 protected:
  // Bytes [begin, begin + size) of the chunk, with this much memory.
  absl::Status Read(Bytes chunk, int64_t begin, size_t size, int64_t memory) {
    Decoder decoder;
    DecodeContext context;
    context.pool = &pool_;
    context.max_memory = memory;
    context.executor = executor_;
    absl::Status status = decoder.Open(chunk, context);
    Buffer dst(size);
    return status.ok() ? decoder.DecodeRange(begin, dst) : status;
  }
  void ExpectTakes(Bytes chunk, int64_t begin, size_t size, int64_t memory) {
    EXPECT_TRUE(IsOk(Read(chunk, begin, size, memory)));
    const absl::Status refused = Read(chunk, begin, size, memory - 1);
    EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
    EXPECT_TRUE(absl::StrContains(refused.message(), std::to_string(memory))) << refused;
    EXPECT_TRUE(absl::StrContains(refused.message(), "limit of " + std::to_string(memory - 1)))
        << refused;
  }

  WorkspacePool pool_;
  Executor* executor_ = nullptr;
};

TEST_F(DecodeMemoryTest, PartOfABlockTakesTheBlockAndItsFiltersBuffers) {
  const Buffer items = Items(4 * kWholeBlock);
  ExpectTakes(Compressed(items, {}), 10, 4, kWholeBlock);
  ExpectTakes(Compressed(items, {{.filter = Filter::kShuffle}}), kWholeBlock + 8, 4,
              3 * kWholeBlock);
  ExpectTakes(Compressed(items, {{.filter = Filter::kBitShuffle}}), kWholeBlock - 8, 16,
              3 * kWholeBlock);
}

TEST_F(DecodeMemoryTest, BlocksThatLieInTheBufferTakeNothing) {
  const Buffer chunk = Compressed(Items(4 * kWholeBlock), {{.filter = Filter::kShuffle}});
  EXPECT_TRUE(IsOk(Read(chunk, 0, 4 * kWholeBlock, 0)));
  EXPECT_TRUE(IsOk(Read(chunk, kWholeBlock, 2 * kWholeBlock, 0)));
}

TEST_F(DecodeMemoryTest, BlockThatDeltaNeedsFirstCountsAlsoWhereAShortOneIsRead) {
  const Buffer chunk = Compressed(Items(2 * kWholeBlock + 40), {{.filter = Filter::kDelta}});
  ExpectTakes(chunk, 2 * kWholeBlock, 40, 4 * kWholeBlock);
  ExpectTakes(chunk, 2 * kWholeBlock, 4, 4 * kWholeBlock);
  EXPECT_TRUE(IsOk(Read(chunk, 0, 2 * kWholeBlock + 40, 0)));
}

TEST_F(DecodeMemoryTest, ThreadsAreLeftOutWhereTheirBlocksTogetherTakeTooMuch) {
  ReverseExecutor executor(3);
  executor_ = &executor;
  const Buffer items = Items(6 * kWholeBlock);
  const auto runs_with = [&](Bytes chunk, int64_t begin, size_t size, int64_t memory) {
    const int64_t before = executor.runs();
    EXPECT_TRUE(IsOk(Read(chunk, begin, size, memory)));
    return executor.runs() - before;
  };
  const Buffer shuffled = Compressed(items, {{.filter = Filter::kShuffle}});
  EXPECT_EQ(runs_with(shuffled, 8, 5 * kWholeBlock, 6 * kWholeBlock), 1);
  EXPECT_EQ(runs_with(shuffled, 8, 5 * kWholeBlock, 6 * kWholeBlock - 1), 0);
  ExpectTakes(shuffled, 8, 5 * kWholeBlock, 3 * kWholeBlock);
  const Buffer delta = Compressed(items, {{.filter = Filter::kDelta}});
  EXPECT_EQ(runs_with(delta, kWholeBlock + 8, 4 * kWholeBlock, 9 * kWholeBlock), 1);
  EXPECT_EQ(runs_with(delta, kWholeBlock + 8, 4 * kWholeBlock, 9 * kWholeBlock - 1), 0);
  ExpectTakes(delta, kWholeBlock + 8, 4 * kWholeBlock, 4 * kWholeBlock);
}

TEST_F(DecodeMemoryTest, PiecesEndWithBlocksAndKeepTheLimit) {
  const Buffer chunk = Compressed(Items(4 * kWholeBlock + 100), {{.filter = Filter::kShuffle}});
  Decoder decoder;
  DecodeContext context;
  context.pool = &pool_;
  context.max_memory = 12 * kWholeBlock;
  ASSERT_TRUE(IsOk(decoder.Open(chunk, context)));
  EXPECT_EQ(decoder.PieceEnd(0, 1 << 20).value(), 2 * kWholeBlock);
  EXPECT_EQ(decoder.PieceEnd(0, 1).value(), kWholeBlock);
  EXPECT_EQ(decoder.PieceEnd(3 * kWholeBlock, 1 << 20).value(), 4 * kWholeBlock + 100);
  context.max_memory = 3 * kWholeBlock - 1;
  ASSERT_TRUE(IsOk(decoder.Open(chunk, context)));
  EXPECT_TRUE(absl::IsResourceExhausted(decoder.PieceEnd(0, 1 << 20).status()));
}

}  // namespace
}  // namespace cairn::chunk
