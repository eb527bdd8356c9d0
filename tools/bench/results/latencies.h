// Keeps how long each of many operations took.
#ifndef CAIRN_TOOLS_BENCH_RESULTS_LATENCIES_H_
#define CAIRN_TOOLS_BENCH_RESULTS_LATENCIES_H_

#include <string>
#include <vector>

#include "tools/bench/results/growth.h"

namespace cairn::bench {

class Latencies {
 public:
  void Add(double seconds) { seconds_.push_back(seconds); }
  // Call this before the functions below, once all are added. There must be at least one.
  void Sort();
  double Quantile(double share) const;
  double longest() const { return seconds_.back(); }
  // Returns the operations per second if one follows the other at once.
  double Rate() const;
  // Returns microseconds: "median 2.1, p99 5.0, p99.9 18.3, p99.99 101.0, longest 2000".
  std::string ToString() const;
  // Returns how many of a million operations take longer than each number of microseconds.
  Curve Histogram(const std::string& name) const;

 private:
  std::vector<double> seconds_;
};

}  // namespace cairn::bench

#endif  // CAIRN_TOOLS_BENCH_RESULTS_LATENCIES_H_
