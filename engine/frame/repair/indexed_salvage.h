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

// Returns true if the state tells where each chunk is, and the size of its file justifies the
// memory for that.
bool HasIndex(const State& state);

// Makes a frame of the state's metadata and chunks, each in its place, and reports what is lost. A
// chunk that does not match its fingerprint, or does not decode, becomes a hole. Errors: kNotFound
// if no chunk is left; kCancelled if `progress`, which gets where each chunk begins, returns false.
absl::StatusOr<SalvageReport> SalvageByIndex(KnownState found, const CopyTarget& target,
                                             absl::FunctionRef<bool(int64_t)> progress);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPAIR_INDEXED_SALVAGE_H_
