// Measures of the values of one field, which need the values in the order of time.
#ifndef CAIRN_ENGINE_LOG_QUERY_MEASURE_H_
#define CAIRN_ENGINE_LOG_QUERY_MEASURE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/numeric/int128.h"

#include "cairn/log.h"
#include "cairn/record.h"
#include "cairn/types.h"

namespace cairn::log {

// The values of a field of numbers. `wholes` has those of integers, booleans and timestamps.
struct Numbers {
  std::vector<double> reals;
  std::vector<absl::int128> wholes;
};
// Replaces the numbers.
void LoadNumbers(const Field& field, Bytes column, Numbers& numbers);

// Says what a Measurer has to remember.
struct Measuring {
  bool values = false;
  bool deviation = false;
  bool increase = false;
};

// Measures the values of one bucket after the other.
class Measurer {
 public:
  explicit Measurer(const Measuring& what) : what_(what) {}

  // Takes value `i`, which is not earlier than those before it.
  void Add(const Numbers& numbers, size_t i, int64_t time);
  // Returns how many values this object remembers.
  int64_t held() const { return static_cast<int64_t>(values_.size()); }
  // Returns a measure of the values since EndBucket, or NaN if there is none.
  double Get(const LogMeasure& measure, int64_t units_per_second);
  // Begins a new bucket. An increase continues with the last value of this one.
  void EndBucket();

 private:
  struct Last {
    bool exists = false;
    double real = 0;
    absl::int128 whole = 0;
    int64_t time = 0;
  };
  double Quantile(double quantile);

  Measuring what_;
  std::vector<double> values_;
  int64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;  // sum of the squares of the distances from the mean
  double increase_ = 0;
  int64_t steps_ = 0;  // pairs of values that `increase_` is the sum of
  int64_t since_ = 0;  // time of the first value of these pairs
  Last last_;
};

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_QUERY_MEASURE_H_
