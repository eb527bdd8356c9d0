// Shows a frame as it grows.
#ifndef CAIRN_TOOLS_CAIRN_STREAMS_FOLLOW_H_
#define CAIRN_TOOLS_CAIRN_STREAMS_FOLLOW_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

#include "cairn/frame.h"

namespace cairn::tool {

// Writes the items from `first_item` on to standard output, then new ones as they are committed,
// complete ones only, until standard output is closed. SIGINT and SIGTERM end the process with
// status 0, perhaps within an item if the reader is slow. Reports on standard error if items that
// were already written are changed.
absl::Status Follow(Frame& frame, const std::string& path, int64_t first_item);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_STREAMS_FOLLOW_H_
