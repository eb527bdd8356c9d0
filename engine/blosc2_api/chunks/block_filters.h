// A program's prefilters and postfilters as hooks of Cairn.
#ifndef CAIRN_ENGINE_BLOSC2_API_CHUNKS_BLOCK_FILTERS_H_
#define CAIRN_ENGINE_BLOSC2_API_CHUNKS_BLOCK_FILTERS_H_

#include <cstdint>
#include <memory>

#include "cairn/block_hook.h"
#include "engine/blosc2_api/process/api.h"

namespace cairn::blosc2_api {

// Returns a hook that calls the prefilter of a context, which must outlive it, or null if the
// context has none.
std::shared_ptr<const BlockHook> PrefilterOf(blosc2_context& context);
// Returns a hook that calls its postfilter for the blocks of a chunk of this number, or null.
std::shared_ptr<const BlockHook> PostfilterOf(blosc2_context& context, int64_t nchunk);

// Returns the chunk that the super-chunk's field says a call works on, or -1 if there is no
// super-chunk.
int64_t CurrentChunk(blosc2_schunk* schunk);

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_CHUNKS_BLOCK_FILTERS_H_
