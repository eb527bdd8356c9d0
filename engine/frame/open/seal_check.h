// Decides whether a checkpoint is sealed, and what of its seal still holds.
#ifndef CAIRN_ENGINE_FRAME_OPEN_SEAL_CHECK_H_
#define CAIRN_ENGINE_FRAME_OPEN_SEAL_CHECK_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/chunk.h"
#include "cairn/types.h"
#include "engine/format/seal.h"
#include "engine/format/trailer.h"
#include "engine/frame/index/committed_index.h"
#include "engine/frame/state/checkpoint.h"

namespace cairn::frame {

// Fills in what `trailer` says of the seal of a checkpoint of `nchunks` chunks, whose header is
// known. The result seals the index; empty where chunks cannot be checked. kDataLoss when the
// header is not the sealed one. A trailer that is not gives `trailer_damage`: chunks can still be
// read, unchecked. A trailer that another Blosc2 wrote has no fingerprint: the frame is then not
// sealed, which is no damage.
absl::StatusOr<std::optional<IndexSeal>> CheckSeal(const format::Trailer& trailer,
                                                   const Chunk& trailer_chunk, int64_t nchunks,
                                                   Checkpoint& checkpoint);

// kDataLoss unless the trailer is what was written.
absl::Status CheckTrailerFingerprint(const format::Trailer& trailer, Bytes trailer_bytes);

// The seal in a trailer, wherever its frame is and whether or not its fingerprint is right.
// kDataLoss.
absl::StatusOr<format::Seal> SealOf(const format::Trailer& trailer, Bytes trailer_bytes);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_OPEN_SEAL_CHECK_H_
