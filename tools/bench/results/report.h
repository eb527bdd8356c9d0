// What a run found, for people, programs and pictures.
#ifndef CAIRN_TOOLS_BENCH_RESULTS_REPORT_H_
#define CAIRN_TOOLS_BENCH_RESULTS_REPORT_H_

#include <string>
#include <utility>
#include <vector>

#include "tools/bench/results/contest.h"

namespace cairn::bench {

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;  // x, y
};

// How something grows; both axes are logarithmic.
struct Growth {
  std::string question;
  std::string x_title;  // "chunks in the frame"
  std::string y_title;  // "microseconds an append"
  std::vector<Curve> curves;
};

// Tells each finding on standard output as it comes.
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

// "2.31 us" or "11.2 GB/s".
std::string Amount(const Question& question, double seconds);

}  // namespace cairn::bench

#endif  // CAIRN_TOOLS_BENCH_RESULTS_REPORT_H_
