#include "engine/filter/block_part.h"

#include <vector>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"

namespace cairn::filter {
namespace {

// Pieces [2, 5) of 4 planes of 10 bytes, and 3 bytes after.
constexpr BlockPart kPart = {.planes = 4, .stride = 10, .begin = 2, .piece = 3};

TEST(BlockPartTest, NeedsNoByteAfterItsLastPiece) {
  EXPECT_EQ(kPart.EndWithin(0, 43), 35u);
  EXPECT_EQ(kPart.EndWithin(0, 10), 5u);
  EXPECT_EQ(kPart.EndWithin(0, 4), 4u);
  EXPECT_EQ(kPart.EndWithin(0, 2), 0u) << "nothing before the first piece";
  EXPECT_EQ(kPart.EndWithin(6, 11), 6u) << "nothing between two pieces";
  EXPECT_EQ(kPart.EndWithin(36, 43), 36u) << "nothing after";
}

TEST(BlockPartTest, GathersItsPiecesFromStreamsOfAnySize) {
  std::vector<std::byte> block;
  for (int i = 0; i < 43; ++i) block.push_back(static_cast<std::byte>(i));
  std::vector<std::byte> expected;
  for (const int i : {2, 3, 4, 12, 13, 14, 22, 23, 24, 32, 33, 34}) {
    expected.push_back(static_cast<std::byte>(i));
  }
  for (size_t stream = 1; stream <= block.size(); ++stream) {
    std::vector<std::byte> small(kPart.size());
    for (size_t from = 0; from < block.size(); from += stream) {
      const size_t to = std::min(block.size(), from + stream);
      const size_t end = kPart.EndWithin(from, to);
      kPart.Gather(from, Bytes(block).subspan(from, end - from), small);
    }
    EXPECT_EQ(small, expected) << stream;
  }
}

}  // namespace
}  // namespace cairn::filter
