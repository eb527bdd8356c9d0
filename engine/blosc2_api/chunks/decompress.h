// Reads chunks with a context.
#ifndef CAIRN_ENGINE_BLOSC2_API_CHUNKS_DECOMPRESS_H_
#define CAIRN_ENGINE_BLOSC2_API_CHUNKS_DECOMPRESS_H_

#include <cstdint>
#include <vector>

#include "engine/blosc2_api/process/api.h"

namespace cairn::blosc2_api {

// How one call reads a chunk.
struct ReadCall {
  int64_t nchunk = -1;         // of the super-chunk, for filters of the program
  std::vector<bool> masked{};  // blocks that are left out, or empty
};

// Decompresses a chunk into dest and returns its size or an error code.
int Decompress(blosc2_context& context, const void* src, int32_t srcsize, void* dest,
               int32_t destsize, const ReadCall& call);

// Copies items of a chunk into dest and returns their size or an error code. Items have the size
// that the chunk's header says.
int GetItems(blosc2_context& context, const void* src, int32_t srcsize, int32_t start,
             int32_t nitems, void* dest, int32_t destsize, int64_t nchunk = -1);
// Copies bytes of complete items, as GetItems does.
int GetBytes(blosc2_context& context, const void* src, int32_t srcsize, int32_t start,
             int32_t nbytes, void* dest, int32_t destsize, int64_t nchunk);

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_CHUNKS_DECOMPRESS_H_
