// Prints the findings of a run, and keeps them as data for tools/bench/draw.py.
#ifndef CAIRN_TOOLS_BENCH_RESULTS_REPORT_H_
#define CAIRN_TOOLS_BENCH_RESULTS_REPORT_H_

#include <string>
#include <vector>

#include "tools/bench/results/contest.h"
#include "tools/bench/results/growth.h"

namespace cairn::bench {

inline constexpr double kMiB = 1 << 20;

// Prints each finding as it comes.
class Report {
 public:
  void Add(Result result);
  void Add(Growth growth);
  // Notes once what could not be compared: "LMDB: not found when this was built".
  void Note(const std::string& note);

  // Returns the findings and the command that gave them, in the form that
  // tools/bench/drawing/results.py describes.
  std::string ToJson(const std::string& command) const;

 private:
  std::vector<Result> results_;
  std::vector<Growth> growths_;
  std::vector<std::string> notes_;
};

}  // namespace cairn::bench

#endif  // CAIRN_TOOLS_BENCH_RESULTS_REPORT_H_
