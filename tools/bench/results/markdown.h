// Writes results as tables in Markdown.
#ifndef CAIRN_TOOLS_BENCH_RESULTS_MARKDOWN_H_
#define CAIRN_TOOLS_BENCH_RESULTS_MARKDOWN_H_

#include <span>
#include <string>

#include "tools/bench/results/contest.h"
#include "tools/bench/results/growth.h"

namespace cairn::bench {

// The table has a row for each question and a column for each contestant. A new table begins
// wherever other contestants follow.
std::string TableOf(std::span<const Result> results);
// The table has a row for each curve, and a column for each place on the x axis.
std::string TableOf(const Growth& growth);

}  // namespace cairn::bench

#endif  // CAIRN_TOOLS_BENCH_RESULTS_MARKDOWN_H_
