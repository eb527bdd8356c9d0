#include "engine/log/state/newest_time.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "engine/base/status.h"
#include "engine/log/state/live_records.h"
#include "engine/log/state/time_search.h"

namespace cairn::log {

namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

}  // namespace

int64_t ClockOf(const Field& time) {
  using std::chrono::microseconds;
  if (time.type != FieldType::kTimestamp) return kNever;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const int64_t count = std::chrono::duration_cast<microseconds>(now).count();
  const int64_t units = UnitsPerSecond(time.unit);
  return units > 1'000'000 ? count * (units / 1'000'000) : count / (1'000'000 / units);
}

void NewestTime::Add(int64_t time, int64_t clock) {
  greatest = std::max(greatest, time);
  if (time <= clock) {
    past = std::max(past, time);
  } else {
    coming = std::min(coming, time);
  }
}

void NewestTime::AddSorted(std::span<const int64_t> times, int64_t clock) {
  if (times.empty()) return;
  const auto future = std::ranges::upper_bound(times, clock);
  if (future != times.begin()) Add(*(future - 1), clock);
  if (future == times.end()) return;
  Add(*future, clock);
  Add(times.back(), clock);
}

void NewestTime::Add(const NewestTime& more) {
  past = std::max(past, more.past);
  coming = std::min(coming, more.coming);
  greatest = std::max(greatest, more.greatest);
}

int64_t NewestTime::At(int64_t clock) {
  if (coming <= clock) {
    past = std::max(past, coming);
    coming = kNever;
  }
  return has_past() ? past : greatest;
}

absl::StatusOr<NewestTime> FindNewestTime(const Segment& segment, int64_t nchunk, int64_t clock) {
  NewestTime newest;
  CAIRN_ASSIGN_OR_RETURN(const ChunkStatsPtr stats, segment.StatsOf(nchunk));
  const int64_t least = stats->min_time();
  const int64_t greatest = stats->max_time();
  const bool complete = CountDeleted(segment, segment.RowsOf(nchunk)) == 0;
  if (complete && (greatest <= clock || least > clock)) {
    newest.Add(least, clock);
    newest.Add(greatest, clock);
    return newest;
  }
  CAIRN_ASSIGN_OR_RETURN(const std::vector<int64_t> times, ReadLiveTimes(segment, nchunk));
  for (const int64_t time : times) newest.Add(time, clock);
  return newest;
}

absl::StatusOr<NewestTime> FindNewestTime(const Segment& segment, int64_t clock) {
  NewestTime newest;
  CAIRN_ASSIGN_OR_RETURN(const std::optional<TimeSpan> span, FindSpan(segment));
  if (!span.has_value()) return newest;
  if (span->greatest <= clock) {
    newest.Add(span->greatest, clock);
    return newest;
  }
  for (int64_t n = 0; n < segment.nchunks(); ++n) {
    CAIRN_ASSIGN_OR_RETURN(const NewestTime here, FindNewestTime(segment, n, clock));
    newest.Add(here);
  }
  return newest;
}

absl::StatusOr<int64_t> CountFuture(const Segment& segment, int64_t clock) {
  int64_t count = 0;
  if (segment.nrecords() == 0) return count;
  CAIRN_ASSIGN_OR_RETURN(const TimeIndex* const index, segment.times());
  for (int64_t n = 0; n < segment.nchunks(); ++n) {
    const auto at = static_cast<size_t>(n);
    if (index->max_time[at] <= clock) continue;
    if (index->min_time[at] > clock) {
      count += segment.RecordsIn(n) - CountDeleted(segment, segment.RowsOf(n));
      continue;
    }
    CAIRN_ASSIGN_OR_RETURN(const std::vector<int64_t> times, ReadLiveTimes(segment, n));
    count += std::ranges::count_if(times, [clock](int64_t time) { return time > clock; });
  }
  return count;
}

}  // namespace cairn::log
