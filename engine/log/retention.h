// How much of a log is to be dropped.
#ifndef CAIRN_ENGINE_LOG_RETENTION_H_
#define CAIRN_ENGINE_LOG_RETENTION_H_

#include <cstdint>

#include "absl/status/statusor.h"

#include "cairn/log.h"
#include "engine/log/log_state.h"

namespace cairn::log {

// How many chunks of the oldest frame no limit asks to keep, at most `most`, and never the last
// chunk of the log. What is left still has all that the limits allow.
absl::StatusOr<int64_t> CountExpired(const LogState& state, const Retention& retention,
                                     int64_t most);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_RETENTION_H_
