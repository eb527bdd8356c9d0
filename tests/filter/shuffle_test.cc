#include <vector>

#include <gtest/gtest.h>

#include "engine/filter/filters.h"
#include "tests/filter/scalar.h"
#include "tests/filter/test_blocks.h"

namespace cairn::filter {
namespace {

using Kernel = void (*)(size_t, Bytes, MutableBytes);

// On both sides of every vector's size, in elements and in groups of 8 of them.
constexpr size_t kCounts[] = {0,   1,   7,   8,   9,   15,  16,  17,  31,  32,
                              33,  63,  64,  65,  127, 128, 129, 136, 191, 192,
                              193, 255, 256, 264, 511, 512, 513, 520, 600, 775};

void ExpectSameOnEveryTarget(Kernel kernel, Kernel scalar, size_t width, size_t size) {
  const Block src = RandomBlock(size, static_cast<uint32_t>(size), size % 2);
  Block expected(size);
  scalar(width, src, expected);
  ForEachTarget([&] {
    Block dst = RandomBlock(size, 1, size % 5);
    kernel(width, src, dst);
    ASSERT_EQ(ToVector(dst), ToVector(expected)) << "width " << width << ", size " << size;
  });
}

void ExpectSameAtAllSizes(Kernel kernel, Kernel scalar) {
  for (const int typesize : kTypesizes) {
    const size_t width = static_cast<size_t>(typesize);
    for (const size_t count : kCounts) {
      ExpectSameOnEveryTarget(kernel, scalar, width, count * width + count % width);
    }
  }
  for (const size_t width : {1, 2, 3, 4, 8, 12, 16, 17}) {
    ExpectSameOnEveryTarget(kernel, scalar, width, 20011 * width + 1);
  }
  ExpectSameOnEveryTarget(kernel, scalar, 255, 100001);
}

void ExpectRoundTrip(Kernel forward, Kernel backward, size_t width, size_t size) {
  const Block src = RandomBlock(size, 2);
  Block filtered(size);
  Block back(size);
  forward(width, src, filtered);
  backward(width, filtered, back);
  ASSERT_EQ(ToVector(back), ToVector(src)) << "width " << width << ", size " << size;
}

TEST(ShuffleTest, OrdersBytesAsTheFormatSays) {
  const auto src = MakeBytes({0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a,
                              0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15});
  const auto expected =
      MakeBytes({0x00, 0x04, 0x08, 0x0c, 0x10, 0x01, 0x05, 0x09, 0x0d, 0x11, 0x02,
                 0x06, 0x0a, 0x0e, 0x12, 0x03, 0x07, 0x0b, 0x0f, 0x13, 0x14, 0x15});
  std::vector<std::byte> dst(src.size());
  Shuffle(4, src, dst);
  EXPECT_EQ(dst, expected);
  scalar::Shuffle(4, src, dst);
  EXPECT_EQ(dst, expected);
}

TEST(ShuffleTest, IsTheSameOnEveryTarget) {
  ExpectSameAtAllSizes(Shuffle, scalar::Shuffle);
  ExpectSameAtAllSizes(Unshuffle, scalar::Unshuffle);
}

TEST(ShuffleTest, RoundTrips) {
  for (const int typesize : kTypesizes) {
    const size_t width = static_cast<size_t>(typesize);
    for (const size_t size : {0, 1, 15, 100, 1000, 4099, 65536, 300001}) {
      ExpectRoundTrip(Shuffle, Unshuffle, width, size);
    }
  }
}

TEST(ShuffleTest, PlanesThatLieApartUnshuffleOnEveryTarget) {
  for (const size_t width : {1, 2, 3, 4, 8, 12, 16, 17}) {
    for (const size_t count : {0, 1, 15, 16, 33, 64, 777}) {
      const size_t stride = count + 5;
      const Block planes = RandomBlock(width * stride, static_cast<uint32_t>(count));
      std::vector<std::byte> expected;
      for (size_t i = 0; i < count * width; ++i) {
        expected.push_back(planes.bytes()[i % width * stride + i / width]);
      }
      ForEachTarget([&] {
        Block dst = RandomBlock(count * width, 1, count % 5);
        UnshufflePlanes(width, planes, stride, dst);
        ASSERT_EQ(ToVector(dst), expected) << "width " << width << ", count " << count;
      });
    }
  }
}

TEST(ShuffleTest, WidthOfOneOrWiderThanTheBlockCopies) {
  const Block src = RandomBlock(100, 3);
  for (const size_t width : {1, 101, 255}) {
    Block dst(100);
    Shuffle(width, src, dst);
    EXPECT_EQ(ToVector(dst), ToVector(src));
  }
}

TEST(BitShuffleTest, OrdersBitsAsTheFormatSays) {
  const auto src = MakeBytes({0x00, 0x80, 0x01, 0x40, 0x02, 0x20, 0x03, 0x10, 0x04, 0x08, 0x05,
                              0x04, 0x06, 0x02, 0x07, 0x01, 0x08, 0x80, 0x09, 0x40, 0x0a, 0x20,
                              0x0b, 0x10, 0x0c, 0x08, 0x0d, 0x04, 0x0e, 0x02, 0x0f, 0x01});
  const auto expected = MakeBytes({0xaa, 0xaa, 0xcc, 0xcc, 0xf0, 0xf0, 0x00, 0xff, 0x00, 0x00, 0x00,
                                   0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x80, 0x40, 0x40, 0x20, 0x20,
                                   0x10, 0x10, 0x08, 0x08, 0x04, 0x04, 0x02, 0x02, 0x01, 0x01});
  std::vector<std::byte> dst(src.size());
  BitShuffle(2, src, dst);
  EXPECT_EQ(dst, expected);
  scalar::BitShuffle(2, src, dst);
  EXPECT_EQ(dst, expected);
}

TEST(BitShuffleTest, IsTheSameOnEveryTarget) {
  ExpectSameAtAllSizes(BitShuffle, scalar::BitShuffle);
  ExpectSameAtAllSizes(BitUnshuffle, scalar::BitUnshuffle);
}

TEST(BitShuffleTest, RoundTrips) {
  for (const int typesize : kTypesizes) {
    const size_t width = static_cast<size_t>(typesize);
    for (const size_t size : {0, 1, 15, 100, 1000, 4099, 65536, 300001}) {
      ExpectRoundTrip(BitShuffle, BitUnshuffle, width, size);
    }
  }
}

TEST(BitShuffleTest, ElementsPastTheLastEightStay) {
  const Block src = RandomBlock(23 * 4 + 3, 4);
  Block dst(src.bytes().size());
  BitShuffle(4, src, dst);
  EXPECT_EQ(ToVector(dst.bytes().subspan(64)), ToVector(src.bytes().subspan(64)));
  EXPECT_NE(ToVector(dst.bytes().first(64)), ToVector(src.bytes().first(64)));
}

}  // namespace
}  // namespace cairn::filter
