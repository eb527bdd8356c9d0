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
// The name of the layer before Blosc2 took it over. The dtype may be missing there.
inline constexpr std::string_view kCatervaLayer = "caterva";
// The most dimensions that fit into the metalayer.
inline constexpr int kMaxB2ndDimensions = 16;

// Parses the metalayer. The extents fit each other dimension by dimension, but their products may
// be anything.
absl::StatusOr<ArrayInfo> ParseB2nd(Bytes content);

// Encodes the metalayer. The array has at most kMaxB2ndDimensions, and its three shapes have the
// same number of them.
std::vector<std::byte> EncodeB2nd(const ArrayInfo& array);

// Returns the metalayer with another shape of as many dimensions. The rest stays byte by byte.
// `content` must be one that can be parsed.
std::vector<std::byte> WithShape(Bytes content, std::span<const int64_t> shape);

// Returns the metalayer of either name, or null if there is none.
const Metalayer* FindB2ndLayer(const std::vector<Metalayer>& metalayers);
// Parses the metalayer of either name. Errors: kNotFound if there is none.
absl::StatusOr<ArrayInfo> FindB2nd(const std::vector<Metalayer>& metalayers);

}  // namespace cairn::format

#endif  // CAIRN_ENGINE_FORMAT_B2ND_H_
