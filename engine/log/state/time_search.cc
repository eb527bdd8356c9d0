#include "engine/log/state/time_search.h"

#include <algorithm>

#include "engine/base/status.h"
#include "engine/log/state/time_index.h"
#include "engine/log/stats/buckets.h"

namespace cairn::log {

namespace {

// Returns the first record of a chunk in the order of time that is not earlier. Time mostly passes
// evenly, so every other guess assumes that.
absl::StatusOr<int32_t> LowerBound(const Segment& segment, int64_t nchunk, int64_t time) {
  // Decoding fewer would not be faster.
  constexpr int32_t kAtOnce = 1024;
  CAIRN_ASSIGN_OR_RETURN(const ChunkStatsPtr stats, segment.StatsOf(nchunk));
  const auto wanted = static_cast<double>(time);
  auto least = static_cast<double>(stats->min_time());
  auto greatest = static_cast<double>(stats->max_time());
  int32_t begin = 0;
  int32_t end = segment.RecordsIn(nchunk);
  for (bool even = true; begin < end; even = !even) {
    const double part = even && greatest > least ? (wanted - least) / (greatest - least) : 0.5;
    const int32_t size = std::min(kAtOnce, end - begin);
    const auto guess = static_cast<int32_t>(std::clamp(part, 0.0, 1.0) * (end - begin));
    const int32_t at = std::clamp(begin + guess - size / 2, begin, end - size);
    CAIRN_ASSIGN_OR_RETURN(const std::vector<int64_t> times,
                           segment.ReadTimes({.chunk = nchunk, .begin = at, .end = at + size}));
    const auto found = std::ranges::lower_bound(times, time);
    if (found == times.end()) {
      begin = at + size;
      least = static_cast<double>(times.back());
    } else if (found == times.begin()) {
      end = at;
      greatest = static_cast<double>(times.front());
    } else {
      return at + static_cast<int32_t>(found - times.begin());
    }
  }
  return begin;
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> FindChunks(const Segment& segment, const TimeRange& range) {
  CAIRN_ASSIGN_OR_RETURN(const TimeIndex* const index, segment.times());
  std::vector<int64_t> chunks;
  const int64_t nchunks = segment.nchunks();
  for (int64_t i = index->NextChunkIn(range, 0); i < nchunks;
       i = index->NextChunkIn(range, i + 1)) {
    chunks.push_back(i);
  }
  return chunks;
}

absl::StatusOr<Rows> FindRows(const Segment& segment, int64_t nchunk, const TimeRange& range) {
  CAIRN_ASSIGN_OR_RETURN(const TimeIndex* const index, segment.times());
  const auto at = static_cast<size_t>(nchunk);
  Rows rows = {.chunk = nchunk, .begin = 0, .end = segment.RecordsIn(nchunk)};
  if (index->min_time[at] < range.begin) {
    CAIRN_ASSIGN_OR_RETURN(rows.begin, LowerBound(segment, nchunk, range.begin));
  }
  if (!IsBefore(index->max_time[at], range.end)) {
    CAIRN_ASSIGN_OR_RETURN(rows.end, LowerBound(segment, nchunk, range.end));
  }
  rows.end = std::max(rows.begin, rows.end);
  return rows;
}

absl::StatusOr<std::optional<int64_t>> FindFirst(const Segment& segment, const TimeRange& range) {
  CAIRN_ASSIGN_OR_RETURN(const TimeIndex* const index, segment.times());
  const int64_t nchunks = segment.nchunks();
  for (int64_t i = index->NextChunkIn(range, 0); i < nchunks;
       i = index->NextChunkIn(range, i + 1)) {
    CAIRN_ASSIGN_OR_RETURN(const ChunkStatsPtr stats, segment.StatsOf(i));
    if (stats->in_order) {
      CAIRN_ASSIGN_OR_RETURN(const Rows rows, FindRows(segment, i, range));
      if (rows.size() > 0) return segment.RecordOf(i) + rows.begin;
      continue;
    }
    CAIRN_ASSIGN_OR_RETURN(
        const std::vector<int64_t> times,
        segment.ReadTimes({.chunk = i, .begin = 0, .end = segment.RecordsIn(i)}));
    const auto found =
        std::ranges::find_if(times, [&range](int64_t time) { return Contains(range, time); });
    if (found != times.end()) return segment.RecordOf(i) + (found - times.begin());
  }
  return std::nullopt;
}

}  // namespace cairn::log
