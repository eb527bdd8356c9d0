#include "engine/log/schema/relative_time.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <system_error>

#include "absl/numeric/int128.h"
#include "absl/time/civil_time.h"

#include "engine/base/status.h"
#include "engine/log/schema/zone.h"

namespace cairn::log {

namespace {

struct Day {
  std::string_view word;
  int64_t days = 0;  // after today
};
constexpr std::array<Day, 3> kDays = {{{"today", 0}, {"yesterday", -1}, {"tomorrow", 1}}};

struct UnitWord {
  std::string_view word;
  int64_t nanos = 0;  // 0 for days
  int64_t days = 0;
};
constexpr std::array<UnitWord, 8> kSpans = {{{"ns", 1},
                                             {"us", 1'000},
                                             {"ms", 1'000'000},
                                             {"s", 1'000'000'000},
                                             {"m", 60'000'000'000},
                                             {"h", 3'600'000'000'000},
                                             {"d", 0, 1},
                                             {"w", 0, 7}}};

constexpr std::string_view kNow = "now";

absl::Status NotRelative(std::string_view text) {
  return InvalidArgument(
      "'%s' is not a time such as now-15m, -15m, today or yesterday+8h (ns, us, ms, s, m, h, d, w)",
      text);
}

absl::StatusOr<int64_t> InBounds(std::string_view text, absl::int128 count) {
  if (count > std::numeric_limits<int64_t>::min() && count <= std::numeric_limits<int64_t>::max()) {
    return static_cast<int64_t>(count);
  }
  return InvalidArgument("%s is too far from 1970", text);
}

// A count of a unit, cut into full seconds and the rest.
struct Seconds {
  int64_t seconds = 0;
  int64_t rest = 0;
  Seconds(int64_t count, int64_t per_second)
      : seconds(count / per_second - (count % per_second < 0 ? 1 : 0)),
        rest(count - seconds * per_second) {}
};

}  // namespace

bool IsRelative(std::string_view text) {
  const auto begins = [text](const Day& day) { return text.starts_with(day.word); };
  return text.starts_with(kNow) || text.starts_with('-') || text.starts_with('+') ||
         std::ranges::any_of(kDays, begins);
}

absl::StatusOr<int64_t> ParseRelative(std::string_view text, TimeUnit unit, int64_t now,
                                      const absl::TimeZone& zone) {
  const int64_t per_second = UnitsPerSecond(unit);
  std::string_view rest = text;
  absl::int128 time = now;
  const size_t word = std::min(rest.find_first_of("+-"), rest.size());
  const auto day = std::ranges::find(kDays, rest.substr(0, word), &Day::word);
  if (day != kDays.end()) {
    const absl::Time instant = absl::FromUnixSeconds(Seconds(now, per_second).seconds);
    const absl::CivilDay midnight = absl::ToCivilDay(instant, zone) + day->days;
    time = absl::int128(absl::ToUnixSeconds(FirstInstant(zone, absl::CivilSecond(midnight)))) *
           per_second;
  } else if (word > 0 && rest.substr(0, word) != kNow) {
    return NotRelative(text);
  }
  rest.remove_prefix(word);
  if (rest.empty()) return InBounds(text, time);
  const bool negative = rest.front() == '-';
  rest.remove_prefix(1);
  int64_t number = -1;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc() || number < 0) return NotRelative(text);
  rest.remove_prefix(static_cast<size_t>(end - rest.data()));
  const auto span = std::ranges::find(kSpans, rest, &UnitWord::word);
  if (span == kSpans.end()) return NotRelative(text);
  if (negative) number = -number;
  if (span->days == 0) {
    const absl::int128 nanos = absl::int128(number) * span->nanos;
    return InBounds(text, time + nanos * per_second / 1'000'000'000);
  }
  constexpr int64_t kMaxDays = 1'000'000'000;
  if (number > kMaxDays || number < -kMaxDays) return InBounds(text, absl::Int128Max());
  CAIRN_ASSIGN_OR_RETURN(const int64_t from, InBounds(text, time));
  const Seconds cut(from, per_second);
  const absl::CivilSecond shown = absl::ToCivilSecond(absl::FromUnixSeconds(cut.seconds), zone);
  const absl::CivilDay moved = absl::CivilDay(shown) + number * span->days;
  const absl::CivilSecond local(moved.year(), moved.month(), moved.day(), shown.hour(),
                                shown.minute(), shown.second());
  const int64_t second = absl::ToUnixSeconds(FirstInstant(zone, local));
  return InBounds(text, absl::int128(second) * per_second + cut.rest);
}

}  // namespace cairn::log
