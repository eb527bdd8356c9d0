// Checks every byte of a state and says where damage lies.
#ifndef CAIRN_ENGINE_FRAME_READ_VERIFIER_H_
#define CAIRN_ENGINE_FRAME_READ_VERIFIER_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

#include "cairn/verify.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// What became of the journal of a state when it was read again.
struct JournalCheck {
  StatePtr replayed;  // after every commit, with what is damaged; null: without summaries
  std::vector<Finding> summaries;  // that are damaged or wrong
};

// The header was checked when the state was loaded; this checks the rest and goes on after damage.
// kCancelled when `progress` says stop.
absl::StatusOr<VerifyReport> VerifyState(const State& state, const JournalCheck& journal,
                                         VerifyDepth depth,
                                         absl::FunctionRef<bool(int64_t)> progress);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_READ_VERIFIER_H_
