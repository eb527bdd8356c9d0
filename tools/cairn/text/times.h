// Times and durations as people write and read them.
#ifndef CAIRN_TOOLS_CAIRN_TEXT_TIMES_H_
#define CAIRN_TOOLS_CAIRN_TEXT_TIMES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

#include "cairn/record.h"

namespace cairn::tool {

// A time in ISO 8601: "2026-11-24", "2026-11-24T22:45", "2026-11-24 22:45:02.125+01:00"; UTC
// where it names no offset. A count of `unit`, rounded down.
absl::StatusOr<int64_t> ParseTime(std::string_view text, TimeUnit unit);

// A decimal number of `from` since 1970, such as "1764024302.5", as a count of `to`, rounded down.
absl::StatusOr<int64_t> ParseEpoch(std::string_view text, TimeUnit from, TimeUnit to);

// Whether a text is such a number, rather than a time in ISO 8601.
bool IsEpoch(std::string_view text);

// In UTC, with the digits of the unit: "2026-11-24T22:45:02.125000Z". The count itself where the
// year does not have four digits; nothing for the least count, which is no time.
void AppendTime(std::string& out, int64_t time, TimeUnit unit);
std::string FormatTime(int64_t time, TimeUnit unit);

// "90s", "1h30m", "15d": whole numbers with ns, us, ms, s, m, h, d or w, as a count of `unit`.
absl::StatusOr<int64_t> ParseDuration(std::string_view text, TimeUnit unit);
// In the largest unit up to days of which it is a whole number.
std::string FormatDuration(int64_t duration, TimeUnit unit);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_TEXT_TIMES_H_
