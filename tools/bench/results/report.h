// Shows the findings of a run for people, programs and pictures.
#ifndef CAIRN_TOOLS_BENCH_RESULTS_REPORT_H_
#define CAIRN_TOOLS_BENCH_RESULTS_REPORT_H_

#include <string>
#include <vector>

#include "tools/bench/results/contest.h"
#include "tools/bench/results/growth.h"

namespace cairn::bench {

// Prints each finding as it comes.
class Report {
 public:
  void Add(Result result);
  void Add(Growth growth);
  // Notes once what could not be compared: "LMDB: not found when this was built".
  void Note(const std::string& note);

  std::string ToJson() const;
  // Returns a table of all questions and one for each growth, for docs/performance.md.
  std::string ToMarkdown() const;
  // Draws bars for each question, and lines for each growth.
  std::string ToSvg() const;

 private:
  std::vector<Result> results_;
  std::vector<Growth> growths_;
  std::vector<std::string> notes_;
};

}  // namespace cairn::bench

#endif  // CAIRN_TOOLS_BENCH_RESULTS_REPORT_H_
