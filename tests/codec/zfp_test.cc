#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "engine/codec/stream_codec.h"
#include "tests/support/status.h"

namespace cairn::codec {
namespace {

using Buffer = std::vector<std::byte>;

class ZfpTest : public testing::Test {
 protected:
  void SetUp() override {
    if (MakeZfp(Codec::kZfpAccuracy) == nullptr) GTEST_SKIP() << "built without libzfp";
  }
  static PluginCall Call(uint8_t meta) {
    static constexpr int32_t kShape[] = {20, 30};
    return {.typesize = sizeof(double), .meta = meta, .blockshape = kShape};
  }
  static std::vector<double> Numbers() {
    std::vector<double> numbers(20 * 30);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::sin(static_cast<double>(i) / 50);
    return numbers;
  }
  static Buffer Encode(Codec mode, uint8_t meta) {
    const std::vector<double> numbers = Numbers();
    Buffer stream(numbers.size() * sizeof(double));
    stream.resize(
        MakeZfp(mode)->Compress(std::as_bytes(std::span(numbers)), stream, Call(meta)).value());
    return stream;
  }
  template <typename T>
  static size_t SizeOf(const std::vector<T>& numbers, Codec mode, uint8_t meta) {
    PluginCall call = Call(meta);
    call.typesize = sizeof(T);
    Buffer stream(numbers.size() * sizeof(T));
    return MakeZfp(mode)->Compress(std::as_bytes(std::span(numbers)), stream, call).value();
  }
  static double LargestError(Codec mode, uint8_t meta) {
    const std::vector<double> numbers = Numbers();
    std::vector<double> decoded(numbers.size());
    const absl::Status status = MakeZfp(mode)->Decompress(
        Encode(mode, meta), std::as_writable_bytes(std::span(decoded)), Call(meta));
    EXPECT_TRUE(IsOk(status));
    double largest = 0;
    for (size_t i = 0; i < numbers.size(); ++i) {
      largest = std::max(largest, std::abs(numbers[i] - decoded[i]));
    }
    return largest;
  }
};

TEST_F(ZfpTest, KeepsTheAccuracyThatIsAskedFor) {
  EXPECT_LE(LargestError(Codec::kZfpAccuracy, static_cast<uint8_t>(-2)), 1e-2);
  EXPECT_LE(LargestError(Codec::kZfpAccuracy, static_cast<uint8_t>(-9)), 1e-9);
}

TEST_F(ZfpTest, BlocksWithItemsThatAreNotFiniteAreLeftToTheCaller) {
  for (const Codec mode : {Codec::kZfpAccuracy, Codec::kZfpPrecision, Codec::kZfpRate}) {
    for (const double odd : {std::nan(""), -std::nan(""), HUGE_VAL, -HUGE_VAL}) {
      std::vector<double> numbers = Numbers();
      numbers[77] = odd;
      EXPECT_EQ(SizeOf(numbers, mode, 30), 0) << odd;
      std::vector<float> floats(numbers.begin(), numbers.end());
      EXPECT_EQ(SizeOf(floats, mode, 30), 0) << odd;
    }
    EXPECT_GT(SizeOf(Numbers(), mode, 30), 0);
  }
}

TEST_F(ZfpTest, BlocksWhoseItemsWouldMissTheAccuracyAreLeftToTheCaller) {
  std::vector<double> numbers = Numbers();
  std::vector<float> floats(numbers.begin(), numbers.end());
  const auto exponent = static_cast<uint8_t>(-2);
  ASSERT_GT(SizeOf(floats, Codec::kZfpAccuracy, exponent), 0);
  floats[77] = 9.97e36F;  // the fill value of netCDF
  numbers[77] = 9.97e36;
  EXPECT_EQ(SizeOf(floats, Codec::kZfpAccuracy, exponent), 0);
  EXPECT_EQ(SizeOf(numbers, Codec::kZfpAccuracy, exponent), 0);
  // A part of a float's 24 bits suffices.
  floats[77] = 9e3F;
  EXPECT_GT(SizeOf(floats, Codec::kZfpAccuracy, exponent), 0);
  EXPECT_EQ(SizeOf(floats, Codec::kZfpAccuracy, static_cast<uint8_t>(-7)), 0);
}

TEST_F(ZfpTest, LosesLessWithMorePrecision) {
  EXPECT_LT(LargestError(Codec::kZfpPrecision, 40), LargestError(Codec::kZfpPrecision, 10));
}

TEST_F(ZfpTest, HasTheRateThatIsAskedFor) {
  const size_t whole = Numbers().size() * sizeof(double);
  for (const uint8_t percent : {uint8_t{10}, uint8_t{25}, uint8_t{60}}) {
    // The rate applies to complete cells.
    const size_t cells = 20 * 32 * sizeof(double);
    const size_t size = Encode(Codec::kZfpRate, percent).size();
    EXPECT_NEAR(static_cast<double>(size), static_cast<double>(cells * percent / 100), 16);
    EXPECT_LT(size, whole);
  }
}

TEST_F(ZfpTest, TakesBuffersThatAreNotAligned) {
  const std::vector<double> numbers = Numbers();
  const Bytes bytes = std::as_bytes(std::span(numbers));
  Buffer shifted(1 + bytes.size());
  std::copy(bytes.begin(), bytes.end(), shifted.begin() + 1);
  Buffer stream(bytes.size());
  const auto codec = MakeZfp(Codec::kZfpAccuracy);
  stream.resize(codec->Compress(Bytes(shifted).subspan(1), stream, Call(0)).value());
  EXPECT_EQ(stream, Encode(Codec::kZfpAccuracy, 0));
  EXPECT_TRUE(IsOk(codec->Decompress(stream, MutableBytes(shifted).subspan(1), Call(0))));
}

TEST_F(ZfpTest, RefusesStreamsOfAnotherSize) {
  for (const Codec mode : {Codec::kZfpAccuracy, Codec::kZfpPrecision, Codec::kZfpRate}) {
    const Buffer stream = Encode(mode, 30);
    Buffer out(Numbers().size() * sizeof(double));
    for (const size_t size : {size_t{0}, stream.size() / 2, stream.size() - 8}) {
      // As large as it is, so that a byte too far is seen.
      const Buffer cut(stream.begin(), stream.begin() + static_cast<ptrdiff_t>(size));
      EXPECT_TRUE(Fails(MakeZfp(mode)->Decompress(cut, out, Call(30)), absl::StatusCode::kDataLoss,
                        "bytes"));
    }
    Buffer longer = stream;
    longer.resize(stream.size() + 8);
    EXPECT_TRUE(Fails(MakeZfp(mode)->Decompress(longer, out, Call(30)), absl::StatusCode::kDataLoss,
                      "bytes"));
  }
}

TEST_F(ZfpTest, NeedsTheShapeOfBlocks) {
  Buffer out(64);
  const auto codec = MakeZfp(Codec::kZfpAccuracy);
  EXPECT_TRUE(Fails(codec->Decompress(Buffer(8), out, {.typesize = 4}),
                    absl::StatusCode::kUnimplemented, "n-dimensional"));
  constexpr int32_t kOther[] = {4, 5};
  EXPECT_TRUE(Fails(codec->Decompress(Buffer(8), out, {.typesize = 4, .blockshape = kOther}),
                    absl::StatusCode::kDataLoss, "blocks"));
  constexpr int32_t kFits[] = {4, 4};
  EXPECT_TRUE(Fails(codec->Decompress(Buffer(8), out, {.typesize = 2, .blockshape = kFits}),
                    absl::StatusCode::kDataLoss, "typesize"));
}

}  // namespace
}  // namespace cairn::codec
