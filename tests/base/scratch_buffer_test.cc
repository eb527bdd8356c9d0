#include "engine/base/scratch_buffer.h"

#include <cstdint>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"

namespace cairn {
namespace {

TEST(ScratchBufferTest, GrowsAndIsReused) {
  ScratchBuffer buffer;
  EXPECT_EQ(buffer.Get(0).size(), 0u);
  const MutableBytes large = buffer.Get(1000);
  FillBytes(large, std::byte{1});
  const MutableBytes small = buffer.Get(10);
  EXPECT_EQ(small.size(), 10u);
  EXPECT_EQ(small.data(), large.data()) << "no new memory for less";
  const MutableBytes larger = buffer.Get(1001);
  FillBytes(larger, std::byte{2});
  EXPECT_EQ(larger.size(), 1001u);
}

TEST(ScratchBufferTest, BeginsWithALineOfTheCache) {
  for (size_t size = 1; size < 100000; size += 1 + size / 2) {
    ScratchBuffer buffer;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.Get(size).data()) % 64, 0u) << size;
  }
}

}  // namespace
}  // namespace cairn
