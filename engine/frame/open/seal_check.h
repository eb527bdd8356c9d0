// Decides whether a frame is sealed, and what of its seal still holds.
#ifndef CAIRN_ENGINE_FRAME_OPEN_SEAL_CHECK_H_
#define CAIRN_ENGINE_FRAME_OPEN_SEAL_CHECK_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/chunk.h"
#include "cairn/types.h"
#include "engine/format/frame_header.h"
#include "engine/format/seal.h"
#include "engine/format/trailer.h"
#include "engine/frame/index/committed_index.h"

namespace cairn::frame {

// The parts of a frame that its seal covers.
struct SealedParts {
  Bytes header_bytes;
  const format::Trailer& trailer;
  const Chunk& trailer_chunk;  // the trailer's bytes
  int64_t nchunks = 0;
};

struct SealVerdict {
  // The layer `cairn` as it stands there, good or stale.
  std::optional<format::Seal> seal;
  // Whether it belongs to this very state and not to one before another Blosc2 changed it.
  bool holds = false;
  // Present where chunks can be checked.
  std::optional<IndexSeal> index;
  FingerprintType type = FingerprintType::kNone;
  absl::Status trailer_damage;
  bool sealed = false;  // every live byte is covered
  // All is well but for header bytes that another Blosc2 changes without touching the trailer.
  bool header_changed_outside = false;
};

// kDataLoss when the header is not the sealed one. A trailer that is not gives `trailer_damage`:
// chunks can still be read, unchecked. A trailer that another Blosc2 wrote has no fingerprint: the
// frame is then not sealed, which is no damage.
absl::StatusOr<SealVerdict> CheckSeal(const SealedParts& parts);

// The seal in a trailer whose fingerprint is right, wherever its frame is. kDataLoss.
absl::StatusOr<format::Seal> SealOf(const format::Trailer& trailer, Bytes trailer_bytes);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_OPEN_SEAL_CHECK_H_
