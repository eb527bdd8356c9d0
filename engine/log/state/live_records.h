// The records of a log's frame that are not deleted.
#ifndef CAIRN_ENGINE_LOG_STATE_LIVE_RECORDS_H_
#define CAIRN_ENGINE_LOG_STATE_LIVE_RECORDS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/log.h"
#include "engine/log/records/record_ranges.h"
#include "engine/log/state/segment.h"

namespace cairn::log {

// Returns the numbers of the rows, or of all records.
inline RecordRange NumbersOf(const Segment& segment, const Rows& rows) {
  const int64_t first = segment.RecordOf(rows.chunk);
  return {.begin = first + rows.begin, .end = first + rows.end};
}
inline RecordRange NumbersOf(const Segment& segment) {
  return {.begin = segment.first_record(), .end = segment.end_record()};
}
// Returns how many of the rows, or of all records, are deleted.
inline int64_t CountDeleted(const Segment& segment, const Rows& rows) {
  const std::vector<RecordRange>& deleted = segment.edits().deleted;
  return deleted.empty() ? 0 : CountIn(deleted, NumbersOf(segment, rows));
}
inline int64_t CountDeleted(const Segment& segment) {
  return CountIn(segment.edits().deleted, NumbersOf(segment));
}
// Returns the deleted records of older files that only this newest file of a log calls deleted.
inline std::vector<RecordRange> OverwrittenLater(const Segment& newest) {
  return PartIn(newest.edits().deleted, {.begin = 0, .end = newest.first_record()});
}
// Returns the number of the first record of the segment that has a value of this field of the log,
// or end_record().
inline int64_t FirstWithValue(const Segment& segment, size_t field) {
  return std::clamp(segment.fields().Begin(field), segment.first_record(), segment.end_record());
}
// Clears the byte of each row that is deleted. There is one byte for each row.
void LeaveOutDeleted(const Segment& segment, const Rows& rows, std::vector<uint8_t>& chosen);
// Returns the times of a chunk's records that are not deleted.
absl::StatusOr<std::vector<int64_t>> ReadLiveTimes(const Segment& segment, int64_t nchunk);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_STATE_LIVE_RECORDS_H_
