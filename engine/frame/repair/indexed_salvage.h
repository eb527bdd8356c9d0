// Saves the chunks of a frame whose index can be read.
#ifndef CAIRN_ENGINE_FRAME_REPAIR_INDEXED_SALVAGE_H_
#define CAIRN_ENGINE_FRAME_REPAIR_INDEXED_SALVAGE_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

#include "cairn/recover.h"
#include "engine/frame/copy/frame_copy.h"
#include "engine/frame/repair/stranded_chunks.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// Returns true if the state says of each chunk where it is, and the size of its file justifies the
// memory for that.
bool HasIndex(const State& state);

// Makes a frame of the state's metadata and chunks, each in its place, and reports what is lost of
// it. A chunk that is not what its fingerprint says, or does not decode, becomes a hole. kNotFound
// when no chunk is left. kCancelled when `progress`, which gets where each chunk begins, says stop.
absl::StatusOr<SalvageReport> SalvageByIndex(KnownState found, const CopyTarget& target,
                                             absl::FunctionRef<bool(int64_t)> progress);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPAIR_INDEXED_SALVAGE_H_
