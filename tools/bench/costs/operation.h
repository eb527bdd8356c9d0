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

// Does something for the operation of this number. The first one, 0, warms up.
using Step = std::function<absl::Status(int64_t number)>;

struct Steps {
  Step counted;
  Step before = {};  // comes first and is not counted; may be none
};

struct Operation {
  std::string name;
  int64_t times = 0;  // that it is counted
  // Makes what the operation needs, in a folder that is empty.
  std::function<absl::StatusOr<Steps>(const std::string& folder)> prepare;
};

std::vector<Operation> OpenOperations();
std::vector<Operation> ReadOperations();
std::vector<Operation> WriteOperations();
std::vector<Operation> LogOperations();
std::vector<Operation> ObjectOperations();
std::vector<Operation> COperations();
std::vector<Operation> SqliteOperations();  // none where this was built without SQLite

}  // namespace cairn::bench

#endif  // CAIRN_TOOLS_BENCH_COSTS_OPERATION_H_
