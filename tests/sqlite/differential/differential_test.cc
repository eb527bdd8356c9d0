// Random SQL in frames beside the same SQL in stock SQLite. More is in docs/testing.md.
#include <gtest/gtest.h>

#include "tests/sqlite/differential/killed_writers.h"
#include "tests/sqlite/differential/search_apart.h"
#include "tests/support/search.h"

namespace cairn::test {
namespace {

constexpr int kSteps = 250;
constexpr int64_t kRoundsOfOneSeed = 25;  // kills, in the same databases

// The environment may change what runs:
//   CAIRN_DIFFERENTIAL_SEED=7    scripts from that seed on
//   CAIRN_SEARCH_PERCENT=5000    fifty times as many
//   CAIRN_DIFFERENTIAL_RUN=12    that seed alone
void ExpectAlike(Manner manner, int64_t count) {
  uint64_t first = NumberIn("CAIRN_DIFFERENTIAL_SEED", 1);
  count = SearchRuns(count);
  if (const uint64_t only = NumberIn("CAIRN_DIFFERENTIAL_RUN", 0); only != 0) {
    first = only;
    count = 1;
  }
  const absl::Status searched = SearchApart(manner, first, count, kSteps);
  EXPECT_TRUE(searched.ok()) << searched.message();
}

TEST(DifferentialTest, ConnectionsBesideReadersSeeWhatStockSqliteShows) {
  ExpectAlike(Manner::kBesideReaders, 40);
}

TEST(DifferentialTest, ConnectionAloneSeesWhatStockSqliteShows) { ExpectAlike(Manner::kAlone, 40); }

TEST(DifferentialTest, StatementOnAFullDiskDoesAllOrNothing) { ExpectAlike(Manner::kFullDisk, 40); }

TEST(DifferentialTest, KilledWritersLeaveWhatStockSqliteMakesOfTheirTransactions) {
  const uint64_t seed = NumberIn("CAIRN_DIFFERENTIAL_RUN", NumberIn("CAIRN_DIFFERENTIAL_SEED", 1));
  for (int64_t i = 0; i < SearchRuns(50); i += kRoundsOfOneSeed) {
    const absl::Status searched =
        SearchWithKills(seed + static_cast<uint64_t>(i / kRoundsOfOneSeed), kRoundsOfOneSeed);
    ASSERT_TRUE(searched.ok()) << searched.message();
  }
}

}  // namespace
}  // namespace cairn::test
