// Finds the chunks of commits that a damaged journal hides.
#ifndef CAIRN_ENGINE_FRAME_REPAIR_STRANDED_CHUNKS_H_
#define CAIRN_ENGINE_FRAME_REPAIR_STRANDED_CHUNKS_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

#include "cairn/recover.h"
#include "engine/format/frame_header.h"
#include "engine/frame/repair/chunk_detector.h"
#include "engine/frame/repair/chunk_scanner.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// A state that will be saved.
struct KnownState {
  StatePtr state;
  bool is_pending_proven = true;  // its pending items are complete and unchanged
  bool is_scan = false;           // a search of all bytes found its chunks
  bool places_all = true;         // no chunk or item is lost for want of a place
  bool misses_commits = false;    // the metadata is that of an earlier commit than some chunks
  StatePtr older = nullptr;       // a state before it if its trailer is damaged; may be null
  std::vector<LostBytes> lost;
};

// Adds to a state whose journal is damaged the chunks that were appended after the damage. Chunks
// count as appended if no intact commit shows otherwise, and if the pending items of the state, or
// its short last chunk, begin the first of them. They then have no fingerprint. All others are
// lost, because their places are not known. Errors: kCancelled if `progress` returns false.
absl::StatusOr<KnownState> AddStranded(StatePtr state, ChunkDetector& detector,
                                       absl::FunctionRef<bool(int64_t)> progress);

// Adds likewise to an intact older state the chunks of a checkpoint whose index is lost. Its header
// is `newer`: there are never more chunks or items than it says.
absl::StatusOr<KnownState> AddStranded(StatePtr state, const format::FrameHeader& newer,
                                       ChunkDetector& detector,
                                       absl::FunctionRef<bool(int64_t)> progress);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPAIR_STRANDED_CHUNKS_H_
