// Reads small pieces of a chunk, one block after the other.
#ifndef CAIRN_ENGINE_FRAME_READ_BLOCK_CURSOR_H_
#define CAIRN_ENGINE_FRAME_READ_BLOCK_CURSOR_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/frame/read/chunk_reader.h"

namespace cairn::frame {

// Keeps the chunk and the decoded block that were read last: reading in ascending order opens each
// chunk once and decodes each block once. The state must outlive it. Not thread-safe.
class BlockCursor {
 public:
  explicit BlockCursor(const State& state) : state_(state), lease_(state.env()->pool.Acquire()) {}

  // Opens a chunk.
  absl::Status MoveTo(int64_t nchunk);
  // Bytes of the open chunk, decoded; 0 when none is open.
  int32_t nbytes() const { return chunk_.has_value() ? chunk_->nbytes() : 0; }
  // Reads bytes [begin, begin + dst.size()) of the open chunk, which holds them.
  absl::Status Read(int64_t begin, MutableBytes dst);
  // Where the block ends that holds a byte of the open chunk, if it has blocks; else `begin`.
  absl::StatusOr<int64_t> BlockEnd(int64_t begin) const;
  // Bytes [begin, end) of the open chunk, decoded as far as that needs; valid until the next call.
  absl::StatusOr<Bytes> ReadWithin(int64_t begin, int64_t end);

 private:
  absl::StatusOr<size_t> ReadFromBlock(int64_t begin, MutableBytes dst);
  absl::Status KeepBlock(const chunk::BlockPlace& place);

  const State& state_;
  chunk::WorkspacePool::Lease lease_;
  int64_t nchunk_ = -1;
  std::optional<ChunkReader> chunk_;
  chunk::BlockPlace block_;  // the one that is kept; empty when there is none
  MutableBytes block_bytes_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_READ_BLOCK_CURSOR_H_
