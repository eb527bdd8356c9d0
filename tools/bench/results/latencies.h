// How long each of many operations took.
#ifndef CAIRN_TOOLS_BENCH_RESULTS_LATENCIES_H_
#define CAIRN_TOOLS_BENCH_RESULTS_LATENCIES_H_

#include <string>
#include <vector>

#include "tools/bench/results/growth.h"

namespace cairn::bench {

class Latencies {
 public:
  void Add(double seconds) { seconds_.push_back(seconds); }
  // Before what follows, once all are added; there is at least one.
  void Sort();
  double Quantile(double share) const;
  double longest() const { return seconds_.back(); }
  // Operations a second, if one follows the other at once.
  double Rate() const;
  // In microseconds: "median 2.1, p99 5.0, p99.9 18.3, p99.99 101.0, longest 2000".
  std::string ToString() const;
  // How many of a million take longer than so many microseconds.
  Curve Histogram(const std::string& name) const;

 private:
  std::vector<double> seconds_;
};

}  // namespace cairn::bench

#endif  // CAIRN_TOOLS_BENCH_RESULTS_LATENCIES_H_
