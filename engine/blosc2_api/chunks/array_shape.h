// The shape of the blocks of an array, as its metalayer says.
#ifndef CAIRN_ENGINE_BLOSC2_API_CHUNKS_ARRAY_SHAPE_H_
#define CAIRN_ENGINE_BLOSC2_API_CHUNKS_ARRAY_SHAPE_H_

#include <cstdint>
#include <vector>

#include "engine/blosc2_api/process/api.h"

namespace cairn::blosc2_api {

// Returns the items of a block in each dimension. Returns nothing if the super-chunk, which may be
// null, is no array.
std::vector<int32_t> BlockshapeOf(const blosc2_schunk* schunk);

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_CHUNKS_ARRAY_SHAPE_H_
