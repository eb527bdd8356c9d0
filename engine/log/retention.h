// How much of a log is to be dropped.
#ifndef CAIRN_ENGINE_LOG_RETENTION_H_
#define CAIRN_ENGINE_LOG_RETENTION_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"

#include "cairn/log.h"
#include "engine/log/log_state.h"

namespace cairn::log {

// Records that the next commit adds to those of a state.
struct Arriving {
  int64_t nrecords = 0;
  std::optional<int64_t> newest_time = {};
};

// How many chunks of the oldest frame no limit asks to keep, at most `most`, and never the last
// chunk of the log. What is left, with what arrives, still has all that the limits allow.
absl::StatusOr<int64_t> CountExpired(const LogState& state, const Arriving& arriving,
                                     const Retention& retention, int64_t most);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_RETENTION_H_
