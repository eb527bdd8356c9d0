#include "tools/bench/sqlite/table.h"

#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "tools/bench/results/contest.h"

namespace cairn::bench::sqlite {

namespace {

double MedianOf(const std::vector<Run>& rounds, const std::function<double(const Run&)>& value) {
  std::vector<double> values;
  for (const Run& run : rounds) values.push_back(value(run));
  return Median(std::move(values));
}

double MedianRatio(const ContenderRuns& one, const ContenderRuns& other,
                   const std::function<double(const Run&)>& value) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(one.rounds.size(), other.rounds.size()); ++i) {
    ratios.push_back(value(one.rounds[i]) / value(other.rounds[i]));
  }
  return Median(std::move(ratios));
}

double Seconds(const Run& run) { return run.seconds; }
double Bytes(const Run& run) { return static_cast<double>(run.bytes); }
double MostBytes(const Run& run) { return static_cast<double>(run.most_bytes); }

// Returns "0.85", or with a goal "0.85 (<= 0.9)" or "**0.95** (<= 0.9)".
std::string Ratio(double ratio, std::optional<double> goal) {
  if (!goal) return absl::StrFormat("%.2f", ratio);
  const char* mark = ratio > *goal ? "**" : "";
  return absl::StrFormat("%s%.2f%s (<= %.2f)", mark, ratio, mark, *goal);
}

std::string P99(const std::vector<Run>& rounds) {
  if (rounds.front().commits.empty()) return "";
  return absl::StrFormat(
      "%.0f", MedianOf(rounds, [](const Run& run) { return Percentile(run.commits, 0.99) * 1e6; }));
}

std::string Longest(const std::vector<Run>& rounds) {
  if (rounds.front().commits.empty()) return "";
  return absl::StrFormat("%.1f", MedianOf(rounds, [](const Run& run) {
                           return *std::max_element(run.commits.begin(), run.commits.end()) * 1e3;
                         }));
}

}  // namespace

std::string TableHead() {
  return "| work | store | s | us/op | time ratio | commit p99, us | longest, ms | MB after | "
         "MB at most | size ratio |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n";
}

std::string TableRows(const std::string& work, int64_t ops, const std::vector<ContenderRuns>& all,
                      const ContenderRuns& reference) {
  std::string rows;
  for (const ContenderRuns& one : all) {
    const double seconds = MedianOf(one.rounds, Seconds);
    absl::StrAppend(
        &rows, "| ", work, " | ", one.name, " | ",
        absl::StrFormat("%.3f | %.2f", seconds, seconds * 1e6 / static_cast<double>(ops)), " | ",
        Ratio(MedianRatio(one, reference, Seconds), one.time_goal), " | ", P99(one.rounds), " | ",
        Longest(one.rounds), " | ",
        absl::StrFormat("%.1f | %.1f", MedianOf(one.rounds, Bytes) / 1e6,
                        MedianOf(one.rounds, MostBytes) / 1e6),
        " | ", Ratio(MedianRatio(one, reference, Bytes), one.size_goal), " |\n");
  }
  return rows;
}

}  // namespace cairn::bench::sqlite
