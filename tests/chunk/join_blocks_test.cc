#include "engine/chunk/join_blocks.h"

#include <vector>

#include <gtest/gtest.h>

#include "cairn/chunk.h"
#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/chunk/header.h"
#include "tests/support/status.h"

namespace cairn::chunk {
namespace {

constexpr int32_t kBlock = 1024;

std::vector<std::byte> Numbers(size_t count, uint64_t first) {
  std::vector<std::byte> raw(count * 8);
  for (size_t i = 0; i < count; ++i) StoreLe<uint64_t>(raw.data() + 8 * i, (first + i) * 1171);
  return raw;
}

CompressionOptions Options() {
  CompressionOptions options;
  options.typesize = 8;
  options.blocksize = kBlock;
  options.split_mode = SplitMode::kNever;
  return options;
}

std::vector<std::byte> Compress(Bytes raw, const CompressionOptions& options = Options()) {
  std::vector<std::byte> out(MaxCompressedSize(raw.size()));
  const absl::StatusOr<size_t> size = CompressChunk(raw, options, out);
  EXPECT_TRUE(IsOk(size));
  out.resize(size.value_or(0));
  return out;
}

// Five blocks and a short one.
const std::vector<std::byte> kRaw = Numbers(5 * 128 + 40, 0);

TEST(JoinBlocksTest, MakesTheChunkThatCodingAllOfItMakes) {
  const std::vector<std::byte> whole = Compress(kRaw);
  for (const size_t kept : {1, 2, 4, 5}) {
    const Bytes rest = Bytes(kRaw).subspan(kept * kBlock);
    // Only the first blocks of the continued chunk matter.
    std::vector<std::byte> old = ToVector(Bytes(kRaw).first(kept * kBlock));
    const std::vector<std::byte> other = Numbers(200, 77777);
    old.insert(old.end(), other.begin(), other.end());
    EXPECT_EQ(JoinBlocks(Compress(old), static_cast<int64_t>(kept), Compress(rest)), whole) << kept;
  }
}

TEST(JoinBlocksTest, RefusesBlocksOfAnotherKind) {
  const std::vector<std::byte> chunk = Compress(kRaw);
  CompressionOptions other = Options();
  other.codec = Codec::kZstd;
  EXPECT_EQ(JoinBlocks(chunk, 2, Compress(kRaw, other)), std::nullopt);
  other = Options();
  other.blocksize = 2 * kBlock;
  EXPECT_EQ(JoinBlocks(chunk, 2, Compress(kRaw, other)), std::nullopt);
  other = Options();
  other.filters = {};
  EXPECT_EQ(JoinBlocks(chunk, 2, Compress(kRaw, other)), std::nullopt);
  const std::vector<std::byte> zeros(4 * kBlock);
  EXPECT_EQ(JoinBlocks(chunk, 2, Compress(zeros)), std::nullopt);  // has no blocks
}

TEST(JoinBlocksTest, RefusesBlocksThatDecodeWithoutTheirFilters) {
  constexpr size_t kFlagsAt = 0x1F;
  constexpr std::byte kInstrumented{0x80};
  const std::vector<std::byte> chunk = Compress(kRaw);
  std::vector<std::byte> other = chunk;
  other[kFlagsAt] |= kInstrumented;
  ASSERT_TRUE(ParseHeader(other)->instrumented);
  EXPECT_EQ(JoinBlocks(other, 2, chunk), std::nullopt);
  EXPECT_EQ(JoinBlocks(chunk, 2, other), std::nullopt);
}

TEST(JoinBlocksTest, KeepsCompleteBlocksOnly) {
  const std::vector<std::byte> chunk = Compress(kRaw);
  EXPECT_EQ(JoinBlocks(chunk, 6, chunk), std::nullopt);
  EXPECT_EQ(JoinBlocks(chunk, 7, chunk), std::nullopt);
  EXPECT_EQ(JoinBlocks(chunk, 0, chunk), std::nullopt);
}

TEST(JoinBlocksTest, RefusesStartsThatAreNotInOrder) {
  const std::vector<std::byte> chunk = Compress(kRaw);
  for (int block = 0; block < 3; ++block) {
    for (const uint32_t start : {0U, 40U, 0x7fffffffU, 0xffffffffU}) {
      std::vector<std::byte> damaged = chunk;
      StoreLe(damaged.data() + kHeaderSize + 4 * block, start);
      EXPECT_EQ(JoinBlocks(damaged, 2, chunk), std::nullopt) << block << " " << start;
    }
  }
  EXPECT_EQ(JoinBlocks(Bytes(chunk).first(20), 2, chunk), std::nullopt);
  EXPECT_EQ(JoinBlocks(chunk, 2, Bytes(chunk).first(20)), std::nullopt);
}

}  // namespace
}  // namespace cairn::chunk
