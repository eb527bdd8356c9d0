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

// Returns the state with another index. Each entry that cannot be read leads to a chunk of `found`
// that has the entry's fingerprint. If only fingerprints are damaged, it leads to where the index
// says, without a fingerprint. Otherwise it leads to no chunk. Errors: kDataLoss if neither index
// nor fingerprints are of use.
absl::StatusOr<StatePtr> MendIndex(const State& state, const std::vector<FoundChunk>& found);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPAIR_INDEX_MENDER_H_
