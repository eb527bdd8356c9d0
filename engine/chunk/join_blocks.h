// Makes a chunk out of blocks that are coded already.
#ifndef CAIRN_ENGINE_CHUNK_JOIN_BLOCKS_H_
#define CAIRN_ENGINE_CHUNK_JOIN_BLOCKS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "cairn/types.h"
#include "engine/chunk/header.h"

namespace cairn::chunk {

// Puts a chunk together from the blocks of others, in order. The caller places these: back to back,
// after a head whose size is known before.
class JoinedBlocks {
 public:
  explicit JoinedBlocks(int64_t nblocks) : cbytes_(HeadSize(nblocks)) {}

  static int64_t HeadSize(int64_t nblocks) { return kHeaderSize + nblocks * kStartSize; }

  // Returns the stored bytes of the first `nblocks` blocks of `chunk`, which come next. Returns
  // nothing if they cannot be joined: all must be coded in the same way, unsplit and without a
  // dictionary, lie in order in their chunk, and be complete except the last one of all.
  std::optional<Bytes> Add(Bytes chunk, int64_t nblocks);

  // Sizes of the chunk so far.
  int64_t nbytes() const { return nbytes_; }
  int64_t cbytes() const { return cbytes_; }
  // Returns the head of the chunk, once all blocks are there.
  std::vector<std::byte> Head() const;

 private:
  static constexpr int64_t kStartSize = sizeof(int32_t);

  std::optional<Header> first_;
  std::vector<int32_t> starts_;
  int64_t nbytes_ = 0;
  int64_t cbytes_;
};

// Returns a chunk of the first `nblocks` blocks of `chunk`, all complete, and after them those of
// `rest`.
std::optional<std::vector<std::byte>> JoinBlocks(Bytes chunk, int64_t nblocks, Bytes rest);

}  // namespace cairn::chunk

#endif  // CAIRN_ENGINE_CHUNK_JOIN_BLOCKS_H_
