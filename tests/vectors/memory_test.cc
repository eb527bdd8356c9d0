// What frames take in memory that are made here, beside those of the folder.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/vectors/allocation_meter.h"

namespace cairn::vectors {
namespace {

using Buffer = std::vector<std::byte>;

TEST(MemoryTest, HistoryHoldsNoMoreThanAFewOfItsCheckpoints) {
  constexpr int64_t kLayer = 1 << 20;
  CreateOptions options;
  options.metalayers = {{"large", Buffer(kLayer)}};
  auto frame = Frame::CreateInMemory(options);
  ASSERT_TRUE(frame.ok());
  auto writer = frame->OpenWriter();
  ASSERT_TRUE(writer.ok());
  constexpr int kCheckpoints = 40;
  for (int i = 0; i < kCheckpoints; ++i) {
    ASSERT_TRUE(writer->Append(Buffer(8)).ok());
    ASSERT_TRUE(writer->Checkpoint().ok());
  }
  const AllocationMeter meter;
  ASSERT_GT(frame->History()->size(), size_t{kCheckpoints});
  EXPECT_LT(meter.peak(), 20 * kLayer);
}

}  // namespace
}  // namespace cairn::vectors
