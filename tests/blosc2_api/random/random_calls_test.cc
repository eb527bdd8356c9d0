// Plays the same random calls with C-Blosc2 itself and with the library that has its interface.
//   CAIRN_DIFFERENTIAL_SEED=7      seeds from that one on
//   CAIRN_SEARCH_PERCENT=5000      fifty times as many
//   CAIRN_DIFFERENTIAL_RUN=1234    that seed alone, and all that it does is printed
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "tests/blosc2_api/random/player.h"
#include "tests/support/search.h"
#include "tests/support/temp_dir.h"

namespace cairn::blosc2_api {
namespace {

class RandomCallsTest : public testing::Test {
 protected:
  void SetUp() override {
    // Each edit of a file is synced, which takes no time in memory.
    if (access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 0);
    ASSERT_TRUE(genuine_.Load(std::getenv("GENUINE_BLOSC2")));
    ASSERT_TRUE(ours_.Load(std::getenv("CAIRN_BLOSC2_API")));
  }

  using Player = std::function<void(const Calls& calls, uint64_t seed, const std::string& folder,
                                    Transcript& transcript)>;

  // Compares what the two libraries show for many seeds.
  void Compare(int64_t runs, const Player& play) {
    const uint64_t only = test::NumberIn("CAIRN_DIFFERENTIAL_RUN", 0);
    const uint64_t first = only != 0 ? only : test::NumberIn("CAIRN_DIFFERENTIAL_SEED", 1);
    const uint64_t end = first + (only != 0 ? 1 : static_cast<uint64_t>(test::SearchRuns(runs)));
    uint64_t ended = 0;  // runs that C-Blosc2 did not survive, or read wrongly
    for (uint64_t seed = first; seed < end; ++seed) {
      const auto with = [&](const Calls& calls) {
        const test::TempDir folder;
        return InChild(
            [&](Transcript& transcript) { play(calls, seed, folder.path(), transcript); });
      };
      const Lines expected = with(genuine_);
      const Lines got = with(ours_);
      const auto [theirs, mine] = std::ranges::mismatch(expected, got);
      if (only != 0) {
        for (auto i = got.begin(); i != mine; ++i) std::printf("%s\n", i->c_str());
      }
      const auto wrong = std::ranges::find(got, kWrongItems);
      if (wrong < mine) {
        ADD_FAILURE() << "seed " << seed << ", line " << wrong - got.begin() << ": " << *wrong;
        continue;
      }
      if (theirs == expected.end() && mine == got.end()) continue;
      if (theirs != expected.end() && (theirs->starts_with("ended") || *theirs == kWrongItems)) {
        ended += 1;
        continue;
      }
      const std::string before = mine == got.begin() ? "" : *(mine - 1);
      ADD_FAILURE() << "seed " << seed << ", line " << mine - got.begin() << ", after " << before
                    << "\nC-Blosc2: " << (theirs == expected.end() ? "nothing" : *theirs)
                    << "\nCairn:    " << (mine == got.end() ? "nothing" : *mine);
    }
    EXPECT_LE(ended, (end - first) / 5);
  }

  Calls genuine_;
  Calls ours_;
};

TEST_F(RandomCallsTest, SuperChunksAreTheSame) {
  Compare(80, [this](const Calls& calls, uint64_t seed, const std::string& folder,
                     Transcript& transcript) {
    PlayChunks(calls, genuine_, seed, folder, transcript);
  });
}

TEST_F(RandomCallsTest, ArraysAreTheSame) { Compare(30, PlayArrays); }

}  // namespace
}  // namespace cairn::blosc2_api
