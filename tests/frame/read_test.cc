// Reads of any range and of single items, against a plain vector.
#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"

namespace cairn::frame {
namespace {

using absl::StatusCode;
using test::Buffer;

enum class Kind { kFixed, kVariable, kSpecial, kVlBlocks };
constexpr std::array kKindNames = {"Fixed", "Variable", "Special", "VlBlocks"};

using Random = std::mt19937_64;
int64_t Between(Random& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

class ReadTest : public testing::TestWithParam<std::tuple<Kind, int32_t>> {
 protected:
  ReadTest() : kind_(std::get<0>(GetParam())), typesize_(std::get<1>(GetParam())) {
    const bool cut = kind_ == Kind::kFixed || kind_ == Kind::kSpecial;
    CreateOptions options = test::Cut(typesize_, cut ? 40 * typesize_ + 1 : ChunkSize::Variable());
    options.compression.blocksize = 8 * typesize_;
    Frame frame = test::NewInMemory(options);
    Writer writer = *frame.OpenWriter();
    for (int i = 0; i < 25; ++i) Append(writer);
    snapshot_ = *writer.Commit();
  }

  size_t nitems() const { return content_.size() / static_cast<size_t>(typesize_); }

  void Append(Writer& writer) {
    const int64_t count = Between(random_, 1, 60);
    // If chunks differ in size, items may lie across their borders.
    const bool whole = kind_ == Kind::kSpecial || kind_ == Kind::kFixed;
    const auto size =
        static_cast<size_t>(whole ? count * typesize_ : Between(random_, 1, 60 * typesize_));
    const bool noisy = Between(random_, 0, 3) == 0;
    Buffer items = noisy ? test::MakeNoise(size, random_()) : test::MakeItems(size, random_());
    if (kind_ == Kind::kVlBlocks) {
      const auto first = static_cast<size_t>(Between(random_, 0, static_cast<int64_t>(size) - 1));
      std::vector<size_t> sizes = {size - first};
      if (first > 0) sizes.push_back(first);
      ASSERT_TRUE(IsOk(writer.AppendCompressed(test::CompressedVl(items, sizes, typesize_))));
    } else if (kind_ == Kind::kSpecial && Between(random_, 0, 2) > 0) {
      const bool repeat = Between(random_, 0, 1) == 0;
      const Bytes value = Bytes(items).first(repeat ? static_cast<size_t>(typesize_) : 0);
      const SpecialValue special = repeat ? SpecialValue::kRepeat : SpecialValue::kZeros;
      ASSERT_TRUE(IsOk(writer.AppendSpecial(special, count, value)));
      items = repeat ? test::Repeated(value, size) : Buffer(size);
    } else {
      ASSERT_TRUE(IsOk(writer.Append(items)));
    }
    test::AddTo(content_, items);
  }

  void ReadRangesAtRandom(Random& random, int count) const {
    for (int i = 0; i < count; ++i) {
      const int64_t begin = Between(random, 0, std::ssize(content_));
      const int64_t end = Between(random, begin, std::ssize(content_));
      Buffer bytes(static_cast<size_t>(end - begin));
      ASSERT_TRUE(IsOk(snapshot_->ReadBytes(begin, bytes)));
      ASSERT_TRUE(std::equal(bytes.begin(), bytes.end(), content_.begin() + begin))
          << "bytes [" << begin << ", " << end << ")";

      const int64_t first = begin / typesize_;
      bytes.resize(bytes.size() / static_cast<size_t>(typesize_) * static_cast<size_t>(typesize_));
      ASSERT_TRUE(IsOk(snapshot_->ReadItems(first, bytes)));
      ASSERT_TRUE(std::equal(bytes.begin(), bytes.end(), content_.begin() + first * typesize_))
          << "items from " << first << " on";
    }
  }

  void GatherAtRandom(Random& random, int count) const {
    const auto width = static_cast<size_t>(typesize_);
    std::vector<int64_t> items(static_cast<size_t>(count));
    for (int64_t& item : items) item = Between(random, 0, static_cast<int64_t>(nitems()) - 1);
    Buffer bytes(items.size() * width);
    ASSERT_TRUE(IsOk(snapshot_->ReadItemsAt(items, bytes)));
    for (size_t i = 0; i < items.size(); ++i) {
      ASSERT_TRUE(
          std::ranges::equal(Bytes(bytes).subspan(i * width, width),
                             Bytes(content_).subspan(static_cast<size_t>(items[i]) * width, width)))
          << "item " << items[i];
    }
  }

  // Two fields of a range of items: one of a byte or more, and one that begins where items do.
  void ReadFieldsAtRandom(Random& random, int count) const {
    const auto width = static_cast<size_t>(typesize_);
    for (int i = 0; i < count; ++i) {
      const int64_t start = Between(random, 0, static_cast<int64_t>(nitems()));
      const int64_t n = Between(random, 0, static_cast<int64_t>(nitems()) - start);
      const auto offset = static_cast<int32_t>(Between(random, 0, typesize_ - 1));
      const auto size = static_cast<int32_t>(Between(random, 1, typesize_ - offset));
      Buffer inner(static_cast<size_t>(n * size));
      Buffer outer(static_cast<size_t>(n * (offset + 1)));
      const std::array fields = {FieldSpan{.offset = offset, .size = size, .dst = inner},
                                 FieldSpan{.offset = 0, .size = offset + 1, .dst = outer}};
      ASSERT_TRUE(IsOk(snapshot_->ReadFields(start, n, fields)));
      const Bytes items = Bytes(content_).subspan(static_cast<size_t>(start) * width);
      for (const FieldSpan& field : fields) {
        ASSERT_EQ(ToVector(field.dst.bytes()),
                  test::FieldOf(items.first(static_cast<size_t>(n) * width), width, field))
            << n << " items from " << start << " on, " << field.size << " bytes at "
            << field.offset;
      }
    }
  }

  const Kind kind_;
  const int32_t typesize_;
  Random random_{static_cast<uint64_t>(typesize_)};
  Buffer content_;
  std::optional<Snapshot> snapshot_;
};

INSTANTIATE_TEST_SUITE_P(, ReadTest,
                         testing::Combine(testing::Values(Kind::kFixed, Kind::kVariable,
                                                          Kind::kSpecial, Kind::kVlBlocks),
                                          testing::Values(1, 3, 8, 255, 300)),
                         [](const auto& info) {
                           return std::string(
                                      kKindNames[static_cast<size_t>(std::get<0>(info.param))]) +
                                  std::to_string(std::get<1>(info.param));
                         });

TEST_P(ReadTest, AnyRangeReads) {
  test::ExpectHolds(*snapshot_, content_);
  ReadRangesAtRandom(random_, 300);
}

TEST_P(ReadTest, ItemsGatherInAnyOrderAndAgain) {
  for (const int count : {0, 1, 2, 1000}) GatherAtRandom(random_, count);
}

TEST_P(ReadTest, FieldsReadAsInTheirItems) { ReadFieldsAtRandom(random_, 200); }

TEST_P(ReadTest, FourThreadsReadOneSnapshot) {
  std::vector<std::thread> threads;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    threads.emplace_back([this, seed] {
      Random random(seed);
      ReadRangesAtRandom(random, 50);
      GatherAtRandom(random, 200);
      ReadFieldsAtRandom(random, 50);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(ReadTest, NothingLiesPastTheEnd) {
  const auto width = static_cast<size_t>(typesize_);
  const auto count = static_cast<int64_t>(nitems());
  const int64_t nbytes = std::ssize(content_);
  Buffer item(width);
  constexpr auto kOutside = StatusCode::kOutOfRange;
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  for (const int64_t number : {count, int64_t{-1}, kHuge, std::numeric_limits<int64_t>::min()}) {
    EXPECT_EQ(snapshot_->ReadItems(number, item).code(), kOutside) << number;
    EXPECT_EQ(snapshot_->ReadItemsAt(std::array{number}, item).code(), kOutside) << number;
  }
  for (const int64_t begin :
       {nbytes - static_cast<int64_t>(width) + 1, nbytes, int64_t{-1}, kHuge}) {
    EXPECT_EQ(snapshot_->ReadBytes(begin, item).code(), kOutside) << begin;
  }
  EXPECT_TRUE(IsOk(snapshot_->ReadBytes(nbytes, {})));
  EXPECT_TRUE(IsOk(snapshot_->ReadItems(count, MutableBytes())));
  const int64_t nchunks = snapshot_->info().nchunks;
  for (const int64_t nchunk : {nchunks, int64_t{-1}}) {
    EXPECT_EQ(snapshot_->GetChunk(nchunk).status().code(), kOutside);
    EXPECT_EQ(snapshot_->GetEntry(nchunk).status().code(), kOutside);
    EXPECT_EQ(snapshot_->ChunkNbytes(nchunk).status().code(), kOutside);
    EXPECT_EQ(snapshot_->ReadChunk(nchunk, item).code(), kOutside);
  }
}

TEST_P(ReadTest, FieldsOfNoItemAreRefused) {
  Buffer values(4);
  const auto read = [&](int64_t start, int64_t count, int32_t offset, int32_t size) {
    const FieldSpan field = {.offset = offset, .size = size, .dst = values};
    return snapshot_->ReadFields(start, count, {&field, 1}).code();
  };
  const auto count = static_cast<int64_t>(nitems());
  EXPECT_EQ(read(count - 3, 4, 0, 1), StatusCode::kOutOfRange);
  EXPECT_EQ(read(-1, 4, 0, 1), StatusCode::kOutOfRange);
  EXPECT_EQ(read(0, -1, 0, 1), StatusCode::kOutOfRange);
  constexpr auto kRefused = StatusCode::kInvalidArgument;
  EXPECT_EQ(read(0, 4, typesize_, 1), kRefused);
  EXPECT_EQ(read(0, 4, -1, 1), kRefused);
  EXPECT_EQ(read(0, 4, 0, typesize_ + 1), kRefused);
  EXPECT_EQ(read(0, 4, 0, 0), kRefused);
  EXPECT_EQ(read(0, 3, 0, 1), kRefused) << "the array has room for more";
}

TEST_P(ReadTest, BuffersOfTheWrongSizeAreRefused) {
  const auto width = static_cast<size_t>(typesize_);
  Buffer buffer(2 * width + 1);
  constexpr auto kRefused = StatusCode::kInvalidArgument;
  EXPECT_EQ(
      snapshot_->ReadItemsAt(std::array<int64_t, 3>{0, 1, 2}, MutableBytes(buffer).first(width))
          .code(),
      kRefused);
  Buffer chunk(static_cast<size_t>(*snapshot_->ChunkNbytes(0)) + 1);
  EXPECT_EQ(snapshot_->ReadChunk(0, chunk).code(), kRefused);
  if (typesize_ == 1) return;
  EXPECT_EQ(snapshot_->ReadItems(0, buffer).code(), kRefused);
  EXPECT_EQ(snapshot_->ReadItemsAt(std::array<int64_t, 2>{0, 1}, buffer).code(), kRefused);
}

}  // namespace
}  // namespace cairn::frame
