// The metalayer that makes a frame an n-dimensional array.
#ifndef CAIRN_ENGINE_FORMAT_B2ND_H_
#define CAIRN_ENGINE_FORMAT_B2ND_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/array.h"
#include "cairn/types.h"

namespace cairn::format {

inline constexpr std::string_view kB2ndLayer = "b2nd";
// Its name before Blosc2 took it over; the dtype may be missing there.
inline constexpr std::string_view kCatervaLayer = "caterva";
// The most dimensions that fit into the metalayer.
inline constexpr int kMaxB2ndDimensions = 16;

// Extents fit each other dimension by dimension; their products may be anything.
absl::StatusOr<ArrayInfo> ParseB2nd(Bytes content);

// The array has at most kMaxB2ndDimensions, of the same number in its three shapes.
std::vector<std::byte> EncodeB2nd(const ArrayInfo& array);

// The same metalayer with another shape; all else stays byte by byte. It can be parsed, and has as
// many dimensions.
std::vector<std::byte> WithShape(Bytes content, std::span<const int64_t> shape);

// The metalayer of either name; null when there is none.
const Metalayer* FindB2ndLayer(const std::vector<Metalayer>& metalayers);
// Parses the metalayer of either name. kNotFound when there is none.
absl::StatusOr<ArrayInfo> FindB2nd(const std::vector<Metalayer>& metalayers);

}  // namespace cairn::format

#endif  // CAIRN_ENGINE_FORMAT_B2ND_H_
