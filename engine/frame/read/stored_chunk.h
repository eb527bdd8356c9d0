// Finds the stored bytes of chunks, checks them against their fingerprints and bounds their cost.
#ifndef CAIRN_ENGINE_FRAME_READ_STORED_CHUNK_H_
#define CAIRN_ENGINE_FRAME_READ_STORED_CHUNK_H_

#include <cstdint>
#include <span>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/chunk.h"
#include "cairn/options.h"
#include "engine/base/scratch_buffer.h"
#include "engine/base/status.h"
#include "engine/chunk/header.h"
#include "engine/frame/state/block_cache.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// Returns the status, with the chunk's number if it is an error.
inline absl::Status AnnotateChunk(int64_t nchunk, const absl::Status& status) {
  if (status.ok()) [[likely]]
    return absl::OkStatus();
  return Annotate(status, "chunk %d", nchunk);
}

// A chunk of the index, or the stored one that the partial chunk begins with.
struct ChunkRef {
  int64_t nchunk = 0;
  FoundEntry found;
  const chunk::Header* header = nullptr;  // the header, if it was read already
};

// Finds a chunk. The partial chunk must begin with a stored one.
absl::StatusOr<ChunkRef> FindChunk(const State& state, int64_t nchunk);

// Returns the stored bytes as ChunkSource::Read does. Checks the fingerprint as `policy` asks, but
// decodes nothing, so any codec will do.
absl::StatusOr<StoredChunk> ReadStored(const State& state, const ChunkRef& chunk,
                                       VerifyPolicy policy, ScratchBuffer& scratch);
absl::StatusOr<StoredChunk> ReadStored(const State& state, int64_t nchunk, VerifyPolicy policy,
                                       ScratchBuffer& scratch);

// Returns a chunk with an owner, checked as ReadStored does. If `needed` is given, blocks that hold
// none of these bytes may be left out. A chunk that must be checked is complete.
absl::StatusOr<StoredChunk> PinStored(const State& state, int64_t nchunk, VerifyPolicy policy,
                                      ScratchBuffer& scratch,
                                      const std::span<const ByteRange>* needed);

// Returns the key by which a block of that chunk is remembered. Its owner is 0 if nothing may be
// remembered.
BlockKey BlockKeyOf(const State& state, const FoundEntry& found, int64_t block);

// Bounds the cost of reading all chunks of a state. Chunks do not overlap, so together they are no
// longer than the bytes that hold them. Only an index that was made to waste time asks for much
// more.
class ReadBudget {
 public:
  // The state must outlive this object.
  explicit ReadBudget(const State& state);
  // Call this for each chunk that was read, with its stored size. Errors: kDataLoss once all of
  // them are much more than the bytes that hold them.
  absl::Status Spend(int64_t nchunk, int64_t stored);

 private:
  const State& state_;
  int64_t available_;  // for a sparse frame: bytes in the files so far
  int64_t spent_ = 0;
  absl::flat_hash_set<int64_t> files_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_READ_STORED_CHUNK_H_
