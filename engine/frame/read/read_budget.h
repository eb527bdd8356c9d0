// Bounds what reading all chunks of a state may cost.
#ifndef CAIRN_ENGINE_FRAME_READ_READ_BUDGET_H_
#define CAIRN_ENGINE_FRAME_READ_READ_BUDGET_H_

#include <cstdint>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"

#include "engine/frame/state/state.h"

namespace cairn::frame {

// Chunks do not overlap, so together they are no longer than the bytes that hold them; only an
// index that was made to waste time asks for much more.
class ReadBudget {
 public:
  // The state must outlive it.
  explicit ReadBudget(const State& state);
  // Called for each chunk that was read, with its stored size. kDataLoss once all of them are much
  // more than the bytes that hold them.
  absl::Status Spend(int64_t nchunk, int64_t stored);

 private:
  const State& state_;
  int64_t available_;  // of a sparse frame: in the files so far
  int64_t spent_ = 0;
  absl::flat_hash_set<int64_t> files_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_READ_READ_BUDGET_H_
