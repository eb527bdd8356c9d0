// Super-chunks as frames.
#ifndef CAIRN_ENGINE_BLOSC2_API_SCHUNKS_SERIALIZE_H_
#define CAIRN_ENGINE_BLOSC2_API_SCHUNKS_SERIALIZE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "cairn/types.h"
#include "cairn/writer.h"
#include "engine/blosc2_api/process/api.h"

namespace cairn::blosc2_api {

// The most vlmetalayers of a frame that C-Blosc2 writes. It does not open a frame with more again
// once it has edited it.
inline constexpr int kMostVlmetalayers = 16;

// Returns the options of an empty frame with the parameters and metalayers of a super-chunk.
CreateOptions CreateOptionsOf(const blosc2_schunk& schunk);

// Returns true for a vlmetalayer with a name that only Cairn may write. C-Blosc2 lists two of them
// in Cairn's frames, and programs copy all that they see. Frames do not get them.
bool IsCairns(const blosc2_metalayer& layer);

// Stages all chunks and vlmetalayers of a super-chunk in the writer of such a frame. Errors:
// kOutOfRange for more than kMostVlmetalayers.
absl::Status StageAll(const blosc2_schunk& schunk, Writer& writer);

// Returns a super-chunk as a frame, in memory that the caller frees with free.
absl::StatusOr<MutableBytes> Serialize(const blosc2_schunk& schunk);

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_SCHUNKS_SERIALIZE_H_
