// Operations whose instructions and allocations are counted.
#ifndef CAIRN_TOOLS_BENCH_COSTS_OPERATION_H_
#define CAIRN_TOOLS_BENCH_COSTS_OPERATION_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cairn::bench {

// Performs the operation of this number. The first one, 0, warms up.
using Step = std::function<absl::Status(int64_t number)>;

struct Steps {
  Step counted;
  Step before = {};  // comes first and is not counted; may be empty
};

struct Operation {
  std::string name;
  int64_t times = 0;  // number of counted runs
  // Makes what the operation needs, in an empty folder.
  std::function<absl::StatusOr<Steps>(const std::string& folder)> prepare;
};

std::vector<Operation> OpenOperations();
std::vector<Operation> ReadOperations();
std::vector<Operation> WriteOperations();
std::vector<Operation> LogOperations();
std::vector<Operation> ObjectOperations();
std::vector<Operation> COperations();
std::vector<Operation> SqliteOperations();  // none if this was built without SQLite

}  // namespace cairn::bench

#endif  // CAIRN_TOOLS_BENCH_COSTS_OPERATION_H_
