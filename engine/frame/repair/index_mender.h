// Finds the chunks of a frame whose index does not match its fingerprints.
#ifndef CAIRN_ENGINE_FRAME_REPAIR_INDEX_MENDER_H_
#define CAIRN_ENGINE_FRAME_REPAIR_INDEX_MENDER_H_

#include <vector>

#include "absl/status/statusor.h"

#include "engine/frame/repair/chunk_scanner.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// Returns true if each entry of the state's index can be read.
bool IsIndexWhole(const State& state);

// The state with an index in which each entry that cannot be read leads to a chunk of `found` that
// has the entry's fingerprint; else, where only fingerprints are damaged, to where the index says,
// without one; else to no chunk. kDataLoss where neither index nor fingerprints are of use.
absl::StatusOr<StatePtr> MendIndex(const State& state, const std::vector<FoundChunk>& found);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPAIR_INDEX_MENDER_H_
