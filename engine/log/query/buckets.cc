#include "engine/log/query/buckets.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/time/civil_time.h"

#include "engine/base/status.h"
#include "engine/log/schema/zone.h"

namespace cairn::log {

namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kMaxCalendarUnits = 100'000;

int64_t Clamp(absl::int128 time) {
  return static_cast<int64_t>(std::clamp(time, absl::int128(kLeast), absl::int128(kMost)));
}

int64_t RestOf(int64_t number, int64_t step) {
  return number % step + (number % step < 0 ? step : 0);
}
int64_t FloorTo(int64_t number, int64_t step) { return number - RestOf(number, step); }

int64_t SecondOf(const absl::TimeZone& zone, const absl::CivilSecond& local) {
  return absl::ToUnixSeconds(FirstInstant(zone, local));
}

// Returns the first day of the bucket of `count` units that holds a day, and of the bucket after
// it.
std::pair<absl::CivilDay, absl::CivilDay> DaysAround(absl::CivilDay day, CalendarUnit unit,
                                                     int64_t count) {
  if (unit == CalendarUnit::kYear) {
    const absl::CivilYear year(FloorTo(day.year(), count));
    return {absl::CivilDay(year), absl::CivilDay(year + count)};
  }
  if (unit == CalendarUnit::kMonth) {
    const absl::CivilMonth zero(0);
    const absl::CivilMonth month = zero + FloorTo(absl::CivilMonth(day) - zero, count);
    return {absl::CivilDay(month), absl::CivilDay(month + count)};
  }
  const bool weeks = unit == CalendarUnit::kWeek;
  const absl::CivilDay zero = weeks ? absl::CivilDay(1970, 1, 5) : absl::CivilDay(1970, 1, 1);
  const int64_t days = count * (weeks ? 7 : 1);
  const absl::CivilDay first = zero + FloorTo(day - zero, days);
  return {first, first + days};
}

absl::Status CheckCalendar(const LogAggregation& aggregation, const Field& time) {
  if (time.type != FieldType::kTimestamp) {
    return InvalidArgument("log: bucket: a calendar needs timestamps, and '%s' is a number",
                           time.name);
  }
  if (aggregation.origin != 0) {
    return InvalidArgument("log: origin: expected none with a calendar, got %d",
                           aggregation.origin);
  }
  if (aggregation.bucket < 1 || aggregation.bucket > kMaxCalendarUnits) {
    return InvalidArgument("log: bucket: expected 1 to %d units of the calendar, got %d",
                           kMaxCalendarUnits, aggregation.bucket);
  }
  const bool hours = aggregation.calendar == CalendarUnit::kHour;
  if (hours && (24 % aggregation.bucket != 0 || aggregation.bucket == 24)) {
    return InvalidArgument(
        "log: bucket: expected 1, 2, 3, 4, 6, 8 or 12 hours of the calendar, got %d",
        aggregation.bucket);
  }
  return absl::OkStatus();
}

}  // namespace

Buckets::Buckets(const LogAggregation& aggregation, const Field& time, absl::TimeZone zone,
                 int64_t units_per_second)
    : length_(aggregation.bucket),
      origin_(aggregation.origin),
      calendar_(aggregation.calendar),
      zone_(zone),
      units_per_second_(units_per_second),
      // The least int64 is no time.
      least_(time.type == FieldType::kTimestamp ? kNoTime + 1 : kLeast) {}

absl::StatusOr<Buckets> Buckets::Make(const LogAggregation& aggregation, const Field& time) {
  CAIRN_RETURN_IF_ERROR(CheckNotNegative("log: bucket", aggregation.bucket));
  if (aggregation.calendar == CalendarUnit::kNone) {
    if (!aggregation.time_zone.empty()) {
      return InvalidArgument("log: time zone '%s': expected none without a calendar",
                             aggregation.time_zone);
    }
    return Buckets(aggregation, time, absl::UTCTimeZone(), 1);
  }
  CAIRN_RETURN_IF_ERROR(CheckCalendar(aggregation, time));
  CAIRN_ASSIGN_OR_RETURN(const absl::TimeZone zone, LoadZone(aggregation.time_zone));
  return Buckets(aggregation, time, zone, UnitsPerSecond(time.unit));
}

TimeRange Buckets::Find(int64_t time) const {
  if (length_ == 0) return {};
  if (calendar_ == CalendarUnit::kNone) {
    int64_t past = RestOf(time, length_) - RestOf(origin_, length_);
    if (past < 0) past += length_;
    const absl::int128 begin = absl::int128(time) - past;
    return {.begin = std::min(std::max(Clamp(begin), least_), time), .end = Clamp(begin + length_)};
  }
  const int64_t second = time / units_per_second_ - (time % units_per_second_ < 0 ? 1 : 0);
  const bool hours = calendar_ == CalendarUnit::kHour;
  const TimeRange seconds = hours ? FindHours(second) : FindDays(second);
  // The calendar ends before the greatest times do.
  const auto in_units = [this](int64_t bound) {
    if (bound == kLeast || bound == kMost) return bound;
    return Clamp(absl::int128(bound) * units_per_second_);
  };
  const int64_t end = in_units(seconds.end);
  const int64_t begin = std::max(in_units(seconds.begin), least_);
  return {.begin = std::min(begin, time), .end = end > time ? end : kMost};
}

// An hour begins whenever clocks show a full one, or jump over it. So an hour that they show twice
// is two.
TimeRange Buckets::FindHours(int64_t second) const {
  const int64_t step = length_ * 3600;
  constexpr int64_t kFar = int64_t{1} << 50;  // 35 million years
  const auto offset = [this](int64_t at) {
    return at < -kFar || at > kFar ? 0 : zone_.At(absl::FromUnixSeconds(at)).offset;
  };
  if (second < -kFar || second > kFar) {
    const absl::int128 begin = absl::int128(second) - RestOf(second, step);
    return {.begin = Clamp(begin), .end = Clamp(begin + step)};
  }
  // Returns what clocks show at the last full hour before a time, or at it.
  const auto hour = [&](int64_t at) { return FloorTo(at + offset(at), step); };
  // Returns the first second whose offset is that of `late`.
  const auto change = [&](int64_t early, int64_t late) {
    const int64_t after = offset(late);
    while (late - early > 1) {
      const int64_t middle = early + (late - early) / 2;
      (offset(middle) == after ? late : early) = middle;
    }
    return late;
  };
  const int64_t own = offset(second);
  const int64_t full = hour(second);
  TimeRange found = {.begin = full - own, .end = full - own + step};
  if (offset(found.begin) != own) {
    const int64_t at = change(found.begin, second);
    found.begin = hour(at - 1) == full ? full - offset(at - 1) : at;
  }
  if (offset(found.end) != own) {
    const int64_t at = change(second, found.end);
    const bool begins = hour(at) != full || at + offset(at) == full;
    found.end = begins ? at : full - offset(at) + step;
  }
  return found;
}

// A day begins when clocks first show its midnight, or jump over it.
TimeRange Buckets::FindDays(int64_t second) const {
  const absl::CivilSecond local = absl::ToCivilSecond(absl::FromUnixSeconds(second), zone_);
  auto [first, next] = DaysAround(absl::CivilDay(local), calendar_, length_);
  TimeRange found = {.begin = SecondOf(zone_, absl::CivilSecond(first)),
                     .end = SecondOf(zone_, absl::CivilSecond(next))};
  // Clocks that are set back over midnight show the day before once more.
  while (second >= found.end && found.end != kMost) {
    next = DaysAround(next, calendar_, length_).second;
    found.begin = std::exchange(found.end, SecondOf(zone_, absl::CivilSecond(next)));
  }
  return found;
}

}  // namespace cairn::log
