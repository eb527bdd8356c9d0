// The metalayer that makes a super-chunk an array.
#ifndef CAIRN_ENGINE_BLOSC2_API_CHUNKS_ARRAY_SHAPE_H_
#define CAIRN_ENGINE_BLOSC2_API_CHUNKS_ARRAY_SHAPE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "engine/blosc2_api/process/api.h"

namespace cairn::blosc2_api {

struct ArrayLayer {
  int8_t ndim = 0;
  std::array<int64_t, B2ND_MAX_DIM> shape{};
  std::array<int32_t, B2ND_MAX_DIM> chunkshape{};
  std::array<int32_t, B2ND_MAX_DIM> blockshape{};
  std::optional<std::string_view> dtype;  // older layers have none
  int8_t dtype_format = 0;
  int nbytes = 0;  // that were read
};

// Reads the layer, `with_dtype` or without. The result refers to `content`.
absl::StatusOr<ArrayLayer> ReadArrayLayer(Bytes content, bool with_dtype);

// Returns the items of a block in each dimension. Returns nothing if the super-chunk, which may be
// null, is no array.
std::vector<int32_t> BlockshapeOf(const blosc2_schunk* schunk);

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_CHUNKS_ARRAY_SHAPE_H_
