// Holds updated chunks, decoded, until they are compressed.
#ifndef CAIRN_ENGINE_FRAME_STAGE_DIRTY_CHUNKS_H_
#define CAIRN_ENGINE_FRAME_STAGE_DIRTY_CHUNKS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/format/index_entry.h"
#include "engine/frame/stage/staged_edits.h"

namespace cairn::frame {

// Holds complete chunks, all of one size. A chunk with many updates is compressed once, in the next
// commit or before an edit that moves chunks. Not thread-safe.
class DirtyChunks {
 public:
  // `edits` must outlive this. The chunks take at most `max_bytes` together.
  DirtyChunks(StagedEdits& edits, int64_t max_bytes) : edits_(edits), max_bytes_(max_bytes) {}

  // Returns true if the chunk is complete, takes at most a quarter of `max_bytes`, and is no larger
  // than a reader takes.
  bool MayHold(int64_t nchunk) const;
  // Returns true if this many chunks fit when no others are held.
  bool CanHold(int64_t count) const;
  // Compresses all chunks, unless these chunks fit next to them. Fails if the index does not say
  // where one of them is.
  absl::Status MakeRoom(int64_t first, int64_t last);
  // Returns the place for the bytes of a chunk that may be held and that MakeRoom was called for.
  // A chunk that is here has its bytes there.
  MutableBytes Put(int64_t nchunk);

  bool Has(int64_t nchunk) const { return slots_.contains(nchunk); }
  // Returns the bytes of a chunk; none if it is not here. Valid until the next call of Put.
  Bytes Find(int64_t nchunk) const;
  // Reads a staged chunk, here or in the files.
  absl::StatusOr<std::vector<std::byte>> Read(int64_t nchunk);

  // Compresses all and puts them into the staged state.
  absl::Status Encode();

 private:
  absl::InlinedVector<int64_t, 8> Numbers() const;
  void RenewCached(int64_t nchunk, const IndexEntry& entry) const;
  void Clear();

  StagedEdits& edits_;
  const int64_t max_bytes_;
  int32_t chunksize_ = 0;
  absl::flat_hash_map<int64_t, size_t> slots_;  // by number, where in `bytes_`
  std::vector<std::byte> bytes_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STAGE_DIRTY_CHUNKS_H_
