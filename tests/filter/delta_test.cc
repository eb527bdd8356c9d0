#include <vector>

#include <gtest/gtest.h>

#include "engine/filter/filters.h"
#include "tests/filter/test_blocks.h"

namespace cairn::filter {
namespace {

std::vector<std::byte> Forward(size_t typesize, Bytes src, Bytes reference) {
  Block dst = RandomBlock(src.size(), 5);
  DeltaForward(typesize, src, reference, dst);
  return ToVector(dst);
}

std::vector<std::byte> Backward(size_t typesize, Bytes src, Bytes reference) {
  Block dst = RandomBlock(src.size(), 6);
  DeltaBackward(typesize, src, reference, dst);
  return ToVector(dst);
}

TEST(DeltaTest, FirstBlockIsCodedAgainstItselfAUnitBefore) {
  const auto src = MakeBytes({1, 2, 4, 8, 16, 32, 64});
  EXPECT_EQ(Forward(2, src, {}), MakeBytes({1, 2, 5, 10, 20, 40, 64}));
  EXPECT_EQ(Forward(4, src, {}), MakeBytes({1, 2, 4, 8, 16, 32, 64}));
  EXPECT_EQ(Forward(3, src, {}), MakeBytes({1, 3, 6, 12, 24, 48, 96}));
}

TEST(DeltaTest, MultiplesOfEightAreCodedEightBytesAtATime) {
  const Block src = RandomBlock(100, 7);
  EXPECT_EQ(Forward(16, src, {}), Forward(8, src, {}));
  EXPECT_EQ(Forward(24, src, {}), Forward(8, src, {}));
  EXPECT_EQ(Forward(12, src, {}), Forward(1, src, {}));
}

TEST(DeltaTest, LaterBlocksAreCodedAgainstTheFirst) {
  const auto src = MakeBytes({1, 2, 3, 4, 5});
  const auto reference = MakeBytes({255, 255, 255, 255, 255});
  EXPECT_EQ(Forward(2, src, reference), MakeBytes({254, 253, 252, 251, 5}));
  EXPECT_EQ(Backward(2, MakeBytes({254, 253, 252, 251, 5}), reference), src);
}

TEST(DeltaTest, RoundTripsWithReferencesOfAnySize) {
  for (const int typesize : kTypesizes) {
    for (const size_t size : {1, 2, 7, 8, 9, 63, 64, 100, 4099}) {
      const Block src = RandomBlock(size, 8, 1);
      for (const size_t reference_size : {size_t{0}, size_t{1}, size - 1, size, 2 * size + 1}) {
        const Block reference = RandomBlock(reference_size, 9, 3);
        const size_t width = static_cast<size_t>(typesize);
        EXPECT_EQ(Backward(width, Forward(width, src, reference), reference), ToVector(src))
            << typesize << " " << size << " " << reference_size;
      }
    }
  }
}

TEST(DeltaTest, BytesPastAShorterReferenceAreCopied) {
  const auto src = MakeBytes({1, 2, 3, 4});
  EXPECT_EQ(Forward(1, src, MakeBytes({255, 255})), MakeBytes({254, 253, 3, 4}));
}

}  // namespace
}  // namespace cairn::filter
