// Makes the table of a run: medians over the rounds, ratios to the reference, sizes and goals.
#ifndef CAIRN_TOOLS_BENCH_SQLITE_TABLE_H_
#define CAIRN_TOOLS_BENCH_SQLITE_TABLE_H_

#include <optional>
#include <string>
#include <vector>

#include "tools/bench/sqlite/runs.h"

namespace cairn::bench::sqlite {

struct ContenderRuns {
  std::string name;
  std::vector<Run> rounds;
  std::optional<double> time_goal = {};  // ratio to the reference
  std::optional<double> size_goal = {};
};

// Lines of a table in Markdown, one for each contender. Ratios are taken within each round.
std::string TableHead();
std::string TableRows(const std::string& work, int64_t ops, const std::vector<ContenderRuns>& all,
                      const ContenderRuns& reference);

}  // namespace cairn::bench::sqlite

#endif  // CAIRN_TOOLS_BENCH_SQLITE_TABLE_H_
