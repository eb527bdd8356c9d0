// What frames take in memory that are made here, beside those of the folder.
#include <cstdint>
#include <string>
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

void StoreBe(Buffer& frame, size_t at, uint64_t number) {
  for (size_t i = 0; i < sizeof(number); ++i) {
    frame[at + i] = static_cast<std::byte>(number >> (8 * (sizeof(number) - 1 - i)));
  }
}

// Chunks of one byte: zeros and what was never written, in turn.
Buffer AlternatingChunks(int32_t count) {
  CreateOptions options;
  options.fingerprint = FingerprintType::kNone;
  options.compression.typesize = 1;
  options.chunksize = 1;
  const auto frame = Frame::CreateInMemory(options);
  Buffer bytes = frame->ToBuffer().value();
  const auto header_len = static_cast<std::ptrdiff_t>(frame->snapshot().info().header_len);
  // One value of two entries, repeated.
  Buffer index(48);
  constexpr uint8_t kStart[] = {5, 1, 5, 16};
  for (size_t i = 0; i < 4; ++i) {
    index[i] = std::byte{kStart[i]};
    index[4 + i] = static_cast<std::byte>(count * 8 >> (8 * i));
  }
  index[9] = std::byte{0x40};
  index[12] = std::byte{48};
  index[31] = std::byte{0x30};
  index[39] = std::byte{0x81};
  index[47] = std::byte{0x84};
  bytes.insert(bytes.begin() + header_len, index.begin(), index.end());
  StoreBe(bytes, 0x10, bytes.size());
  StoreBe(bytes, 0x1E, static_cast<uint64_t>(count));
  return bytes;
}

TEST(MemoryTest, AnIndexOfOneRepeatedValueTakesNextToNothingForItsPages) {
  constexpr int32_t kCount = 1 << 20;
  const Buffer bytes = AlternatingChunks(kCount);
  const auto frame = Frame::OpenBuffer(bytes);
  ASSERT_TRUE(frame.ok()) << frame.status();
  const Snapshot snapshot = frame->snapshot();
  const AllocationMeter meter;
  for (int64_t i = 0; i < kCount; i += 1001) {
    const auto entry = snapshot.GetEntry(i);
    ASSERT_TRUE(entry.ok()) << entry.status();
    EXPECT_EQ(entry->special, i % 2 == 0 ? SpecialValue::kZeros : SpecialValue::kUninit);
  }
  EXPECT_LT(meter.peak(), kCount);
}

}  // namespace
}  // namespace cairn::vectors
