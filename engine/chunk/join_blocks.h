// Makes a chunk of blocks that are coded already.
#ifndef CAIRN_ENGINE_CHUNK_JOIN_BLOCKS_H_
#define CAIRN_ENGINE_CHUNK_JOIN_BLOCKS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "cairn/types.h"

namespace cairn::chunk {

// The chunk of the first `nblocks` blocks of `chunk`, all complete, and after them those of `rest`.
// Nothing where that cannot be: both must be coded in the same way, unsplit and without a
// dictionary, and their blocks lie in order.
std::optional<std::vector<std::byte>> JoinBlocks(Bytes chunk, int64_t nblocks, Bytes rest);

}  // namespace cairn::chunk

#endif  // CAIRN_ENGINE_CHUNK_JOIN_BLOCKS_H_
