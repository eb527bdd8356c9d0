// The metalayer that makes a frame an n-dimensional array.
#ifndef CAIRN_ENGINE_FORMAT_B2ND_H_
#define CAIRN_ENGINE_FORMAT_B2ND_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/types.h"

namespace cairn::format {

inline constexpr std::string_view kB2ndLayer = "b2nd";
// Its name before Blosc2 took it over; the dtype may be missing there.
inline constexpr std::string_view kCatervaLayer = "caterva";

struct B2nd {
  std::vector<int64_t> shape;
  std::vector<int32_t> chunkshape;
  std::vector<int32_t> blockshape;
  std::string dtype;  // as NumPy writes it
};

absl::StatusOr<B2nd> ParseB2nd(Bytes content);

}  // namespace cairn::format

#endif  // CAIRN_ENGINE_FORMAT_B2ND_H_
