// Shows a log as it grows.
#ifndef CAIRN_TOOLS_CAIRN_STREAMS_FOLLOW_LOG_H_
#define CAIRN_TOOLS_CAIRN_STREAMS_FOLLOW_LOG_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

#include "cairn/log.h"
#include "tools/cairn/streams/log_rows.h"

namespace cairn::tool {

// Writes the records from number `next` on, then new ones as they are committed, until standard
// output is closed. SIGINT and SIGTERM end the process with status 0. Records that were dropped
// before they could be shown are reported on standard error, and so are those that were shown and
// are deleted now. With `all_fields`, fields that are added to the log are shown as well.
absl::Status FollowLog(Log& log, const std::string& path, int64_t next, LogRows& rows,
                       bool all_fields);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_STREAMS_FOLLOW_LOG_H_
