#include "engine/blosc2_api/chunks/array_shape.h"

#include <array>
#include <string_view>

namespace cairn::blosc2_api {

std::vector<int32_t> BlockshapeOf(const blosc2_schunk* schunk) {
  if (schunk == nullptr) return {};
  for (int i = 0; i < schunk->nmetalayers; ++i) {
    const blosc2_metalayer& layer = *schunk->metalayers[i];
    const std::string_view name = layer.name;
    if (name != "b2nd" && name != "caterva") continue;
    int8_t ndim = 0;
    std::array<int64_t, B2ND_MAX_DIM> shape{};
    std::array<int32_t, B2ND_MAX_DIM> chunkshape{};
    std::array<int32_t, B2ND_MAX_DIM> blockshape{};
    if (b2nd_deserialize_meta_inline(layer.content, layer.content_len, &ndim, shape.data(),
                                     chunkshape.data(), blockshape.data(), nullptr, nullptr) < 0) {
      return {};
    }
    return {blockshape.begin(), blockshape.begin() + ndim};
  }
  return {};
}

}  // namespace cairn::blosc2_api
