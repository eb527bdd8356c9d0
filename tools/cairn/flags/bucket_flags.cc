#include "tools/cairn/flags/bucket_flags.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

#include "absl/strings/str_format.h"

#include "tools/cairn/records/values.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct CalendarWord {
  std::string_view word;
  CalendarUnit unit;
  int64_t count;
};
constexpr std::array<CalendarWord, 6> kCalendarWords = {{{"h", CalendarUnit::kHour, 1},
                                                         {"d", CalendarUnit::kDay, 1},
                                                         {"w", CalendarUnit::kWeek, 1},
                                                         {"mo", CalendarUnit::kMonth, 1},
                                                         {"q", CalendarUnit::kMonth, 3},
                                                         {"y", CalendarUnit::kYear, 1}}};

struct Length {
  int64_t count = 0;
  CalendarUnit unit = CalendarUnit::kNone;
};

// Parses one number and one unit of the calendar, such as "1mo".
std::optional<Length> ParseCalendar(std::string_view text) {
  int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  const std::string_view rest(end, text.data() + text.size());
  const auto named = std::ranges::find(kCalendarWords, rest, &CalendarWord::word);
  if (named == kCalendarWords.end()) return std::nullopt;
  return Length{.count = number * named->count, .unit = named->unit};
}

absl::Status Refuse(std::string_view text, std::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrFormat("--bucket: expected %s, got %s", expected, text));
}

}  // namespace

void AddBucket(CLI::App& app, BucketFlags& flags) {
  app.add_option("--bucket", flags.bucket,
                 "How long each of them is, such as 1h, or 1d, 1w, 1mo, 1q or 1y of the calendar "
                 "[all together]")
      ->type_name("DURATION");
  app.add_option("--origin", flags.origin, "When one of them begins [1970]")->type_name("TIME");
}

absl::Status SetBuckets(const BucketFlags& flags, const std::string& time_zone, const Field& time,
                        LogAggregation& aggregation) {
  if (!flags.origin.empty()) {
    ASSIGN_OR_RETURN(aggregation.origin, ParseTimeOf(time, flags.origin, time_zone));
  }
  if (flags.bucket.empty()) return absl::OkStatus();
  std::optional<Length> length;
  if (time.type == FieldType::kTimestamp) length = ParseCalendar(flags.bucket);
  // Without a zone, hours and days are the same as durations, and so are weeks but for their
  // origin.
  const bool same = length.has_value() && time_zone.empty() &&
                    (length->unit == CalendarUnit::kHour || length->unit == CalendarUnit::kDay ||
                     (length->unit == CalendarUnit::kWeek && !flags.origin.empty()));
  if (length.has_value() && !same) {
    if (length->count == 0) return Refuse(flags.bucket, "more than 0");
    if (!flags.origin.empty()) return Refuse(flags.bucket, "a duration beside --origin");
    const bool cut =
        length->unit == CalendarUnit::kHour && (24 % length->count != 0 || length->count == 24);
    if (cut) {
      return Refuse(flags.bucket,
                    "1h, 2h, 3h, 4h, 6h, 8h, 12h or 1d with --tz (24h are always 86,400 s, without "
                    "it)");
    }
    aggregation.bucket = length->count;
    aggregation.calendar = length->unit;
    aggregation.time_zone = time_zone;
    return absl::OkStatus();
  }
  const absl::StatusOr<int64_t> bucket = ParseDurationOf(time, flags.bucket);
  if (!bucket.ok()) {
    return time.type == FieldType::kTimestamp
               ? Refuse(flags.bucket,
                        "a duration such as 15m or 1h30m, or one of 1d, 1w, 1mo, 1q, 1y")
               : absl::InvalidArgumentError(
                     absl::StrFormat("--bucket: %s", bucket.status().message()));
  }
  aggregation.bucket = *bucket;
  if (aggregation.bucket == 0) return Refuse(flags.bucket, "more than 0");
  const bool spans_change = flags.bucket.find_first_of("hdw") != std::string::npos;
  if (!time_zone.empty() && spans_change) {
    return Refuse(flags.bucket, "one unit with --tz, such as 6h, 1d or 2w");
  }
  return absl::OkStatus();
}

}  // namespace cairn::tool
