// Finds the newest time of records, some of which may be later than the clock of this machine.
#ifndef CAIRN_ENGINE_LOG_STATE_NEWEST_TIME_H_
#define CAIRN_ENGINE_LOG_STATE_NEWEST_TIME_H_

#include <cstdint>
#include <limits>
#include <span>

#include "absl/status/statusor.h"

#include "cairn/record.h"
#include "engine/log/state/segment.h"
#include "engine/log/stats/values.h"

namespace cairn::log {

// Returns the time of this machine's clock as a count of the field. Returns the greatest count for
// an integer, which no clock counts.
int64_t ClockOf(const Field& time);

// Times that the clock has not reached do not count as the newest. A sensor whose clock was wrong
// once must not make everything else old.
struct NewestTime {
  int64_t past = kNoTime;  // the greatest time that the clock has reached
  int64_t coming = std::numeric_limits<int64_t>::max();  // the least time that it has not reached
  int64_t greatest = kNoTime;                            // the greatest of all

  void Add(int64_t time, int64_t clock);
  // Adds times that never decrease.
  void AddSorted(std::span<const int64_t> times, int64_t clock);
  void Add(const NewestTime& more);
  bool has_past() const { return past != kNoTime; }
  // Returns the newest time if the clock is here. If the clock has reached no time, it is wrong or
  // all records are plans, so this returns the greatest time.
  int64_t At(int64_t clock);
};

absl::StatusOr<NewestTime> FindNewestTime(const Segment& segment, int64_t nchunk, int64_t clock);
// Reads only chunks with times on both sides of the clock.
absl::StatusOr<NewestTime> FindNewestTime(const Segment& segment, int64_t clock);
// Returns the number of records that are later than the clock.
absl::StatusOr<int64_t> CountFuture(const Segment& segment, int64_t clock);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_STATE_NEWEST_TIME_H_
