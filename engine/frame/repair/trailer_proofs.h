// Uses the hashes in a trailer whose fingerprint is wrong.
#ifndef CAIRN_ENGINE_FRAME_REPAIR_TRAILER_PROOFS_H_
#define CAIRN_ENGINE_FRAME_REPAIR_TRAILER_PROOFS_H_

#include <cstdint>
#include <optional>

#include "cairn/types.h"
#include "engine/frame/index/chunk_table.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// The hashes in a damaged trailer. No damage makes one of them the hash of other bytes, so bytes
// that have the hash are unchanged.
class TrailerProofs {
 public:
  // Proves nothing if the trailer is intact or has no seal.
  explicit TrailerProofs(const State& state);

  bool header() const { return header_; }  // it is the sealed one
  bool index() const { return index_; }    // so is the index chunk
  // Returns true if chunk `nchunk` of the state was committed with these bytes.
  bool HoldsChunk(int64_t nchunk, Bytes stored) const;

 private:
  const State& state_;
  bool header_ = false;
  bool index_ = false;
  std::optional<ChunkTable> table_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPAIR_TRAILER_PROOFS_H_
