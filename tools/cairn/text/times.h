// Times and durations as people write and read them.
#ifndef CAIRN_TOOLS_CAIRN_TEXT_TIMES_H_
#define CAIRN_TOOLS_CAIRN_TEXT_TIMES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

#include "cairn/record.h"

namespace cairn::tool {

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
