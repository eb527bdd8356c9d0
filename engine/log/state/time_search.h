// Finds the records of a time: the chunks that may hold them, and their place in a chunk.
#ifndef CAIRN_ENGINE_LOG_STATE_TIME_SEARCH_H_
#define CAIRN_ENGINE_LOG_STATE_TIME_SEARCH_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/log.h"
#include "engine/log/state/segment.h"

namespace cairn::log {

// The times from one to the other, with both.
struct TimeSpan {
  int64_t least = 0;
  int64_t greatest = 0;
};

// All of these need a time field. Errors: kFailedPrecondition without one.

// Returns the chunks that may have times of the range.
absl::StatusOr<std::vector<int64_t>> FindChunks(const Segment& segment, const TimeRange& range);
// Returns the records of a chunk in the order of time that have times of the range.
absl::StatusOr<Rows> FindRows(const Segment& segment, int64_t nchunk, const TimeRange& range);
// Returns the least and the greatest time, or nothing if all records are deleted.
absl::StatusOr<std::optional<TimeSpan>> FindSpan(const Segment& segment);
// Returns the least number of a record that has a time of the range.
absl::StatusOr<std::optional<int64_t>> FindFirst(const Segment& segment, const TimeRange& range);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_STATE_TIME_SEARCH_H_
