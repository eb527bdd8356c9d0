// cairn-costs: runs one operation several times, while callgrind counts instructions and calls.
// Without arguments it names the operations. tools/bench/costs.sh runs them all.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <valgrind/callgrind.h>

#include "tools/bench/costs/operation.h"
#include "tools/status.h"

// Takes the place of the C library's, for the engine's trees have the shape that these numbers give
// them. A run counts then what the run before counted: with others, edits differ by 3%.
extern "C" [[gnu::visibility("default")]] int getentropy(void* to, size_t size) noexcept {
  static uint64_t number = 0;
  auto* const bytes = static_cast<std::byte*>(to);
  for (size_t at = 0; at < size; at += sizeof(number)) {
    number += 0x9E3779B97F4A7C15;
    std::memcpy(bytes + at, &number, std::min(sizeof(number), size - at));
  }
  return 0;
}

namespace cairn::bench {
namespace {

std::vector<Operation> AllOperations() {
  std::vector<Operation> all;
  for (const auto& some : {OpenOperations(), ReadOperations(), WriteOperations(), LogOperations(),
                           ObjectOperations(), COperations(), SqliteOperations()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

// Makes callgrind count from here to the end of the scope, or not at all.
class Counted {
 public:
  explicit Counted(bool counts) : counts_(counts) {
    if (counts_) CALLGRIND_START_INSTRUMENTATION;
  }
  ~Counted() {
    if (counts_) CALLGRIND_STOP_INSTRUMENTATION;
  }

 private:
  const bool counts_;
};

absl::Status Count(const Operation& operation, const std::string& folder) {
  ASSIGN_OR_RETURN(const Steps steps, operation.prepare(folder));
  if (steps.before != nullptr) RETURN_IF_ERROR(steps.before(0));
  RETURN_IF_ERROR(steps.counted(0));
  // Callgrind takes long to start and stop, so this does both only once if possible.
  const Counted all(steps.before == nullptr);
  for (int64_t number = 1; number <= operation.times; ++number) {
    if (steps.before != nullptr) RETURN_IF_ERROR(steps.before(number));
    const Counted one(steps.before != nullptr);
    RETURN_IF_ERROR(steps.counted(number));
  }
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  if (argc != 1 && argc != 3) {
    std::fputs("usage: cairn-costs [OPERATION FOLDER]\n", stderr);
    return 2;
  }
  for (const Operation& operation : AllOperations()) {
    if (argc == 1) {
      std::printf("%d\t%s\n", static_cast<int>(operation.times), operation.name.c_str());
    } else if (operation.name == argv[1]) {
      const absl::Status status = Count(operation, argv[2]);
      if (!status.ok()) std::fprintf(stderr, "cairn-costs: %s\n", status.ToString().c_str());
      return status.ok() ? 0 : 1;
    }
  }
  if (argc == 1) return 0;
  std::fprintf(stderr, "cairn-costs: there is no operation '%s'\n", argv[1]);
  return 2;
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) { return cairn::bench::Main(argc, argv); }
