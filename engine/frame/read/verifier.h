// Checks every byte of a state and tells where damage lies.
#ifndef CAIRN_ENGINE_FRAME_READ_VERIFIER_H_
#define CAIRN_ENGINE_FRAME_READ_VERIFIER_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

#include "cairn/verify.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// The result of reading the journal of a state again.
struct JournalCheck {
  // The state after every commit, with its damage. Null if there are no summaries.
  StatePtr replayed;
  std::vector<Finding> summaries;  // summaries that are damaged or wrong
};

// Checks everything except the header, which was checked when the state was loaded. Continues after
// damage. Errors: kCancelled if `progress` returns false.
absl::StatusOr<VerifyReport> VerifyState(const State& state, const JournalCheck& journal,
                                         VerifyDepth depth,
                                         absl::FunctionRef<bool(int64_t)> progress);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_READ_VERIFIER_H_
