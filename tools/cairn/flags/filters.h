// The text form of a filter pipeline: "delta,shuffle", "trunc_prec:-8", "200:3".
#ifndef CAIRN_TOOLS_CAIRN_FLAGS_FILTERS_H_
#define CAIRN_TOOLS_CAIRN_FLAGS_FILTERS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/types.h"

namespace cairn::tool {

// Parses names or ids in the order in which they are applied, each with an optional ":N",
// -128..255. "none" alone is the empty pipeline. A bytedelta without N gets the typesize.
absl::StatusOr<std::vector<FilterStage>> ParseFilters(std::string_view text, int32_t typesize);

// Returns a text that ParseFilters can read.
std::string FormatFilters(const std::vector<FilterStage>& filters);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_FLAGS_FILTERS_H_
