// Finds the stored bytes of chunks, checks them against their fingerprints and bounds their cost.
#ifndef CAIRN_ENGINE_FRAME_READ_STORED_CHUNK_H_
#define CAIRN_ENGINE_FRAME_READ_STORED_CHUNK_H_

#include <cstdint>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "engine/base/scratch_buffer.h"
#include "engine/base/status.h"
#include "engine/chunk/header.h"
#include "engine/frame/state/block_cache.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// The same status, an error with the chunk's number.
inline absl::Status AnnotateChunk(int64_t nchunk, const absl::Status& status) {
  if (status.ok()) [[likely]]
    return absl::OkStatus();
  return Annotate(status, "chunk %d", nchunk);
}

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

// What a block of that chunk is remembered by; of owner 0 where nothing may be remembered.
BlockKey BlockKeyOf(const State& state, const FoundEntry& found, int64_t block);

// Bounds what reading all chunks of a state may cost. Chunks do not overlap, so together they are
// no longer than the bytes that hold them; only an index that was made to waste time asks for much
// more.
class ReadBudget {
 public:
  // The state must outlive it.
  explicit ReadBudget(const State& state);
  // Called for each chunk that was read, with its stored size. kDataLoss once all of them are much
  // more than the bytes that hold them.
  absl::Status Spend(int64_t nchunk, int64_t stored);

 private:
  const State& state_;
  int64_t available_;  // of a sparse frame: in the files so far
  int64_t spent_ = 0;
  absl::flat_hash_set<int64_t> files_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_READ_STORED_CHUNK_H_
