#include "engine/log/retention.h"

#include <algorithm>
#include <limits>

#include "engine/base/checked.h"
#include "engine/base/status.h"

namespace cairn::log {

absl::StatusOr<int64_t> CountExpired(const LogState& state, const Arriving& arriving,
                                     const Retention& retention, int64_t most) {
  const Segment& oldest = *state.segments().front();
  const bool is_last = state.segments().size() == 1;
  most = std::min(most, is_last ? oldest.nrecords() / oldest.chunk_records() : oldest.nchunks());
  if (is_last && most == oldest.nchunks()) --most;
  if (most <= 0 || retention == Retention{}) return 0;

  int64_t expired = 0;
  if (retention.max_records > 0) {
    const int64_t over =
        state.end_record() - state.first_record() + arriving.nrecords - retention.max_records;
    // A last chunk that is not full goes when all of its records may.
    expired = over >= oldest.nrecords() ? oldest.nchunks()
                                        : std::max<int64_t>(over, 0) / oldest.chunk_records();
  }
  if (retention.max_bytes > 0) {
    int64_t bytes = 0;
    for (const SegmentPtr& segment : state.segments()) bytes += segment->snapshot().info().cbytes;
    int64_t dropped = 0;
    for (; dropped < most && bytes > retention.max_bytes; ++dropped) {
      CAIRN_ASSIGN_OR_RETURN(const ChunkEntry entry, oldest.snapshot().GetEntry(dropped));
      bytes -= entry.cbytes.value_or(0);
      if (bytes < retention.max_bytes) break;
    }
    expired = std::max(expired, dropped);
  }
  if (retention.max_age > 0 && oldest.time_field() != nullptr) {
    CAIRN_ASSIGN_OR_RETURN(const std::optional<TimeRange> times, state.Times());
    int64_t newest = times.has_value() ? times->end - 1 : std::numeric_limits<int64_t>::min();
    newest = std::max(newest, arriving.newest_time.value_or(newest));
    const int64_t limit =
        CheckedAdd(newest, -retention.max_age).value_or(std::numeric_limits<int64_t>::min());
    for (; expired < most; ++expired) {
      CAIRN_ASSIGN_OR_RETURN(const ChunkStatsPtr stats, oldest.StatsOf(expired));
      if (stats->max_time() >= limit) break;
    }
  }
  return std::min(expired, most);
}

}  // namespace cairn::log
