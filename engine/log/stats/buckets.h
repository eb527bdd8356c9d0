// Ranges of times, and times cut into buckets of equal length.
#ifndef CAIRN_ENGINE_LOG_STATS_BUCKETS_H_
#define CAIRN_ENGINE_LOG_STATS_BUCKETS_H_

#include <cstdint>
#include <limits>

#include "cairn/log.h"

namespace cairn::log {

// Returns true if a time is before the end of a range. Every time is before the greatest end.
inline bool IsBefore(int64_t time, int64_t end) {
  return time < end || end == std::numeric_limits<int64_t>::max();
}
inline bool Contains(const TimeRange& range, int64_t time) {
  return time >= range.begin && IsBefore(time, range.end);
}

// Returns the begin of the bucket that holds `time`, or the least time if that would be earlier
// still. `length` > 0.
inline int64_t BucketOf(int64_t time, int64_t length, int64_t origin) {
  const auto rest = [length](int64_t t) { return t % length + (t % length < 0 ? length : 0); };
  int64_t past = rest(time) - rest(origin);
  if (past < 0) past += length;
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  return time < kLeast + past ? kLeast : time - past;
}

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_STATS_BUCKETS_H_
