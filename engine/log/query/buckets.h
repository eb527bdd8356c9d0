// Times cut into the buckets of an aggregation.
#ifndef CAIRN_ENGINE_LOG_QUERY_BUCKETS_H_
#define CAIRN_ENGINE_LOG_QUERY_BUCKETS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "cairn/log.h"
#include "cairn/record.h"
#include "engine/log/stats/buckets.h"

namespace cairn::log {

// Finds the bucket of each time. Remembers the last one, because most records lie in the bucket of
// the record before them. Not thread-safe.
class Buckets {
 public:
  // Errors: kInvalidArgument if the aggregation does not describe buckets of this time field.
  static absl::StatusOr<Buckets> Make(const LogAggregation& aggregation, const Field& time);

  // Returns the bucket that holds a time. Its end is the greatest time if it has none.
  const TimeRange& Of(int64_t time) {
    if (!Contains(last_, time)) last_ = Find(time);
    return last_;
  }

 private:
  Buckets(const LogAggregation& aggregation, const Field& time, absl::TimeZone zone,
          int64_t units_per_second);

  TimeRange Find(int64_t time) const;
  TimeRange FindHours(int64_t second) const;
  TimeRange FindDays(int64_t second) const;

  int64_t length_;
  int64_t origin_;
  CalendarUnit calendar_;
  absl::TimeZone zone_;
  int64_t units_per_second_;
  int64_t least_;  // the least time, at which a bucket begins that would begin before it
  TimeRange last_ = {.begin = 0, .end = 0};
};

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_QUERY_BUCKETS_H_
