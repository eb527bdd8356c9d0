// Tests that the size of chunks is a number of bytes, or one of two rules.
#include <cstdint>
#include <optional>
#include <string_view>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

TEST(ChunkSizeTest, IsANumberOrARule) {
  constexpr ChunkSize kFixed = 4096;
  EXPECT_EQ(kFixed.nbytes(), 4096);
  EXPECT_EQ(kFixed, ChunkSize(4096));
  EXPECT_EQ(ChunkSize::Variable().nbytes(), std::nullopt);
  EXPECT_EQ(ChunkSize::AsFirstChunk().nbytes(), std::nullopt);
  EXPECT_FALSE(ChunkSize::Variable() == ChunkSize::AsFirstChunk());
  EXPECT_FALSE(ChunkSize(0) == ChunkSize::Variable());
}

TEST(ChunkSizeTest, NumbersBelowOneAreRefused) {
  for (const int32_t nbytes : {0, -1, INT32_MIN}) {
    const absl::Status status = Frame::CreateInMemory({.chunksize = nbytes}).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_NE(status.message().find("or variable chunks"), std::string_view::npos) << status;
  }
}

TEST(ChunkSizeTest, AppendToANewFrameOfNoSizeTakesThatOfWriters) {
  const TempDir dir;
  CreateOptions options = PlainCopies(ChunkSize::AsFirstChunk());
  absl::StatusOr<Writer> writer = Frame::BeginCreate(dir.Path("f"), options);
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(100, 1))));
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_EQ(Frame::Open(dir.Path("f"))->snapshot().info().chunksize, WriterOptions().chunksize);
}

}  // namespace
}  // namespace cairn::test
