// Converts times and durations from and to the form that people use.
#ifndef CAIRN_TOOLS_CAIRN_TEXT_TIMES_H_
#define CAIRN_TOOLS_CAIRN_TEXT_TIMES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "cairn/record.h"

namespace cairn::tool {

// Appends a time in UTC, with the digits of the unit: "2026-11-24T22:45:02.125000Z". Appends the
// count itself if the year does not have four digits, and nothing for the least count, which means
// no time.
void AppendTime(std::string& out, int64_t time, TimeUnit unit);
std::string FormatTime(int64_t time, TimeUnit unit);
// Appends a time as the clocks of a zone show it, "2026-11-24T23:45:02.125000+01:00". Where their
// year does not have four digits, this is AppendTime.
void AppendTimeIn(std::string& out, const absl::TimeZone& zone, int64_t time, TimeUnit unit);

// Returns the time of this machine's clock.
int64_t Now(TimeUnit unit);

// Parses "90s", "1h30m", "15d": whole numbers with ns, us, ms, s, m, h, d or w, as a count of
// `unit`.
absl::StatusOr<int64_t> ParseDuration(std::string_view text, TimeUnit unit);
// Formats a duration in the largest unit up to days of which it is a whole number.
std::string FormatDuration(int64_t duration, TimeUnit unit);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_TEXT_TIMES_H_
