// What a run found, for people, programs and pictures.
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
  // Something that could not be compared, once: "LMDB: not found when this was built".
  void Note(const std::string& note);

  std::string ToJson() const;
  // One table of all questions and one for each growth, for docs/performance.md.
  std::string ToMarkdown() const;
  // Bars for each question, lines for each growth.
  std::string ToSvg() const;

 private:
  std::vector<Result> results_;
  std::vector<Growth> growths_;
  std::vector<std::string> notes_;
};

}  // namespace cairn::bench

#endif  // CAIRN_TOOLS_BENCH_RESULTS_REPORT_H_
