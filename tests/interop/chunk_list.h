// The content of a frame, chunk by chunk.
#ifndef CAIRN_TESTS_INTEROP_CHUNK_LIST_H_
#define CAIRN_TESTS_INTEROP_CHUNK_LIST_H_

#include <cstdint>
#include <span>
#include <vector>

#include "tests/interop/data.h"

namespace cairn::interop {

using ChunkList = std::vector<Buffer>;

Buffer Join(const ChunkList& chunks);

// A permutation for ReorderChunks. A last chunk of another size than the first stays the last, for
// in frames of fixed chunks it has to.
std::vector<int64_t> MakeOrder(const ChunkList& chunks, Random& random);
ChunkList Reordered(const ChunkList& chunks, std::span<const int64_t> order);

// `nitems` items that are not all zeros.
Buffer NonzeroItems(int64_t nitems, int32_t typesize, Random& random);

}  // namespace cairn::interop

#endif  // CAIRN_TESTS_INTEROP_CHUNK_LIST_H_
