#include "cairn/time_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <limits>
#include <string>

#include "absl/numeric/int128.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"

#include "engine/base/status.h"
#include "engine/log/schema/relative_time.h"
#include "engine/log/schema/zone.h"

namespace cairn {

namespace {

constexpr int64_t kBillion = 1'000'000'000;
constexpr int64_t kSecondsOfDay = 86'400;
constexpr std::array<TimeUnit, 4> kTimeUnits = {TimeUnit::kSeconds, TimeUnit::kMilliseconds,
                                                TimeUnit::kMicroseconds, TimeUnit::kNanoseconds};

std::string_view UnitWord(TimeUnit unit) {
  constexpr std::array<std::string_view, 4> kWords = {"s", "ms", "us", "ns"};
  return kWords[static_cast<size_t>(unit)];
}

bool IsDecimal(char c) { return c >= '0' && c <= '9'; }

// A number of units since 1970, in billionths of the unit.
struct Instant {
  absl::int128 billionths = 0;
  bool more = false;  // true if there is more, but less than a billionth
};

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
  // Accepts the rest of the text, in upper or lower case.
  bool AcceptWord(std::string_view word) {
    if (absl::AsciiStrToLower(std::string(rest_)) != word) return false;
    rest_ = {};
    return true;
  }
  // Reads exactly `count` digits.
  bool Number(size_t count, int64_t& number) {
    number = 0;
    if (rest_.size() < count) return false;
    for (const char c : rest_.substr(0, count)) {
      if (!IsDecimal(c)) return false;
      number = number * 10 + (c - '0');
    }
    rest_.remove_prefix(count);
    return true;
  }
  // Reads the digits after a decimal point, as billionths. Sets `more` if other digits than zeros
  // follow them.
  bool Fraction(int64_t& billionths, bool& more) {
    const size_t size = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    billionths = 0;
    for (size_t i = 0; i < 9; ++i) {
      billionths = billionths * 10 + (i < size ? rest_[i] - '0' : 0);
    }
    more = size > 9 && rest_.substr(9, size - 9).find_first_not_of('0') != std::string_view::npos;
    rest_.remove_prefix(size);
    return size > 0;
  }

 private:
  std::string_view rest_;
};

bool SetDate(int64_t year, int64_t month, int64_t day, int64_t& seconds) {
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(year)),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return false;
  seconds = std::chrono::sys_days(date).time_since_epoch().count() * kSecondsOfDay;
  return true;
}

// Reads "2026-11-24", or "20261124" if a clock follows. Sets `basic` for the latter.
bool ScanDate(Scanner& scan, int64_t& seconds, bool& basic) {
  int64_t year = 0;
  int64_t month = 0;
  int64_t day = 0;
  if (!scan.Number(4, year)) return false;
  basic = !scan.Accept("-");
  if (!scan.Number(2, month) || (!basic && !scan.Accept("-")) || !scan.Number(2, day)) return false;
  return SetDate(year, month, day, seconds);
}

bool ScanClock(Scanner& scan, bool basic, int64_t& seconds, int64_t& nanos, bool& more) {
  int64_t hour = 0;
  int64_t minute = 0;
  int64_t second = 0;
  const auto goes_on = [&] { return basic ? IsDecimal(scan.next()) : scan.Accept(":"); };
  if (!scan.Number(2, hour) || !goes_on() || !scan.Number(2, minute)) return false;
  if (goes_on()) {
    if (!scan.Number(2, second)) return false;
    if (scan.Accept(".,") && !scan.Fraction(nanos, more)) return false;
  }
  seconds += hour * 3600 + minute * 60 + second;
  // 60 is a leap second, and 24:00 is the end of a day.
  const bool end = hour == 24 && minute + second + nanos == 0 && !more;
  return second <= 60 && minute < 60 && (hour < 24 || end);
}

// Sets `local` if there is no offset.
bool ScanOffset(Scanner& scan, int64_t& seconds, bool& local) {
  local = scan.done();
  if (local || scan.AcceptWord("z") || scan.AcceptWord("utc")) return true;
  const int64_t sign = scan.next() == '-' ? -1 : 1;
  int64_t hours = 0;
  int64_t minutes = 0;
  int64_t rest = 0;  // seconds, which some zones had once
  if (!scan.Accept("+-") || !scan.Number(2, hours)) return false;
  const bool colon = scan.Accept(":");
  if ((colon || !scan.done()) && !scan.Number(2, minutes)) return false;
  if (colon && scan.Accept(":") && !scan.Number(2, rest)) return false;
  seconds -= sign * (hours * 3600 + minutes * 60 + rest);
  return hours < 24 && minutes < 60 && rest < 60;
}

bool ScanTime(std::string_view text, std::string_view time_zone, const absl::TimeZone& zone,
              Instant& instant) {
  Scanner scan(text);
  int64_t seconds = 0;
  int64_t nanos = 0;
  bool basic = false;
  bool local = true;
  if (!ScanDate(scan, seconds, basic)) return false;
  if (scan.Accept("Tt ")) {
    if (!ScanClock(scan, basic, seconds, nanos, instant.more)) return false;
    scan.Accept(" ");
    if (!ScanOffset(scan, seconds, local)) return false;
  } else if (basic) {
    return false;
  }
  if (local && !time_zone.empty()) {
    const absl::CivilSecond shown = absl::CivilSecond(1970) + seconds;
    seconds = absl::ToUnixSeconds(log::FirstInstant(zone, shown));
  }
  instant.billionths = absl::int128(seconds) * kBillion + nanos;
  return scan.done();
}

bool IsNumberText(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos &&
         text != ".";
}

absl::Status NotATime(std::string_view text) {
  return InvalidArgument("'%s' is not a time such as 2026-11-24T22:45:02.125Z", text);
}
absl::Status TooFar(std::string_view text, TimeUnit unit) {
  return InvalidArgument("%s is too far from 1970 for a count of %s", text, UnitWord(unit));
}
absl::Status IsDateToo(std::string_view text, TimeUnit unit) {
  return InvalidArgument(
      "%s reads as a date and as a count of %s: write dates as 2026-11-24, or say the unit of "
      "numbers",
      text, UnitWord(unit));
}

absl::StatusOr<Instant> ScanNumber(std::string_view text, TimeUnit unit) {
  const bool negative = text.starts_with('-');
  const std::string_view number = text.substr(negative || text.starts_with('+') ? 1 : 0);
  const size_t digits = std::min(number.find('.'), number.size());
  int64_t whole = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + digits, whole);
  int64_t billionths = 0;
  Instant instant;
  Scanner scan(number.substr(digits));
  const bool fraction = !scan.Accept(".") || scan.Fraction(billionths, instant.more);
  if (digits == 0 || !fraction || !scan.done() || end != number.data() + digits) {
    return NotATime(text);
  }
  if (error != std::errc()) return TooFar(text, unit);
  instant.billionths = absl::int128(whole) * kBillion + billionths;
  if (negative) instant.billionths = -instant.billionths - (instant.more ? 1 : 0);
  return instant;
}

// Converts a count of `from` to a count of `to`.
absl::StatusOr<int64_t> Round(std::string_view text, const Instant& instant, TimeUnit from,
                              TimeUnit to, TimeRounding rounding) {
  const absl::int128 number = instant.billionths * UnitsPerSecond(to);
  const absl::int128 unit = absl::int128(kBillion) * UnitsPerSecond(from);
  absl::int128 count = number / unit;
  absl::int128 rest = number % unit;
  if (rest < 0) {
    --count;
    rest += unit;
  }
  const bool between = rest > 0 || instant.more;
  if (between && rounding == TimeRounding::kExact) {
    return InvalidArgument("%s lies between two counts of %s", text, UnitWord(to));
  }
  if (between && rounding == TimeRounding::kUp) ++count;
  // The least count means no time.
  if (count <= std::numeric_limits<int64_t>::min() || count > std::numeric_limits<int64_t>::max()) {
    return TooFar(text, to);
  }
  return static_cast<int64_t>(count);
}

// Returns true for a time of our days, like most times that somebody writes as a number.
bool IsOfOurDays(const Instant& instant, TimeUnit unit) {
  constexpr int64_t kYear1990 = 631'152'000;
  constexpr int64_t kYear2100 = 4'102'444'800;
  const absl::int128 second = absl::int128(kBillion) * UnitsPerSecond(unit);
  return instant.billionths >= second * kYear1990 && instant.billionths < second * kYear2100;
}

// Returns true for a date of the years 1900 to 2199 in digits alone, with or without hour, minute
// and second, and with the fraction of a second: "20261124", "2026112410", "20261124100000",
// "20261124100000125". Spreadsheets add a sign, or a fraction of zeros.
bool ReadsAsDate(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const size_t size = std::min(text.find('.'), text.size());
  std::string digits(text.substr(0, size));
  constexpr size_t kToHour = 10;
  constexpr size_t kToSecond = 14;
  const bool whole = text.find_first_not_of(".0", size) == std::string_view::npos;
  if (!whole && size != kToSecond) return false;
  if (size == kToHour) digits += "00";
  const bool century =
      digits.starts_with("19") || digits.starts_with("20") || digits.starts_with("21");
  Scanner scan(digits);
  int64_t seconds = 0;
  int64_t nanos = 0;
  bool basic = false;
  bool more = false;
  if (!century || !ScanDate(scan, seconds, basic) || !basic) return false;
  if (!scan.done() && !ScanClock(scan, basic, seconds, nanos, more)) return false;
  if (!scan.done()) scan.Fraction(nanos, more);
  return scan.done();
}

// Refuses a number of a wrong unit, which would be stored as a time of 1970, or of a far future.
absl::Status CheckUnit(std::string_view text, const Instant& instant, TimeUnit unit) {
  for (const TimeUnit other : kTimeUnits) {
    if (!IsOfOurDays(instant, other)) continue;
    return InvalidArgument(
        "%s is a time of our days as a count of %s, not of %s: say the unit of numbers", text,
        UnitWord(other), UnitWord(unit));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int64_t> ParseTime(std::string_view text, TimeUnit unit,
                                  const TimeTextOptions& options) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  Instant instant;
  if (!IsNumberText(text)) {
    CAIRN_ASSIGN_OR_RETURN(const absl::TimeZone zone, log::LoadZone(options.time_zone));
    if (options.now.has_value() && log::IsRelative(text)) {
      return log::ParseRelative(text, unit, *options.now, zone);
    }
    if (!ScanTime(text, options.time_zone, zone, instant)) return NotATime(text);
    return Round(text, instant, TimeUnit::kSeconds, unit, options.rounding);
  }
  const TimeUnit from = options.number_unit.value_or(unit);
  const absl::StatusOr<Instant> number = ScanNumber(text, from);
  if (options.check_numbers && !(number.ok() && IsOfOurDays(*number, from))) {
    if (ReadsAsDate(text)) return IsDateToo(text, from);
    if (number.ok()) CAIRN_RETURN_IF_ERROR(CheckUnit(text, *number, from));
  }
  CAIRN_ASSIGN_OR_RETURN(instant, number);
  return Round(text, instant, from, unit, options.rounding);
}

}  // namespace cairn
