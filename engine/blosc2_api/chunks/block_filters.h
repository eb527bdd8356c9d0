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
// Returns a hook that calls its postfilter for the blocks of a chunk, or null.
std::shared_ptr<const BlockHook> PostfilterOf(blosc2_context& context);

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_CHUNKS_BLOCK_FILTERS_H_
