// Frames of very many chunks.
#include <algorithm>
#include <array>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "tests/support/bytes.h"
#include "tests/support/frame_parts.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"

namespace cairn::frame {
namespace {

using absl::StatusCode;
using test::Buffer;

// Chunks of one item of 4 bytes, which is its own number, but zero for every third.
constexpr int32_t kNumbers = 100'000;

int32_t NumberAt(int64_t i) { return i % 3 == 0 ? 0 : static_cast<int32_t>(i); }

Frame FrameOfNumbers() {
  Frame frame = test::NewInMemory(test::Cut(4, 4));
  Writer writer = *frame.OpenWriter();
  for (int64_t i = 0; i < kNumbers; ++i) {
    const int32_t number = NumberAt(i);
    EXPECT_TRUE(IsOk(number == 0 ? writer.AppendSpecial(SpecialValue::kZeros, 1)
                                 : writer.Append(std::as_bytes(std::span(&number, 1)))));
  }
  EXPECT_TRUE(IsOk(writer.Close()));
  return frame;
}

TEST(CommittedIndexTest, ManyChunksAreFoundInAnyOrder) {
  const Buffer bytes = *FrameOfNumbers().snapshot().ToBuffer();
  const Snapshot snapshot = Frame::OpenBuffer(bytes)->snapshot();
  ASSERT_EQ(snapshot.info().nchunks, kNumbers);
  EXPECT_TRUE(snapshot.info().sealed);
  std::mt19937_64 random(1);
  for (int round = 0; round < 20'000; ++round) {
    const auto i = static_cast<int64_t>(random() % kNumbers);
    int32_t number = -1;
    ASSERT_TRUE(IsOk(snapshot.ReadItems(i, std::span<int32_t>(&number, 1))));
    ASSERT_EQ(number, NumberAt(i));
  }
  for (const int64_t i : {0, 2047, 2048, 2049, 4095, 4096, kNumbers - 1}) {
    const ChunkEntry entry = *snapshot.GetEntry(i);
    EXPECT_EQ(entry.special, i % 3 == 0 ? SpecialValue::kZeros : SpecialValue::kNone);
    EXPECT_EQ(entry.fingerprint.has_value(), i % 3 != 0);
  }
}

TEST(CommittedIndexTest, ManyItemsGatherFromManyChunks) {
  const Frame frame = FrameOfNumbers();
  std::vector<int64_t> items(kNumbers);
  for (size_t i = 0; i < items.size(); ++i) items[i] = static_cast<int64_t>(i * 7919 % kNumbers);
  std::vector<int32_t> numbers(items.size());
  ASSERT_TRUE(
      IsOk(frame.snapshot().ReadItemsAt(items, std::as_writable_bytes(std::span(numbers)))));
  EXPECT_TRUE(std::ranges::equal(numbers, items, {}, {}, NumberAt));
}

// A frame of chunks of zeros as C-Blosc2 writes it, of typesize 4.
struct ZerosFrame {
  int64_t nchunks = 0;
  int32_t chunksize = 0;
  int32_t index_nbytes = 0;
};

constexpr size_t kHeaderLen = 97;
constexpr size_t kIndexLen = 40;
constexpr size_t kTrailerLen = 35;

template <size_t kSize>
void Put(Buffer& frame, const std::array<uint8_t, kSize>& bytes) {
  test::AddTo(frame, std::as_bytes(std::span(bytes)));
}

Buffer HeaderOf(const ZerosFrame& zeros) {
  Buffer header;
  Put(header, std::to_array<uint8_t>({0x9E, 0xA8, 'b',  '2',  'f',  'r',  'a', 'm',  'e', 0, 0xD2,
                                      0,    0,    0,    97,   0xCF, 0,    0,   0,    0,   0, 0,
                                      0,    0,    0xA4, 0x12, 0,    0x50, 3,   0xD3, 0,   0, 0,
                                      0,    0,    0,    0,    0,    0xD3, 0,   0,    0,   0, 0,
                                      0,    0,    0,    0xD2, 0,    0,    0,   4,    0xD2}));
  Put(header,
      std::to_array<uint8_t>({0, 0, 0, 0, 0xD2, 0, 0, 0, 0, 0xD1, 0, 1, 0xD1, 0, 1, 0xC2, 0xD8,
                              6, 0, 0, 0, 0,    0, 1, 0, 0, 0,    0, 0, 0,    0, 0, 0,    0}));
  Put(header, std::to_array<uint8_t>({0x93, 0xCD, 0, 7, 0xDE, 0, 0, 0xDC, 0, 0}));
  StoreBe(header.data() + 0x10, uint64_t{kHeaderLen + kIndexLen + kTrailerLen});
  StoreBe(header.data() + 0x1E, static_cast<uint64_t>(zeros.nchunks * zeros.chunksize));
  StoreBe(header.data() + 0x3A, static_cast<uint32_t>(zeros.chunksize));
  return header;
}

// The index: one entry, repeated.
Buffer BytesOf(const ZerosFrame& zeros) {
  Buffer frame = HeaderOf(zeros);
  EXPECT_EQ(frame.size(), kHeaderLen);
  Put(frame, std::to_array<uint8_t>({5, 1, 5, 8,    0, 0, 0, 0, 0, 0x40, 0, 0,   kIndexLen, 0,
                                     0, 0, 0, 0,    0, 0, 0, 0, 0, 0,    0, 0,   0,         0,
                                     0, 0, 0, 0x30, 0, 0, 0, 0, 0, 0,    0, 0x81}));
  StoreLe(frame.data() + kHeaderLen + 4, static_cast<uint32_t>(zeros.index_nbytes));
  Put(frame, std::to_array<uint8_t>({0x94, 1, 0x93, 0xCD, 0,           6,    0xDE, 0, 0, 0xDC, 0, 0,
                                     0xCE, 0, 0,    0,    kTrailerLen, 0xD8, 0,    0, 0, 0,    0, 0,
                                     0,    0, 0,    0,    0,           0,    0,    0, 0, 0,    0}));
  return frame;
}

TEST(CommittedIndexTest, TenMillionChunksOfZerosFitIn172Bytes) {
  constexpr int64_t kChunks = 10'000'000;
  const Buffer bytes =
      BytesOf({.nchunks = kChunks, .chunksize = 1 << 20, .index_nbytes = kChunks * 8});
  ASSERT_EQ(bytes.size(), 172u);
  const absl::StatusOr<Frame> frame = Frame::OpenBuffer(bytes);
  ASSERT_TRUE(IsOk(frame));
  const Snapshot snapshot = frame->snapshot();
  EXPECT_EQ(snapshot.info().nchunks, kChunks);
  EXPECT_FALSE(snapshot.info().sealed);
  for (const int64_t nchunk : {int64_t{0}, kChunks / 2, kChunks - 1}) {
    EXPECT_EQ(snapshot.GetEntry(nchunk)->special, SpecialValue::kZeros);
    Buffer chunk = test::MakeItems(1 << 20);
    ASSERT_TRUE(IsOk(snapshot.ReadChunk(nchunk, chunk)));
    EXPECT_EQ(chunk, Buffer(1 << 20));
  }
  Buffer item = test::MakeItems(4);
  ASSERT_TRUE(IsOk(snapshot.ReadItems(snapshot.info().nitems - 1, item)));
  EXPECT_EQ(item, Buffer(4));
  EXPECT_EQ(snapshot.GetEntry(kChunks).status().code(), StatusCode::kOutOfRange);
}

// The index of a frame that no seal covers, as other Blosc2s write it: blocks of 2,048 entries.
TEST(CommittedIndexTest, DamagedBlockIsNamedAndTheOthersAreRead) {
  CreateOptions options = test::Cut(4, 4);
  options.fingerprint = FingerprintType::kNone;
  Frame frame = test::NewInMemory(options);
  Writer writer = *frame.OpenWriter();
  constexpr int32_t kCount = 6000;
  for (int32_t i = 0; i < kCount; ++i) {
    ASSERT_TRUE(IsOk(writer.Append(std::as_bytes(std::span(&i, 1)))));
  }
  ASSERT_TRUE(IsOk(writer.Close()));
  Buffer bytes = *frame.snapshot().ToBuffer();
  const auto index = static_cast<size_t>(test::PartsOf(bytes).index_begin);
  const auto second = LoadLe<uint32_t>(bytes.data() + index + 32 + 4);
  // The size of the block's only stream becomes one that no stream has.
  StoreLe<uint32_t>(bytes.data() + index + second, 0x7fffffff);
  const absl::StatusOr<Frame> damaged = Frame::OpenBuffer(bytes);
  ASSERT_TRUE(IsOk(damaged.status()));
  const Snapshot snapshot = damaged->snapshot();
  for (const int32_t i : {0, 2047, 4096, kCount - 1}) {
    int32_t number = -1;
    EXPECT_TRUE(IsOk(snapshot.ReadItems(i, std::span<int32_t>(&number, 1))));
    EXPECT_EQ(number, i);
  }
  for (const int32_t i : {2048, 3000, 4095}) {
    int32_t number = -1;
    const absl::Status status = snapshot.ReadItems(i, std::span<int32_t>(&number, 1));
    EXPECT_EQ(status.code(), StatusCode::kDataLoss);
    EXPECT_NE(status.message().find("index: entries from 2048 on"), std::string::npos) << status;
  }
}

TEST(CommittedIndexTest, IndexOfAnotherNumberOfChunksIsDamage) {
  for (const int32_t entries : {999, 1001}) {
    const Buffer bytes = BytesOf({.nchunks = 1000, .chunksize = 400, .index_nbytes = entries * 8});
    EXPECT_EQ(Frame::OpenBuffer(bytes).status().code(), StatusCode::kDataLoss) << entries;
  }
}

}  // namespace
}  // namespace cairn::frame
