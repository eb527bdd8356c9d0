#include "tools/cairn/text/times.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <limits>
#include <optional>
#include <system_error>

#include "absl/strings/str_format.h"

namespace cairn::tool {

namespace {

constexpr int64_t kNanos = 1'000'000'000;
constexpr int64_t kDay = 86'400;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

int64_t FloorDivide(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

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

// Takes a text apart from front to back.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  char next() const { return rest_.empty() ? '\0' : rest_.front(); }
  bool Accept(std::string_view any) {
    if (rest_.empty() || any.find(rest_.front()) == std::string_view::npos) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // Exactly `count` digits.
  bool Number(size_t count, int64_t& number) {
    number = 0;
    if (rest_.size() < count) return false;
    for (const char c : rest_.substr(0, count)) {
      if (!IsDigit(c)) return false;
      number = number * 10 + (c - '0');
    }
    rest_.remove_prefix(count);
    return true;
  }
  // The digits after a decimal point, as billionths; `more` when there are others than zeros after
  // these.
  bool Fraction(int64_t& nanos, bool& more) {
    const size_t size = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    nanos = 0;
    for (size_t i = 0; i < 9; ++i) nanos = nanos * 10 + (i < size ? rest_[i] - '0' : 0);
    more = size > 9 && rest_.substr(9, size - 9).find_first_not_of('0') != std::string_view::npos;
    rest_.remove_prefix(size);
    return size > 0;
  }

 private:
  std::string_view rest_;
};

bool ScanDate(Scanner& scan, int64_t& seconds) {
  int64_t year = 0;
  int64_t month = 0;
  int64_t day = 0;
  if (!scan.Number(4, year) || !scan.Accept("-") || !scan.Number(2, month) || !scan.Accept("-") ||
      !scan.Number(2, day)) {
    return false;
  }
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(year)),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  seconds = std::chrono::sys_days(date).time_since_epoch().count() * kDay;
  return date.ok();
}

bool ScanClock(Scanner& scan, int64_t& seconds, int64_t& nanos) {
  int64_t hour = 0;
  int64_t minute = 0;
  int64_t second = 0;
  if (!scan.Number(2, hour) || !scan.Accept(":") || !scan.Number(2, minute)) return false;
  if (scan.Accept(":")) {
    bool more = false;
    if (!scan.Number(2, second)) return false;
    if (scan.Accept(".,") && !scan.Fraction(nanos, more)) return false;
  }
  seconds += hour * 3600 + minute * 60 + second;
  // 60 is a leap second; 24:00 is the end of a day.
  return second <= 60 && minute < 60 && (hour < 24 || (hour == 24 && minute + second == 0));
}

bool ScanOffset(Scanner& scan, int64_t& seconds) {
  if (scan.Accept("Zz") || scan.done()) return true;
  const int64_t sign = scan.next() == '-' ? -1 : 1;
  int64_t hours = 0;
  int64_t minutes = 0;
  if (!scan.Accept("+-") || !scan.Number(2, hours)) return false;
  scan.Accept(":");
  if (!scan.done() && !scan.Number(2, minutes)) return false;
  seconds -= sign * (hours * 3600 + minutes * 60);
  return hours < 24 && minutes < 60;
}

bool ScanTime(Scanner& scan, int64_t& seconds, int64_t& nanos) {
  if (!ScanDate(scan, seconds)) return false;
  if (scan.Accept("Tt ")) {
    if (!ScanClock(scan, seconds, nanos)) return false;
    scan.Accept(" ");
    if (!ScanOffset(scan, seconds)) return false;
  }
  return scan.done();
}

absl::Status TooFar(std::string_view text) {
  return absl::InvalidArgumentError(absl::StrFormat("%s is too far from 1970 for its unit", text));
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

absl::StatusOr<int64_t> ParseTime(std::string_view text, TimeUnit unit) {
  Scanner scan(text);
  int64_t seconds = 0;
  int64_t nanos = 0;
  if (!ScanTime(scan, seconds, nanos)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("'%s' is not a time such as 2026-11-24T22:45:02.125Z", text));
  }
  const int64_t scale = UnitsPerSecond(unit);
  const std::optional<int64_t> time = Add(Multiply(seconds, scale), nanos / (kNanos / scale));
  if (!time) return TooFar(text);
  return *time;
}

bool IsEpoch(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
}

absl::StatusOr<int64_t> ParseEpoch(std::string_view text, TimeUnit from, TimeUnit to) {
  const bool negative = text.starts_with('-');
  const std::string_view number = text.substr(negative || text.starts_with('+') ? 1 : 0);
  const size_t digits = std::min(number.find('.'), number.size());
  int64_t whole = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + digits, whole);
  int64_t billionths = 0;
  bool more = false;
  Scanner scan(number.substr(digits));
  const bool fraction = !scan.Accept(".") || scan.Fraction(billionths, more);
  if (digits == 0 || whole < 0 || !fraction || !scan.done() || end != number.data() + digits) {
    return absl::InvalidArgumentError(absl::StrFormat("'%s' is not a time", text));
  }
  if (error != std::errc()) return TooFar(text);
  // Of a negative number the magnitude is rounded up.
  const int64_t up = negative ? 1 : 0;
  std::optional<int64_t> time;
  if (to >= from) {
    const int64_t scale = UnitsPerSecond(to) / UnitsPerSecond(from);
    const int64_t part = billionths * scale;
    const bool rest = part % kNanos != 0 || more;
    time = Add(Multiply(whole, scale), part / kNanos + (rest ? up : 0));
  } else {
    const int64_t scale = UnitsPerSecond(from) / UnitsPerSecond(to);
    const bool rest = whole % scale != 0 || billionths != 0 || more;
    time = whole / scale + (rest ? up : 0);
  }
  if (!time) return TooFar(text);
  return negative ? -*time : *time;
}

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
    put(time - seconds * scale, 3 * static_cast<int>(unit));
  }
  out += 'Z';
}

std::string FormatTime(int64_t time, TimeUnit unit) {
  std::string text;
  AppendTime(text, time, unit);
  return text;
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
