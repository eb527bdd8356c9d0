// TimeIndex: the times of all chunks of a log's frame, for finding those of a range.
#ifndef CAIRN_ENGINE_LOG_STATE_TIME_INDEX_H_
#define CAIRN_ENGINE_LOG_STATE_TIME_INDEX_H_

#include <cstdint>
#include <vector>

#include "cairn/log.h"

namespace cairn::log {

struct TimeIndex {
  std::vector<int64_t> min_time;    // least time of each chunk
  std::vector<int64_t> max_time;    // greatest time of each chunk
  std::vector<int64_t> max_before;  // greatest of chunks 0..i, so it never decreases
  std::vector<int64_t> min_after;   // least of chunks i.., so it never decreases

  TimeIndex(std::vector<int64_t> min_times, std::vector<int64_t> max_times);
  // Returns the first chunk, from this one on, that may have times of the range. Returns the number
  // of chunks if there is none.
  int64_t NextChunkIn(const TimeRange& range, int64_t from) const;
};

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_STATE_TIME_INDEX_H_
