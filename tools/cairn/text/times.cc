#include "tools/cairn/text/times.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <limits>
#include <optional>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/civil_time.h"
#include "absl/time/clock.h"

namespace cairn::tool {

namespace {

constexpr int64_t kNanos = 1'000'000'000;
constexpr int64_t kDay = 86'400;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

int64_t FloorDivide(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
// Returns what is left of `a`, from 0 to b - 1.
int64_t RestOf(int64_t a, int64_t b) { return a % b + (a % b < 0 ? b : 0); }

std::optional<int64_t> Multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

std::optional<int64_t> Add(std::optional<int64_t> a, std::optional<int64_t> b) {
  int64_t sum = 0;
  if (!a || !b || __builtin_add_overflow(*a, *b, &sum)) return std::nullopt;
  return sum;
}

struct DurationUnit {
  std::string_view name;
  int64_t nanos;
};
constexpr std::array<DurationUnit, 8> kDurationUnits = {{{"w", 7 * kDay* kNanos},
                                                         {"d", kDay* kNanos},
                                                         {"h", 3600 * kNanos},
                                                         {"m", 60 * kNanos},
                                                         {"s", kNanos},
                                                         {"ms", 1'000'000},
                                                         {"us", 1'000},
                                                         {"ns", 1}}};

absl::Status NoDuration(std::string_view text) {
  return absl::InvalidArgumentError(absl::StrFormat(
      "'%s' is not a duration such as 90s, 15m, 1h30m or 30d (ns, us, ms, s, m, h, d, w)", text));
}

}  // namespace

void AppendTime(std::string& out, int64_t time, TimeUnit unit) {
  if (time == std::numeric_limits<int64_t>::min()) return;
  const int64_t scale = UnitsPerSecond(unit);
  const int64_t seconds = FloorDivide(time, scale);
  const int64_t days = FloorDivide(seconds, kDay);
  constexpr int64_t kFirstDay = -719'528;  // 0000-01-01
  constexpr int64_t kLastDay = 2'932'896;  // 9999-12-31
  if (days < kFirstDay || days > kLastDay) {
    absl::StrAppendFormat(&out, "%d", time);
    return;
  }
  const std::chrono::year_month_day date{
      std::chrono::sys_days(std::chrono::days(static_cast<int>(days)))};
  const int64_t clock = seconds - days * kDay;
  const auto put = [&out](int64_t number, int digits) {
    std::array<char, 9> text;
    for (int i = digits; i-- > 0; number /= 10) {
      text[static_cast<size_t>(i)] = static_cast<char>('0' + number % 10);
    }
    out.append(text.data(), static_cast<size_t>(digits));
  };
  put(static_cast<int>(date.year()), 4);
  out += '-';
  put(static_cast<unsigned>(date.month()), 2);
  out += '-';
  put(static_cast<unsigned>(date.day()), 2);
  out += 'T';
  put(clock / 3600, 2);
  out += ':';
  put(clock / 60 % 60, 2);
  out += ':';
  put(clock % 60, 2);
  if (scale > 1) {
    out += '.';
    put(RestOf(time, scale), 3 * static_cast<int>(unit));
  }
  out += 'Z';
}

std::string FormatTime(int64_t time, TimeUnit unit) {
  std::string text;
  AppendTime(text, time, unit);
  return text;
}

void AppendTimeIn(std::string& out, const absl::TimeZone& zone, int64_t time, TimeUnit unit) {
  const int64_t scale = UnitsPerSecond(unit);
  const int64_t seconds = FloorDivide(time, scale);
  const absl::Time instant =
      absl::FromUnixSeconds(seconds) + absl::Nanoseconds(RestOf(time, scale) * (kNanos / scale));
  const int64_t year = absl::ToCivilYear(instant, zone).year();
  if (year < 0 || year > 9999) {
    AppendTime(out, time, unit);
    return;
  }
  constexpr std::array<const char*, 4> kSeconds = {"%S", "%E3S", "%E6S", "%E9S"};
  // Some zones had offsets with seconds, such as local mean time.
  const bool whole = zone.At(instant).offset % 60 == 0;
  const std::string format =
      absl::StrCat("%Y-%m-%dT%H:%M:", kSeconds[static_cast<size_t>(unit)], whole ? "%Ez" : "%E*z");
  const std::string text = absl::FormatTime(format, instant, zone);
  out.append(std::max(text.find('-'), size_t{4}) - text.find('-'), '0');
  out += text;
}

int64_t Now(TimeUnit unit) {
  return FloorDivide(absl::ToUnixNanos(absl::Now()), kNanos / UnitsPerSecond(unit));
}

absl::StatusOr<int64_t> ParseDuration(std::string_view text, TimeUnit unit) {
  std::optional<int64_t> total = text.empty() ? std::nullopt : std::optional<int64_t>(0);
  if (!total) return NoDuration(text);
  for (const char *at = text.data(), *end = at + text.size(); at != end;) {
    int64_t number = -1;
    const auto [rest, error] = std::from_chars(at, end, number);
    if (number < 0 || error != std::errc()) return NoDuration(text);
    at = std::find_if(rest, end, IsDigit);
    const auto named =
        std::ranges::find(kDurationUnits, std::string_view(rest, at), &DurationUnit::name);
    if (named == kDurationUnits.end()) return NoDuration(text);
    total = Add(total, Multiply(number, named->nanos));
    if (!total) {
      return absl::InvalidArgumentError(absl::StrFormat("%s is over 292 years", text));
    }
  }
  const int64_t nanos = kNanos / UnitsPerSecond(unit);
  if (*total % nanos == 0) return *total / nanos;
  return absl::InvalidArgumentError(
      absl::StrFormat("%s is not a whole number of %s, the unit of time", text,
                      std::ranges::find(kDurationUnits, nanos, &DurationUnit::nanos)->name));
}

std::string FormatDuration(int64_t duration, TimeUnit unit) {
  const int64_t own = kNanos / UnitsPerSecond(unit);
  for (const DurationUnit& candidate : kDurationUnits) {
    const bool coarser = candidate.nanos >= own && candidate.name != "w";
    if (coarser && duration % (candidate.nanos / own) == 0 &&
        (duration != 0 || candidate.nanos == kNanos)) {
      return absl::StrFormat("%d%s", duration / (candidate.nanos / own), candidate.name);
    }
  }
  return absl::StrFormat("%d", duration);
}

}  // namespace cairn::tool
