#include "cairn/block_hook.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/chunk.h"
#include "cairn/executor.h"
#include "tests/chunk/test_chunks.h"
#include "tests/support/status.h"

namespace cairn {
namespace {

using chunk::Compress;
using chunk::Kind;
using chunk::Payload;

// Adds the number of the block, or its complement, to each byte, and counts its calls.
class AddBlock final : public BlockHook {
 public:
  explicit AddBlock(int factor) : factor_(factor) {}

  absl::Status Run(const BlockCall& call, Bytes src, MutableBytes dst) const override {
    ++calls_;
    if (call.begin != call.block * 512) return absl::InternalError("another position");
    for (size_t i = 0; i < src.size(); ++i) {
      const auto sum = std::to_integer<int64_t>(src[i]) + factor_ * (call.block + 1);
      dst[i] = static_cast<std::byte>(sum);
    }
    return absl::OkStatus();
  }

  int calls() const { return calls_; }

 private:
  int factor_;
  mutable std::atomic<int> calls_ = 0;
};

class BlockHookTest : public testing::Test {
 protected:
  BlockHookTest() {
    plain_.blocksize = 512;
    plain_.typesize = 4;
    hooked_ = plain_;
    hooked_.before_filters = add_;
    decompression_.after_filters = subtract_;
  }

  std::vector<std::byte> Decoded(Bytes chunk, const DecompressionOptions& options) {
    std::vector<std::byte> out(static_cast<size_t>(InspectChunk(chunk)->nbytes));
    EXPECT_TRUE(IsOk(DecompressChunk(chunk, out, options)));
    return out;
  }

  std::shared_ptr<AddBlock> add_ = std::make_shared<AddBlock>(1);
  std::shared_ptr<AddBlock> subtract_ = std::make_shared<AddBlock>(-1);
  CompressionOptions plain_;
  CompressionOptions hooked_;
  DecompressionOptions decompression_;
};

TEST_F(BlockHookTest, RoundTripsInChunksOfEveryForm) {
  for (const Kind kind : {Kind::kZeros, Kind::kRandom, Kind::kMixed}) {
    for (const size_t size : {size_t{0}, size_t{20}, size_t{512}, size_t{3000}}) {
      for (const int clevel : {0, 5}) {
        const std::vector<std::byte> payload = Payload(kind, size);
        hooked_.clevel = clevel;
        const std::vector<std::byte> chunk = Compress(payload, hooked_);
        EXPECT_EQ(Decoded(chunk, decompression_), payload);
        EXPECT_EQ(Decoded(chunk, {}) == payload, size == 0);
      }
    }
  }
}

TEST_F(BlockHookTest, IsCalledOncePerBlock) {
  const std::vector<std::byte> chunk = Compress(Payload(Kind::kMixed, 3000), hooked_);
  EXPECT_EQ(add_->calls(), 6);
  Decoded(chunk, decompression_);
  EXPECT_EQ(subtract_->calls(), 6);
}

TEST_F(BlockHookTest, RunsInThreads) {
  const std::vector<std::byte> payload = Payload(Kind::kMixed, 500'000);
  const std::vector<std::byte> expected = Compress(payload, hooked_);
  hooked_.executor = MakeThreadExecutor(2);
  decompression_.executor = hooked_.executor;
  EXPECT_EQ(Compress(payload, hooked_), expected);
  EXPECT_EQ(Decoded(expected, decompression_), payload);
}

TEST_F(BlockHookTest, MakesPartsOfBlocks) {
  const std::vector<std::byte> payload = Payload(Kind::kMixed, 3000);
  for (const bool delta : {false, true}) {
    if (delta) hooked_.filters = {{Filter::kDelta}, {Filter::kShuffle}};
    const std::vector<std::byte> chunk = Compress(payload, hooked_);
    std::vector<std::byte> items(4 * 300);
    ASSERT_TRUE(IsOk(DecompressItems(chunk, 100, items, decompression_)));
    EXPECT_TRUE(std::ranges::equal(items, Bytes(payload).subspan(400, items.size())));
  }
}

TEST_F(BlockHookTest, MakesSpecialValues) {
  const std::vector<std::byte> chunk = *MakeSpecialChunk(SpecialValue::kZeros, 1024, {}, plain_);
  std::vector<std::byte> items(8);
  ASSERT_TRUE(IsOk(DecompressItems(chunk, 127, items, decompression_)));
  EXPECT_EQ(items[3], std::byte{0xFF});
  EXPECT_EQ(items[4], std::byte{0xFE});
}

TEST_F(BlockHookTest, ErrorsAreReturned) {
  plain_.blocksize = 256;
  hooked_.blocksize = 256;
  const std::vector<std::byte> payload = Payload(Kind::kMixed, 3000);
  std::vector<std::byte> out(MaxCompressedSize(payload.size()));
  EXPECT_TRUE(absl::IsInternal(CompressChunk(payload, hooked_, out).status()));
  const std::vector<std::byte> chunk = Compress(payload, plain_);
  out.resize(payload.size());
  EXPECT_TRUE(absl::IsInternal(DecompressChunk(chunk, out, decompression_)));
}

}  // namespace
}  // namespace cairn
