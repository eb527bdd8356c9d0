#include "engine/log/write/retention.h"

#include <algorithm>
#include <limits>

#include "engine/base/checked.h"
#include "engine/base/status.h"

namespace cairn::log {

namespace {

int64_t RecordsOver(const LogState& state, const RetentionView& view, const Retention& retention) {
  const int64_t records = state.end_record() - state.first_record() + view.arriving;
  return std::max<int64_t>(records - retention.max_records, 0);
}

// Earlier records are too old.
int64_t OldestTime(const RetentionView& view, const Retention& retention) {
  return CheckedAdd(view.newest_time, -retention.max_age)
      .value_or(std::numeric_limits<int64_t>::min());
}

}  // namespace

absl::StatusOr<int64_t> CountExpired(const LogState& state, const RetentionView& view,
                                     const Retention& retention, int64_t most) {
  const Segment& segment = state.newest();
  most = std::min(most, segment.nrecords() / segment.chunk_records());
  if (most == segment.nchunks()) --most;
  if (most <= 0 || retention == Retention{}) return 0;

  int64_t expired = 0;
  if (retention.max_records > 0) {
    expired = RecordsOver(state, view, retention) / segment.chunk_records();
  }
  if (retention.max_bytes > 0) {
    int64_t bytes = segment.snapshot().info().cbytes;
    int64_t dropped = 0;
    for (; dropped < most && bytes > retention.max_bytes; ++dropped) {
      CAIRN_ASSIGN_OR_RETURN(const ChunkEntry entry, segment.snapshot().GetEntry(dropped));
      bytes -= entry.cbytes.value_or(0);
      if (bytes < retention.max_bytes) break;
    }
    expired = std::max(expired, dropped);
  }
  if (retention.max_age > 0 && segment.time_field() != nullptr) {
    for (; expired < most; ++expired) {
      CAIRN_ASSIGN_OR_RETURN(const ChunkStatsPtr stats, segment.StatsOf(expired));
      if (stats->max_time() >= OldestTime(view, retention)) break;
    }
  }
  return std::min(expired, most);
}

absl::StatusOr<bool> IsFrameExpired(const LogState& state, const RetentionView& view,
                                    const Retention& retention) {
  const Segment& oldest = *state.segments().front();
  if (oldest.nrecords() == 0) return retention != Retention{};
  if (retention.max_records > 0 && RecordsOver(state, view, retention) >= oldest.nrecords()) {
    return true;
  }
  if (retention.max_bytes > 0) {
    int64_t bytes = -oldest.snapshot().info().cbytes;
    for (const SegmentPtr& segment : state.segments()) bytes += segment->snapshot().info().cbytes;
    if (bytes >= retention.max_bytes) return true;
  }
  if (retention.max_age <= 0 || oldest.time_field() == nullptr) return false;
  CAIRN_ASSIGN_OR_RETURN(const TimeIndex* const times, oldest.times());
  return times->max_before.back() < OldestTime(view, retention);
}

}  // namespace cairn::log
