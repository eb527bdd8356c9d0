// Tests the memory of frames that are made here, in addition to those of the folder.
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/support/hex.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/vectors/allocation_meter.h"
#include "tests/vectors/frame_checks.h"

namespace cairn::vectors {
namespace {

using Buffer = std::vector<std::byte>;

TEST(MemoryTest, HistoryHoldsNoMoreThanAFewOfItsCheckpoints) {
  constexpr int64_t kLayer = 1 << 20;
  CreateOptions options;
  options.metalayers = {{"large", Buffer(kLayer)}};
  auto frame = Frame::CreateInMemory(options);
  ASSERT_TRUE(IsOk(frame));
  auto writer = frame->OpenWriter({.keep_generations = UINT64_MAX});
  ASSERT_TRUE(IsOk(writer));
  constexpr int kCheckpoints = 40;
  for (int i = 0; i < kCheckpoints; ++i) {
    ASSERT_TRUE(IsOk(writer->Append(Buffer(8))));
    ASSERT_TRUE(IsOk(writer->Checkpoint()));
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

// Chunks of zeros and of what was never written, in turn.
Buffer AlternatingChunks(int32_t count, int32_t chunksize = 1) {
  CreateOptions options;
  options.fingerprint = FingerprintType::kNone;
  options.compression.typesize = 1;
  options.chunksize = chunksize;
  const auto frame = Frame::CreateInMemory(options);
  Buffer bytes = frame->snapshot().ToBuffer().value();
  const auto header_len = static_cast<std::ptrdiff_t>(frame->snapshot().info().header_len);
  // The index is one value of two entries, repeated.
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
  StoreBe(bytes, 0x1E, static_cast<uint64_t>(count) * static_cast<uint64_t>(chunksize));
  return bytes;
}

TEST(MemoryTest, IndexOfOneRepeatedValueTakesNextToNothingForItsPages) {
  constexpr int32_t kCount = 1 << 20;
  const Buffer bytes = AlternatingChunks(kCount);
  const auto frame = Frame::OpenBuffer(bytes);
  ASSERT_TRUE(IsOk(frame));
  const Snapshot snapshot = frame->snapshot();
  const AllocationMeter meter;
  for (int64_t i = 0; i < kCount; i += 1001) {
    const auto entry = snapshot.GetEntry(i);
    ASSERT_TRUE(IsOk(entry));
    EXPECT_EQ(entry->special, i % 2 == 0 ? SpecialValue::kZeros : SpecialValue::kUninit);
  }
  EXPECT_LT(meter.peak(), kCount);
}

// A frame of 2019 with a chunk of 2 GiB less 64 bytes, of which no stream is there.
constexpr std::string_view kClaim2019 =
    "9b a8 62 32 66 72 61 6d  65 00 d2 00 00 00 40 cf"
    "00 00 00 00 00 00 00 90  a4 24 00 50 00 d3 00 00"
    "00 00 7f ff ff c0 d3 00  00 00 00 00 00 00 28 d2"
    "00 00 00 01 d2 7f ff ff  c0 d1 00 01 d1 00 01 c2"
    "04 01 15 01 c0 ff ff 7f  c0 ff ff 7f 28 00 00 00"
    "00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00"
    "24 00 00 00 00 00 00 00  04 01 07 08 08 00 00 00"
    "08 00 00 00 28 00 00 00  00 00 00 00 00 01 00 00"
    "00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00";
// And in the super-chunk of 2015.
constexpr std::string_view kClaim2015 =
    "00 00 00 00 01 00 05 00  01 00 00 00 00 00 00 00"
    "01 00 00 00 00 00 00 00  28 00 00 80 00 00 00 00"
    "90 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00"
    "00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00"
    "00 00 00 00 00 00 00 00  88 00 00 00 00 00 00 00"
    "00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00"
    "02 01 30 01 c0 ff ff 7f  00 00 ff 1f 28 00 00 00"
    "24 00 00 00 24 00 00 00  24 00 00 00 24 00 00 00"
    "24 00 00 00 00 00 00 00  60 00 00 00 00 00 00 00";

TEST(MemoryTest, AFewBytesThatClaimTwoGigabytesAreOpenedForNextToNothing) {
  const std::pair<Era, Buffer> frames[] = {
      {Era::kCurrent, AlternatingChunks(2, 1 << 30)},
      {Era::kFrame2019, Hex(kClaim2019)},
      {Era::kPacked2015, Hex(kClaim2015)},
  };
  const test::TempDir dir;
  for (const auto& [era, bytes] : frames) {
    SCOPED_TRACE(static_cast<int>(era));
    ASSERT_LT(bytes.size(), 512u);
    std::ofstream(dir.Path("f"), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
    for (const Access access : {Access::kMapped, Access::kRead, Access::kBuffer}) {
      SCOPED_TRACE(ToString(access));
      const AllocationMeter meter;
      const auto frame = access == Access::kBuffer
                             ? Frame::OpenBuffer(bytes)
                             : Frame::Open(dir.Path("f"), {.use_mmap = access == Access::kMapped});
      EXPECT_LE(meter.peak(), AllowedForOpening(std::ssize(bytes)));
      ASSERT_TRUE(IsOk(frame));
      EXPECT_EQ(frame->snapshot().info().era, era);
      EXPECT_GE(frame->snapshot().info().nbytes, (int64_t{2} << 30) - 64);
    }
  }
}

}  // namespace
}  // namespace cairn::vectors
