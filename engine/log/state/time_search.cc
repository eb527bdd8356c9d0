#include "engine/log/state/time_search.h"

#include <algorithm>

#include "engine/base/status.h"
#include "engine/log/state/live_records.h"
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

absl::StatusOr<std::optional<TimeSpan>> FindSpan(const Segment& segment) {
  std::optional<TimeSpan> span;
  if (segment.nrecords() == 0) return span;
  CAIRN_ASSIGN_OR_RETURN(const TimeIndex* const index, segment.times());
  if (segment.edits().deleted.empty()) {
    return TimeSpan{.least = index->min_after.front(), .greatest = index->max_before.back()};
  }
  const auto add = [&span](int64_t least, int64_t greatest) {
    if (!span.has_value()) span = {.least = least, .greatest = greatest};
    span->least = std::min(span->least, least);
    span->greatest = std::max(span->greatest, greatest);
  };
  std::vector<int64_t> edited;
  for (int64_t n = 0; n < segment.nchunks(); ++n) {
    const auto at = static_cast<size_t>(n);
    if (CountDeleted(segment, segment.RowsOf(n)) > 0) {
      edited.push_back(n);
    } else {
      add(index->min_time[at], index->max_time[at]);
    }
  }
  // A chunk with deleted records is read if its times could extend the span. Mostly time passes
  // with the numbers, so the first chunk decides about the least time, the last about the greatest.
  const auto read = [&](int64_t n) -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(const std::vector<int64_t> times, ReadLiveTimes(segment, n));
    if (!times.empty()) add(std::ranges::min(times), std::ranges::max(times));
    return absl::OkStatus();
  };
  for (const int64_t n : edited) {
    if (span.has_value() && index->min_time[static_cast<size_t>(n)] >= span->least) continue;
    CAIRN_RETURN_IF_ERROR(read(n));
  }
  std::ranges::reverse(edited);
  for (const int64_t n : edited) {
    if (span.has_value() && index->max_time[static_cast<size_t>(n)] <= span->greatest) continue;
    CAIRN_RETURN_IF_ERROR(read(n));
  }
  return span;
}

absl::StatusOr<std::optional<int64_t>> FindFirst(const Segment& segment, const TimeRange& range) {
  CAIRN_ASSIGN_OR_RETURN(const TimeIndex* const index, segment.times());
  const int64_t nchunks = segment.nchunks();
  for (int64_t i = index->NextChunkIn(range, 0); i < nchunks;
       i = index->NextChunkIn(range, i + 1)) {
    CAIRN_ASSIGN_OR_RETURN(const ChunkStatsPtr stats, segment.StatsOf(i));
    Rows rows = segment.RowsOf(i);
    if (stats->in_order) {
      CAIRN_ASSIGN_OR_RETURN(rows, FindRows(segment, i, range));
    }
    std::vector<uint8_t> chosen(static_cast<size_t>(rows.size()), 1);
    if (!stats->in_order) {
      CAIRN_ASSIGN_OR_RETURN(const std::vector<int64_t> times, segment.ReadTimes(rows));
      for (size_t row = 0; row < chosen.size(); ++row) chosen[row] = Contains(range, times[row]);
    }
    LeaveOutDeleted(segment, rows, chosen);
    const auto found = std::ranges::find(chosen, 1);
    if (found != chosen.end()) {
      return segment.RecordOf(i) + rows.begin + (found - chosen.begin());
    }
  }
  return std::nullopt;
}

}  // namespace cairn::log
