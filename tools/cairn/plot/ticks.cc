#include "tools/cairn/plot/ticks.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <string_view>

#include "absl/strings/str_format.h"

#include "tools/cairn/text/times.h"

namespace cairn::tool {

namespace {

constexpr int64_t kNanosPerSecond = 1'000'000'000;
constexpr int64_t kMinute = 60;
constexpr int64_t kHour = 3600;
constexpr int64_t kDaySeconds = 86'400;

// Steps from a second to half a month.
constexpr auto kSteps = std::to_array<int64_t>({1,
                                                2,
                                                5,
                                                10,
                                                15,
                                                30,
                                                kMinute,
                                                2 * kMinute,
                                                5 * kMinute,
                                                10 * kMinute,
                                                15 * kMinute,
                                                30 * kMinute,
                                                kHour,
                                                2 * kHour,
                                                3 * kHour,
                                                6 * kHour,
                                                12 * kHour,
                                                kDaySeconds,
                                                2 * kDaySeconds,
                                                3 * kDaySeconds,
                                                7 * kDaySeconds,
                                                14 * kDaySeconds});

double Distance(int64_t from, int64_t to) {
  return static_cast<double>(static_cast<uint64_t>(to) - static_cast<uint64_t>(from));
}

// Returns the least of 1, 2, 5, 10, 20, … that is not less.
double RoundUp(double step) {
  const double power = std::pow(10, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= step * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

// Calls visit(time) for the multiples of `step` from begin to end.
template <typename Visit>
void ForMultiples(int64_t begin, int64_t end, int64_t step, const Visit& visit) {
  int64_t at = begin - begin % step;
  if (at < begin && __builtin_add_overflow(at, step, &at)) return;
  while (at <= end) {
    visit(at);
    if (__builtin_add_overflow(at, step, &at)) return;
  }
}

std::string NumberLabel(double value, double step) {
  if (std::abs(value) < step * 1e-6) return "0";
  const double magnitude = std::abs(value);
  if (magnitude >= 1e7 || magnitude < 1e-4) return absl::StrFormat("%.6g", value);
  const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
  return absl::StrFormat("%.*f", decimals, value);
}

// Returns the date of a time in ISO 8601.
std::string DateOf(std::string_view time) { return std::string(time.substr(0, 10)); }

std::vector<Tick> PlainTicks(int64_t begin, int64_t end, int most) {
  const double least = std::max(Distance(begin, end) / most, 1.0);
  const double rounded = std::max(RoundUp(least), 1.0);
  if (rounded >= 9e18) return {};
  std::vector<Tick> ticks;
  ForMultiples(begin, end, static_cast<int64_t>(rounded), [&](int64_t at) {
    ticks.push_back(
        {.at = Distance(begin, at) / Distance(begin, end), .label = absl::StrFormat("%d", at)});
  });
  return ticks;
}

// Returns ticks with a label of the clock, and with the date below it if a new one begins.
std::vector<Tick> ClockTicks(int64_t begin, int64_t end, TimeUnit unit, int64_t step_nanos) {
  const int64_t own = kNanosPerSecond / UnitsPerSecond(unit);
  const int64_t step = std::max<int64_t>(step_nanos / own, 1);
  const bool seconds = step_nanos < kMinute * kNanosPerSecond;
  const bool whole = step_nanos >= kNanosPerSecond;
  std::vector<Tick> ticks;
  std::string date;
  ForMultiples(begin, end, step, [&](int64_t at) {
    const std::string time = FormatTime(at, unit);
    if (time.size() < 20) return;  // a year without four digits
    const size_t size = whole ? (seconds ? 8 : 5) : time.size() - 12;
    Tick tick = {.at = Distance(begin, at) / Distance(begin, end), .label = time.substr(11, size)};
    if (DateOf(time) != date) tick.more = DateOf(time);
    date = DateOf(time);
    ticks.push_back(std::move(tick));
  });
  return ticks;
}

// Returns ticks at the beginnings of days that are this many days or months apart.
std::vector<Tick> DateTicks(int64_t begin, int64_t end, TimeUnit unit, int64_t days,
                            int64_t months) {
  using std::chrono::sys_days;
  const int64_t scale = UnitsPerSecond(unit);
  const int64_t first = begin / scale / kDaySeconds - 1;
  const int64_t last = end / scale / kDaySeconds + 1;
  constexpr int64_t kMostDays = 2'932'896;  // 9999-12-31
  constexpr int64_t kLeastDays = -719'528;
  std::vector<Tick> ticks;
  std::string year;
  const auto add = [&](sys_days day) {
    int64_t at = 0;
    const int64_t seconds = int64_t{day.time_since_epoch().count()} * kDaySeconds;
    if (__builtin_mul_overflow(seconds, scale, &at) || at < begin || at > end) return;
    const std::string date = DateOf(FormatTime(at, TimeUnit(unit)));
    Tick tick = {.at = Distance(begin, at) / Distance(begin, end),
                 .label = months >= 12 ? date.substr(0, 4)
                          : months > 0 ? date.substr(0, 7)
                                       : date.substr(5)};
    if (months == 0 && date.substr(0, 4) != year) tick.more = date.substr(0, 4);
    year = date.substr(0, 4);
    ticks.push_back(std::move(tick));
  };
  if (months == 0) {
    const int64_t from = std::max(first, kLeastDays);
    for (int64_t day = from - ((from % days) + days) % days; day <= std::min(last, kMostDays);
         day += days) {
      add(sys_days(std::chrono::days(day)));
    }
    return ticks;
  }
  const std::chrono::year_month_day from{sys_days(std::chrono::days(std::max(first, kLeastDays)))};
  const std::chrono::year_month_day to{sys_days(std::chrono::days(std::min(last, kMostDays)))};
  const auto number = [](const std::chrono::year_month_day& date) {
    return static_cast<int>(date.year()) * int64_t{12} + static_cast<unsigned>(date.month()) - 1;
  };
  for (int64_t month = number(from) / months * months; month <= number(to); month += months) {
    add(sys_days(std::chrono::year(static_cast<int>(month / 12)) /
                 std::chrono::month(static_cast<unsigned>(month % 12) + 1) / 1));
  }
  return ticks;
}

}  // namespace

std::vector<Tick> NumberTicks(double low, double high, int most) {
  const double step = RoundUp((high - low) / most);
  std::vector<Tick> ticks;
  for (double n = std::ceil(low / step); n * step <= high; ++n) {
    ticks.push_back({.at = (n * step - low) / (high - low), .label = NumberLabel(n * step, step)});
    // steps this small can fail to advance
    if (std::ssize(ticks) > int64_t{2} * most) break;
  }
  return ticks;
}

std::vector<Tick> TimeTicks(int64_t begin, int64_t end, std::optional<TimeUnit> unit, int most) {
  if (!unit) return PlainTicks(begin, end, most);
  const double seconds =
      Distance(begin, end) / static_cast<double>(UnitsPerSecond(*unit)) / std::max(most, 1);
  if (seconds < 0.5) {
    const double nanos = std::max(RoundUp(seconds * 1e9), 1.0);
    return ClockTicks(begin, end, *unit, static_cast<int64_t>(nanos));
  }
  for (const int64_t step : kSteps) {
    if (static_cast<double>(step) < seconds) continue;
    if (step < kDaySeconds) return ClockTicks(begin, end, *unit, step * kNanosPerSecond);
    return DateTicks(begin, end, *unit, step / kDaySeconds, 0);
  }
  constexpr double kMonth = 30.4 * kDaySeconds;
  for (const int64_t months : {1, 3, 6}) {
    if (kMonth * static_cast<double>(months) >= seconds) {
      return DateTicks(begin, end, *unit, 0, months);
    }
  }
  const double years = RoundUp(seconds / (12 * kMonth));
  return DateTicks(begin, end, *unit, 0, 12 * static_cast<int64_t>(std::min(years, 10'000.0)));
}

}  // namespace cairn::tool
