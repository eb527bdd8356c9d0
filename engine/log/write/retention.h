// How much of a log is to be dropped.
#ifndef CAIRN_ENGINE_LOG_WRITE_RETENTION_H_
#define CAIRN_ENGINE_LOG_WRITE_RETENTION_H_

#include <cstdint>

#include "absl/status/statusor.h"

#include "cairn/log.h"
#include "engine/log/state/log_state.h"
#include "engine/log/state/newest_time.h"

namespace cairn::log {

// The newest time of the records that were read last because some are from the future. They are
// those of the chunk or frame that keeps others from being dropped, so each commit asks for them.
struct KnownNewest {
  int64_t first_record = -1;
  int64_t nrecords = 0;
  NewestTime newest = {};
};

// What counts beside the records of a state.
struct RetentionView {
  int64_t arriving = 0;     // records that the next commit adds
  int64_t newest_time = 0;  // from which ages count; not needed without max_age
  int64_t clock = 0;        // likewise; records that are later say nothing about age
  KnownNewest* known = nullptr;
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
