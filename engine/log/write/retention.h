// How much of a log is to be dropped.
#ifndef CAIRN_ENGINE_LOG_WRITE_RETENTION_H_
#define CAIRN_ENGINE_LOG_WRITE_RETENTION_H_

#include <cstdint>

#include "absl/status/statusor.h"

#include "cairn/log.h"
#include "engine/log/state/log_state.h"

namespace cairn::log {

// What counts beside the records of a state.
struct RetentionView {
  int64_t arriving = 0;     // records that the next commit adds
  int64_t newest_time = 0;  // from which ages count; not needed without max_age
};

// How many chunks of a log of one frame no limit asks to keep, at most `most`, and never the last
// one. What is left, with what arrives, still has all that the limits allow.
absl::StatusOr<int64_t> CountExpired(const LogState& state, const RetentionView& view,
                                     const Retention& retention, int64_t most);
// Whether no limit asks to keep any record of the oldest of many frames.
absl::StatusOr<bool> IsFrameExpired(const LogState& state, const RetentionView& view,
                                    const Retention& retention);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_WRITE_RETENTION_H_
