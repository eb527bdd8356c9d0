#include "engine/frame/state/verified_chunks.h"

#include <gtest/gtest.h>

namespace cairn::frame {
namespace {

using format::IndexEntry;

TEST(VerifiedChunksTest, KnowsAChunkByItsCheckpointOffsetAndFingerprint) {
  VerifiedChunks touched;
  const IndexEntry chunk{.value = 4096, .fingerprint = 0x1234567890ABCDEF};
  EXPECT_FALSE(touched.Has(1, chunk));
  touched.Add(1, chunk);
  EXPECT_TRUE(touched.Has(1, chunk));
  EXPECT_FALSE(touched.Has(2, chunk));
  EXPECT_FALSE(touched.Has(1, {.value = 4097, .fingerprint = chunk.fingerprint}));
  EXPECT_FALSE(touched.Has(1, {.value = chunk.value, .fingerprint = chunk.fingerprint + 2}));
}

TEST(VerifiedChunksTest, NeverTakesOneChunkForAnother) {
  VerifiedChunks touched;
  const auto chunk = [](uint64_t i) {
    return IndexEntry{.value = static_cast<int64_t>(i * 1300),
                      .fingerprint = (i + 1) * 0x9E3779B97F4A7C15};
  };
  for (uint64_t i = 0; i < 50'000; i += 2) touched.Add(1, chunk(i));
  int64_t remembered = 0;
  for (uint64_t i = 0; i < 50'000; ++i) {
    if (!touched.Has(1, chunk(i))) continue;
    ASSERT_EQ(i % 2, 0u);
    ++remembered;
  }
  EXPECT_GT(remembered, 4000) << "of 8,192";
}

}  // namespace
}  // namespace cairn::frame
