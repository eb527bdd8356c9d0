#include "engine/log/state/time_index.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "engine/log/stats/buckets.h"

namespace cairn::log {

TimeIndex::TimeIndex(std::vector<int64_t> min_times, std::vector<int64_t> max_times)
    : min_time(std::move(min_times)),
      max_time(std::move(max_times)),
      max_before(max_time),
      min_after(min_time) {
  const size_t n = min_time.size();
  for (size_t i = 1; i < n; ++i) {
    max_before[i] = std::max(max_before[i], max_before[i - 1]);
    min_after[n - 1 - i] = std::min(min_after[n - 1 - i], min_after[n - i]);
  }
}

int64_t TimeIndex::NextChunkIn(const TimeRange& range, int64_t from) const {
  const auto nchunks = std::ssize(min_time);
  if (from < nchunks && max_before[static_cast<size_t>(from)] < range.begin) {
    // All chunks before this one end too early.
    from = std::ranges::lower_bound(max_before.begin() + from, max_before.end(), range.begin) -
           max_before.begin();
  }
  for (int64_t i = from; i < nchunks; ++i) {
    const auto at = static_cast<size_t>(i);
    if (!IsBefore(min_after[at], range.end)) break;  // all chunks from here on begin too late
    if (max_time[at] >= range.begin && IsBefore(min_time[at], range.end)) return i;
  }
  return nchunks;
}

}  // namespace cairn::log
