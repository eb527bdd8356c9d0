// What a file from a stranger may cost.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/frame/small_frames.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

constexpr int32_t kBoundedChunk = 100;
constexpr int kChunks = 3;

class LimitsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(WriteFrame(path_, PlainCopies(kBoundedChunk), Noise(kChunks * kBoundedChunk, 1),
                         {{"note", std::string(50, 'x')}}),
              absl::OkStatus());
  }
  absl::StatusOr<Frame> Open(const Limits& limits) const {
    return Frame::Open(path_, {.limits = limits});
  }
  static void ExpectNamesLimit(const absl::Status& status, int64_t limit) {
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "limit of " + std::to_string(limit))) << status;
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
};

TEST_F(LimitsTest, AFrameOfTooManyChunksIsNotOpened) {
  EXPECT_EQ(Open({.max_nchunks = kChunks}).status(), absl::OkStatus());
  ExpectNamesLimit(Open({.max_nchunks = kChunks - 1}).status(), kChunks - 1);
}

TEST_F(LimitsTest, ALargeVlmetalayerIsNotDecodedAndTheRestIsRead) {
  EXPECT_EQ(Open({.max_metadata_nbytes = 50})->snapshot().GetVlmeta("note").status(),
            absl::OkStatus());
  const auto frame = Open({.max_metadata_nbytes = 49});
  ASSERT_EQ(frame.status(), absl::OkStatus());
  ExpectNamesLimit(frame->snapshot().GetVlmeta("note").status(), 49);
  EXPECT_EQ(DataOf(frame->snapshot()).value(), Noise(kChunks * kBoundedChunk, 1));
}

TEST_F(LimitsTest, ALargeChunkIsNotDecoded) {
  EXPECT_EQ(DataOf(Open({.max_chunk_nbytes = kBoundedChunk})->snapshot()).status(),
            absl::OkStatus());
  const auto frame = Open({.max_chunk_nbytes = kBoundedChunk - 1});
  ASSERT_EQ(frame.status(), absl::OkStatus());
  const Snapshot snapshot = frame->snapshot();
  std::vector<std::byte> chunk(kBoundedChunk);
  ExpectNamesLimit(snapshot.ReadChunk(1, chunk), kBoundedChunk - 1);
  std::vector<std::byte> few(8);
  ExpectNamesLimit(snapshot.ReadBytes(150, few), kBoundedChunk - 1);
  ExpectNamesLimit(snapshot.ReadItems(150, few), kBoundedChunk - 1);
  const std::vector<int64_t> items = {299, 0, 150};
  std::vector<std::byte> gathered(items.size());
  ExpectNamesLimit(snapshot.ReadItemsAt(items, gathered), kBoundedChunk - 1);
  const auto report = snapshot.Verify();
  ASSERT_EQ(report.status(), absl::OkStatus());
  EXPECT_EQ(report->findings.size(), static_cast<size_t>(kChunks));
}

TEST_F(LimitsTest, AShortLastChunkWithinTheLimitIsRead) {
  ASSERT_EQ(AppendTo(path_, Noise(10, 2)), absl::OkStatus());
  const auto frame = Open({.max_chunk_nbytes = 10});
  std::vector<std::byte> tail(10);
  EXPECT_EQ(frame->snapshot().ReadChunk(kChunks, tail), absl::OkStatus());
  EXPECT_EQ(tail, Noise(10, 2));
}

}  // namespace
}  // namespace cairn::test
