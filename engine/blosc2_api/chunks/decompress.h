// Reads chunks with a context.
#ifndef CAIRN_ENGINE_BLOSC2_API_CHUNKS_DECOMPRESS_H_
#define CAIRN_ENGINE_BLOSC2_API_CHUNKS_DECOMPRESS_H_

#include <cstdint>

#include "engine/blosc2_api/process/api.h"

namespace cairn::blosc2_api {

// Decompresses a chunk into dest and returns its size or an error code. Blocks that the context's
// mask names are left out.
int Decompress(blosc2_context& context, const void* src, int32_t srcsize, void* dest,
               int32_t destsize);

// Copies items of a chunk into dest and returns their size or an error code. Items have the size
// that the chunk's header says.
int GetItems(blosc2_context& context, const void* src, int32_t srcsize, int32_t start,
             int32_t nitems, void* dest, int32_t destsize);

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_CHUNKS_DECOMPRESS_H_
