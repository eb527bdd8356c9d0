// What a new frame may take the place of.
#ifndef CAIRN_TOOLS_CAIRN_IO_REPLACEABLE_H_
#define CAIRN_TOOLS_CAIRN_IO_REPLACEABLE_H_

#include <string>

#include "absl/status/status.h"

namespace cairn::tool {

// kAlreadyExists where something is that is no frame: it may be someone's data. A damaged frame is
// one as long as it begins like one, or, a sparse one, has its index. An error where a file cannot
// be read.
absl::Status CheckReplaceable(const std::string& path);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_IO_REPLACEABLE_H_
