// Checks facts that must hold whatever the input is.
#ifndef CAIRN_FUZZ_CHECK_H_
#define CAIRN_FUZZ_CHECK_H_

#include <string_view>

#include "absl/status/status.h"

#include "cairn/types.h"

namespace cairn::fuzz {

// Ends the program, which the fuzzer takes for a find.
[[noreturn]] void Fail(std::string_view claim, std::string_view detail);

inline void Check(bool holds, std::string_view claim, std::string_view detail = {}) {
  if (!holds) Fail(claim, detail);
}
void CheckSame(Bytes got, Bytes expected, std::string_view claim);
void CheckOk(const absl::Status& status, std::string_view claim);

// Bytes from a stranger may be refused for these reasons only. Gives status.ok().
bool IsAnswer(const absl::Status& status);

}  // namespace cairn::fuzz

#endif  // CAIRN_FUZZ_CHECK_H_
