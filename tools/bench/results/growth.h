// Curves: how the cost of an operation grows with something.
#ifndef CAIRN_TOOLS_BENCH_RESULTS_GROWTH_H_
#define CAIRN_TOOLS_BENCH_RESULTS_GROWTH_H_

#include <string>
#include <utility>
#include <vector>

namespace cairn::bench {

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;  // x, y
};

struct Growth {
  std::string question;
  std::string x_title;  // "chunks in the frame"
  std::string y_title;  // "microseconds an append"
  std::vector<Curve> curves;
};

}  // namespace cairn::bench

#endif  // CAIRN_TOOLS_BENCH_RESULTS_GROWTH_H_
