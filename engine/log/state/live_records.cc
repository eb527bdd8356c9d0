#include "engine/log/state/live_records.h"

#include <algorithm>

#include "engine/base/status.h"

namespace cairn::log {

void LeaveOutDeleted(const Segment& segment, const Rows& rows, std::vector<uint8_t>& chosen) {
  const std::vector<RecordRange>& deleted = segment.edits().deleted;
  if (deleted.empty()) return;
  const RecordRange numbers = NumbersOf(segment, rows);
  for (const RecordRange& range : PartIn(deleted, numbers)) {
    std::fill(chosen.begin() + (range.begin - numbers.begin),
              chosen.begin() + (range.end - numbers.begin), uint8_t{0});
  }
}

absl::StatusOr<std::vector<int64_t>> ReadLiveTimes(const Segment& segment, int64_t nchunk) {
  const Rows rows = segment.RowsOf(nchunk);
  CAIRN_ASSIGN_OR_RETURN(std::vector<int64_t> times, segment.ReadTimes(rows));
  std::vector<uint8_t> chosen(times.size(), 1);
  LeaveOutDeleted(segment, rows, chosen);
  size_t kept = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    if (chosen[i] != 0) times[kept++] = times[i];
  }
  times.resize(kept);
  return times;
}

}  // namespace cairn::log
