// Measures what a process holds of the machine, and whether that grows.
#ifndef CAIRN_TESTS_CONCURRENCY_GAUGE_H_
#define CAIRN_TESTS_CONCURRENCY_GAUGE_H_

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace cairn::test {

// How much more the last quarter of a run may hold than the second: a factor, and a bit for noise.
struct Tolerance {
  double factor = 1;
  int64_t more = 0;
};

// A figure that is read from time to time.
class Figure {
 public:
  Figure(std::string name, Tolerance tolerance) : name_(std::move(name)), tolerance_(tolerance) {}

  void Add(int64_t value) { values_.push_back(value); }
  const std::string& name() const { return name_; }
  // Medians: in the first quarter caches fill and frames grow.
  int64_t early() const { return MedianOfQuarter(1); }
  int64_t late() const { return MedianOfQuarter(3); }
  int64_t most() const;
  bool Grows() const;

 private:
  int64_t MedianOfQuarter(size_t quarter) const;

  std::string name_;
  Tolerance tolerance_;
  std::vector<int64_t> values_;
};

// The figures of one process.
class ProcessGauge {
 public:
  ProcessGauge(std::string name, pid_t pid);

  void Read();
  const std::string& name() const { return name_; }
  pid_t pid() const { return pid_; }
  const std::vector<Figure>& figures() const { return figures_; }

 private:
  std::string name_;
  pid_t pid_;
  std::vector<Figure> figures_;
};

// Disk space that the folder's files take, KiB. Files may come and go meanwhile.
int64_t KibOfFolder(const std::string& folder);

}  // namespace cairn::test

#endif  // CAIRN_TESTS_CONCURRENCY_GAUGE_H_
