// Runs code that hostile bytes may bring down.
#ifndef CAIRN_FUZZ_APART_H_
#define CAIRN_FUZZ_APART_H_

#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"

namespace cairn::fuzz {

// What `run` gives in a process of its own; nothing when that dies or takes more than some seconds.
std::optional<std::vector<std::byte>> RunApart(absl::FunctionRef<std::vector<std::byte>()> run);

}  // namespace cairn::fuzz

#endif  // CAIRN_FUZZ_APART_H_
