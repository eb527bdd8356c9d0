// Times as people and programs write them.
#ifndef CAIRN_TIME_TEXT_H_
#define CAIRN_TIME_TEXT_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"

#include "cairn/record.h"
#include "cairn/types.h"

namespace cairn {

// Says which count a time becomes that lies between two counts of a unit.
enum class TimeRounding : uint8_t {
  kDown,   // the count before it
  kUp,     // the count after it
  kExact,  // an error
};

struct TimeTextOptions {
  TimeRounding rounding = TimeRounding::kDown;
  std::optional<TimeUnit> number_unit = {};  // what a number counts; empty: the unit of the result
  // Refuses a number that is no time of our days in its unit, but is one in another unit, or reads
  // as a date, such as 20261124, 2026112410 or 20261124100000. False where somebody said what
  // numbers count.
  bool check_numbers = true;
};

// A count of `unit` since 1970-01-01T00:00:00 UTC, from
//   ISO 8601: "2026-11-24", "2026-11-24T22:45", "2026-11-24 22:45:02.125+01:00",
//     "20261124T224502Z"; in UTC where it names no offset;
//   a decimal number: "1795560302.125".
// Errors: kInvalidArgument for any other text; for a time that the unit does not reach; for a
// number whose unit is in doubt.
CAIRN_EXPORT absl::StatusOr<int64_t> ParseTime(std::string_view text, TimeUnit unit,
                                               const TimeTextOptions& options = {});

}  // namespace cairn

#endif  // CAIRN_TIME_TEXT_H_
