// Times relative to now, such as "now-15m" and "today".
#ifndef CAIRN_ENGINE_LOG_SCHEMA_RELATIVE_TIME_H_
#define CAIRN_ENGINE_LOG_SCHEMA_RELATIVE_TIME_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "cairn/record.h"

namespace cairn::log {

// Returns true for a text that begins as such a time does.
bool IsRelative(std::string_view text);

// Parses such a time as ParseTime does. `now` and the result are counts of `unit`.
// Errors: kInvalidArgument if the text is not such a time, or the time is too far from 1970.
absl::StatusOr<int64_t> ParseRelative(std::string_view text, TimeUnit unit, int64_t now,
                                      const absl::TimeZone& zone);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_SCHEMA_RELATIVE_TIME_H_
