// Finds the stored bytes of one chunk, and checks them against its fingerprint.
#ifndef CAIRN_ENGINE_FRAME_READ_STORED_CHUNK_H_
#define CAIRN_ENGINE_FRAME_READ_STORED_CHUNK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "engine/base/scratch_buffer.h"
#include "engine/chunk/header.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// An error about a chunk, with its number.
absl::Status AnnotateChunk(int64_t nchunk, const absl::Status& status);

// A chunk of the index, or the one that the partial chunk begins with.
struct ChunkRef {
  int64_t nchunk = 0;
  FoundEntry found;
  const chunk::Header* header = nullptr;  // where it was read already
};

// Not for a partial chunk without a stored one.
absl::StatusOr<ChunkRef> FindChunk(const State& state, int64_t nchunk);

// The stored bytes, as ChunkSource::Read returns them. Checks the fingerprint as `policy` asks but
// decodes nothing, so any codec will do.
absl::StatusOr<StoredChunk> ReadStored(const State& state, const ChunkRef& chunk,
                                       VerifyPolicy policy, ScratchBuffer& scratch);
absl::StatusOr<StoredChunk> ReadStored(const State& state, int64_t nchunk, VerifyPolicy policy,
                                       ScratchBuffer& scratch);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_READ_STORED_CHUNK_H_
