// Updated chunks that wait, decoded, to be coded.
#ifndef CAIRN_ENGINE_FRAME_STAGE_DIRTY_CHUNKS_H_
#define CAIRN_ENGINE_FRAME_STAGE_DIRTY_CHUNKS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"

#include "cairn/types.h"

namespace cairn::frame {

// All of one size. Not thread-safe.
class DirtyChunks {
 public:
  // Of at most so many bytes together.
  explicit DirtyChunks(int64_t most) : most_(most) {}

  bool empty() const { return slots_.empty(); }
  // Whether a few chunks of that size fit.
  bool Suits(int64_t chunksize) const { return chunksize > 0 && chunksize <= most_ / 4; }
  // Whether so many more fit beside those that there are.
  bool HasRoomFor(int64_t count, int64_t chunksize) const {
    return (std::ssize(slots_) + count) * chunksize <= most_;
  }
  // Whether so many fit at all.
  bool HasRoomInAllFor(int64_t count, int64_t chunksize) const {
    return count <= most_ / chunksize;
  }
  bool Has(int64_t nchunk) const { return slots_.contains(nchunk); }
  // The bytes of a chunk; empty if it is not here. Valid until the next call of Put.
  Bytes Find(int64_t nchunk) const;
  // Room for the chunk, with the bytes that it has here, if any.
  MutableBytes Put(int64_t nchunk, int32_t chunksize);
  // In order; most commits update one.
  absl::InlinedVector<int64_t, 8> Numbers() const;
  void Clear();

 private:
  int64_t most_;
  int32_t chunksize_ = 0;
  absl::flat_hash_map<int64_t, size_t> slots_;  // by number, where in `bytes_`
  std::vector<std::byte> bytes_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STAGE_DIRTY_CHUNKS_H_
