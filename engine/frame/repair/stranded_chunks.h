// Finds the chunks of commits that a damaged journal hides.
#ifndef CAIRN_ENGINE_FRAME_REPAIR_STRANDED_CHUNKS_H_
#define CAIRN_ENGINE_FRAME_REPAIR_STRANDED_CHUNKS_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

#include "cairn/recover.h"
#include "engine/frame/repair/chunk_detector.h"
#include "engine/frame/repair/chunk_scanner.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// A state to be saved.
struct KnownState {
  StatePtr state;
  bool is_pending_proven = true;  // its pending items are those that were written, all of them
  bool is_scan = false;           // its chunks are what a search of all bytes found
  std::vector<LostBytes> lost;
};

// Adds what was appended after the damage to a state whose journal is damaged. Chunks are taken for
// appended where no intact commit says otherwise, and where the pending items of the state, or its
// short last chunk, begin the first of them; these have no fingerprint then. All others are lost:
// in which place they were is not known. kCancelled when `progress` says stop.
absl::StatusOr<KnownState> AddStranded(StatePtr state, ChunkDetector& detector,
                                       absl::FunctionRef<bool(int64_t)> progress);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPAIR_STRANDED_CHUNKS_H_
