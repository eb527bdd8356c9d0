// Decides what a new frame may replace.
#ifndef CAIRN_TOOLS_CAIRN_IO_REPLACEABLE_H_
#define CAIRN_TOOLS_CAIRN_IO_REPLACEABLE_H_

#include <string>

#include "absl/status/status.h"

namespace cairn::tool {

// Errors: kAlreadyExists if the path leads to something that is not a frame, because it may be
// someone's data; others if a file cannot be read. A damaged frame counts as a frame if it begins
// like one, or, if it is sparse, has its index.
absl::Status CheckReplaceable(const std::string& path);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_IO_REPLACEABLE_H_
