// The workloads that are timed.
#ifndef CAIRN_TOOLS_BENCH_SQLITE_WORKLOADS_H_
#define CAIRN_TOOLS_BENCH_SQLITE_WORKLOADS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "tools/bench/sqlite/connection.h"
#include "tools/bench/sqlite/rows.h"

namespace cairn::bench::sqlite {

// The state from which a workload starts.
enum class Start {
  kEmpty,         // a table without rows
  kEmptyIndexed,  // a table without rows, with an index
  kLoaded,        // kRows rows and an index, which it may change
  kShared,        // as kLoaded, from an earlier workload: it only reads
};

struct Workload {
  std::string name;
  std::string text;
  Start start;
  bool durable;                     // synchronous FULL, else OFF
  int64_t ops;                      // operations, whose mean is reported
  std::optional<double> goal = {};  // Cairn's time / that of WAL
  bool cold = false;                // drops the page cache first, and opens the database in time
  // Runs the workload. Adds how long each commit takes, in seconds, if it has many.
  std::function<absl::Status(Connection&, std::vector<double>& commits)> run;
};

struct Sizes {
  int64_t rows = 200000;
  double scale = 1;  // scale of the operations of all workloads
};

std::vector<Workload> AllWorkloads(const Sizes& sizes);

// Fills an empty table, in one transaction.
absl::Status Load(Connection& connection, std::span<const Row> rows);

}  // namespace cairn::bench::sqlite

#endif  // CAIRN_TOOLS_BENCH_SQLITE_WORKLOADS_H_
