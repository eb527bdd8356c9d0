// Runs of workloads by contenders, and their results.
#ifndef CAIRN_TOOLS_BENCH_SQLITE_RUNS_H_
#define CAIRN_TOOLS_BENCH_SQLITE_RUNS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "tools/bench/sqlite/store.h"
#include "tools/bench/sqlite/workloads.h"

namespace cairn::bench::sqlite {

// A run of one workload by one contender.
struct Run {
  double seconds = 0;
  std::vector<double> commits = {};  // seconds
  int64_t bytes = 0;                 // on disk once the connection is closed
  int64_t most_bytes = 0;            // most bytes on disk
};

class Runner {
 public:
  Runner(std::string directory, int page_size, int64_t rows)
      : directory_(std::move(directory)), page_size_(page_size), rows_(rows) {}

  absl::StatusOr<Run> Time(const Workload& workload, const Contender& contender);
  // Runs SQLite's own benchmark, a program that speedtest1.sh builds.
  absl::StatusOr<Run> TimeSpeedtest1(const std::string& program, const std::string& extension,
                                     int size, bool durable, const Contender& contender) const;

 private:
  absl::StatusOr<Store> Prepare(Start start, const Contender& contender) const;

  std::string directory_;
  int page_size_;
  int64_t rows_;
  std::map<std::string, Store> shared_;  // keyed by the contender's name
};

}  // namespace cairn::bench::sqlite

#endif  // CAIRN_TOOLS_BENCH_SQLITE_RUNS_H_
