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

// Says how ParseTime rounds a time that lies between two counts of a unit.
enum class TimeRounding : uint8_t {
  kDown,   // to the count before it
  kUp,     // to the count after it
  kExact,  // not at all: such a time is an error
};

// Says how ParseTime reads a text.
struct TimeTextOptions {
  TimeRounding rounding = TimeRounding::kDown;
  // The unit that a number counts. Empty means the unit of the result.
  std::optional<TimeUnit> number_unit = {};
  // Refuses a number whose unit is in doubt: in its unit the number is not a time of our days (1990
  // to 2099), but it is one in another unit, or it reads as a date, such as 20261124, 2026112410 or
  // 20261124100000. Set it to false if somebody has said what numbers count.
  bool check_numbers = true;
  // Name of the time zone of a time that says none, such as "Europe/Berlin". Empty means UTC.
  std::string_view time_zone = {};
  // The time of now, as a count of the unit of the result. Empty refuses texts that refer to it.
  std::optional<int64_t> now = {};
};

// Parses a time, and returns it as a count of `unit` since 1970-01-01T00:00:00 UTC. It reads
//   ISO 8601: "2026-11-24", "2026-11-24T22:45", "2026-11-24 22:45:02.125+01:00",
//     "20261124T224502Z". An offset may have seconds. A time without an offset is in `time_zone`.
//     If clocks show it twice, it is the first; if they jump over it, it is the time of the jump.
//   a decimal number: "1795560302.125".
//   if there is `now`: "now", "today", "yesterday" or "tomorrow", which mean a midnight, each with
//   a
//     span added or taken off: "now-90s", "today+8h", "yesterday-1w". "-15m" means "now-15m". The
//     spans are those of a number and ns, us, ms, s, m, h, d or w; days and weeks are those of the
//     calendar, so "now-1d" is the same time of the day before.
// Errors: kInvalidArgument if the text is anything else, if the time is too far from 1970 for the
// unit, if the unit of a number is in doubt, if the time lies between two counts and `rounding` is
// kExact, or if this machine does not know `time_zone`.
CAIRN_EXPORT absl::StatusOr<int64_t> ParseTime(std::string_view text, TimeUnit unit,
                                               const TimeTextOptions& options = {});

}  // namespace cairn

#endif  // CAIRN_TIME_TEXT_H_
