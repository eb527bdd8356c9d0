// Lazy chunks: the header of a chunk that is still in its file, and its number.
//
// A lazy chunk is the header with a flag, the positions of the blocks, the number of the chunk
// (int32), its position in the file (int64) and the stored size of each block (int32). Here the
// fingerprint of the chunk is in the place of the position, which changes.
#ifndef CAIRN_ENGINE_BLOSC2_API_CHUNKS_LAZY_CHUNK_H_
#define CAIRN_ENGINE_BLOSC2_API_CHUNKS_LAZY_CHUNK_H_

#include <cstdint>

#include "cairn/chunk.h"
#include "engine/blosc2_api/chunks/chunk_head.h"
#include "engine/blosc2_api/process/api.h"

namespace cairn::blosc2_api {

// Makes the lazy form of a chunk, in memory that the caller frees with free. A chunk of a special
// value is copied instead, because it is not larger. Returns the size, or an error code.
int MakeLazyChunk(const Chunk& chunk, int64_t nchunk, uint8_t*& lazy);

// Gets the chunk that a lazy one stands for out of the file of its super-chunk, which may be null.
// The chunk may have another number by now. Returns 0 or an error code.
int FetchLazyChunk(const blosc2_schunk* schunk, const void* lazy, int32_t size,
                   const ChunkHead& head, Chunk& chunk);

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_CHUNKS_LAZY_CHUNK_H_
