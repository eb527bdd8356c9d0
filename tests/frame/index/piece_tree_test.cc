#include "engine/frame/index/piece_tree.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/cost.h"

namespace cairn::frame {
namespace {

// The first of SplitMix64's numbers, from the seed 0 on.
class KnownNumbers {
 public:
  uint64_t Next() {
    uint64_t n = state_ += 0x9E3779B97F4A7C15;
    n = (n ^ (n >> 30)) * 0xBF58476D1CE4E5B9;
    n = (n ^ (n >> 27)) * 0x94D049BB133111EB;
    return n ^ (n >> 31);
  }

 private:
  uint64_t state_ = 0;
};

// Returns the places at which to insert so that a tree that chooses its roots by these numbers
// becomes a chain: always right at the place of the next root.
std::vector<int64_t> PlacesThatMakeAChain(int64_t count) {
  KnownNumbers numbers;
  std::vector<int64_t> places;
  for (int64_t nodes = 0; nodes < count; ++nodes) {
    int64_t place = 0;
    while (place < nodes && numbers.Next() % static_cast<uint64_t>(nodes - place + 1) != 0) ++place;
    places.push_back(place);
  }
  return places;
}

TEST(PieceTreeTest, NoEditsThatAreChosenFromTheCodeMakeItDeep) {
  test::ExpectLinear(2000, [](int64_t count) {
    return [places = PlacesThatMakeAChain(count)] {
      PieceTree tree;
      for (const int64_t place : places) tree.Insert(place, {.count = 1});
      EXPECT_EQ(tree.pieces(), std::ssize(places));
    };
  });
}

}  // namespace
}  // namespace cairn::frame
