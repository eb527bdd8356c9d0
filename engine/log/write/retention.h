// Decides how much of a log is dropped.
#ifndef CAIRN_ENGINE_LOG_WRITE_RETENTION_H_
#define CAIRN_ENGINE_LOG_WRITE_RETENTION_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/log.h"
#include "cairn/writer.h"
#include "engine/log/state/log_layer.h"
#include "engine/log/state/log_state.h"
#include "engine/log/state/newest_time.h"

namespace cairn::log {

// The newest time of the records that were read last, some of which are from the future. These
// records belong to the chunk or frame that keeps others from being dropped, so each commit asks
// for them.
struct KnownNewest {
  int64_t first_record = -1;
  int64_t nrecords = 0;
  NewestTime newest = {};
};

// Facts that count in addition to the records of a state.
struct RetentionView {
  int64_t arriving = 0;     // records that the next commit adds
  int64_t newest_time = 0;  // ages count from it; not needed without max_age
  int64_t clock = 0;        // later records tell nothing about age; not needed without max_age
  KnownNewest* known = nullptr;
};

// Returns how many chunks of a log of one frame no limit asks to keep: at most `most`, and never
// the last one. The rest, with the arriving records, still has everything that the limits allow.
absl::StatusOr<int64_t> CountExpired(const LogState& state, const RetentionView& view,
                                     const Retention& retention, int64_t most);
// Returns true if no limit asks to keep any record of the oldest of many frames.
absl::StatusOr<bool> IsFrameExpired(const LogState& state, const RetentionView& view,
                                    const Retention& retention);

// Stages that a log of one frame loses its first chunks. `layer` gets the number of the first
// record that is left.
absl::Status DropChunks(int64_t nchunks, const LogState& state, LogLayer& layer, Writer& writer);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_WRITE_RETENTION_H_
