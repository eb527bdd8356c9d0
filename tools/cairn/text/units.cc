#include "tools/cairn/text/units.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <limits>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace cairn::tool {

namespace {

struct Unit {
  std::string_view name;
  int64_t bytes;
};

constexpr std::array<Unit, 14> kUnits = {{
    {"", 1},
    {"b", 1},
    {"kib", int64_t{1} << 10},
    {"mib", int64_t{1} << 20},
    {"gib", int64_t{1} << 30},
    {"tib", int64_t{1} << 40},
    {"k", int64_t{1} << 10},
    {"m", int64_t{1} << 20},
    {"g", int64_t{1} << 30},
    {"t", int64_t{1} << 40},
    {"kb", 1'000},
    {"mb", 1'000'000},
    {"gb", 1'000'000'000},
    {"tb", 1'000'000'000'000},
}};

}  // namespace

absl::StatusOr<int64_t> ParseByteSize(std::string_view text) {
  int64_t number = -1;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool large = error == std::errc::result_out_of_range && !text.starts_with('-');
  if (large || (error == std::errc() && number >= 0)) {
    const std::string name = absl::AsciiStrToLower(std::string(rest, text.data() + text.size()));
    for (const Unit& unit : kUnits) {
      if (name != unit.name) continue;
      if (!large && number <= std::numeric_limits<int64_t>::max() / unit.bytes) {
        return number * unit.bytes;
      }
      return absl::OutOfRangeError(absl::StrFormat("%s is 2^63 bytes or more", text));
    }
  }
  return absl::InvalidArgumentError(
      absl::StrFormat("'%s' is not a byte size: expected a whole number with an optional unit such "
                      "as KiB, M or GB",
                      text));
}

std::string FormatByteSize(int64_t bytes) {
  constexpr std::array<const char*, 6> kNames = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return absl::StrFormat("%d B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  size_t name = 0;
  while (value >= 999.5 && name + 1 < kNames.size()) {
    value /= 1024;
    ++name;
  }
  const bool whole = value == static_cast<double>(static_cast<int64_t>(value));
  const int decimals = whole ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return absl::StrFormat("%.*f %s", decimals, value, kNames[name]);
}

std::string FormatRatio(int64_t large, int64_t small) {
  if (small <= 0) return "x-";
  return absl::StrFormat("x%.2f", static_cast<double>(large) / static_cast<double>(small));
}

std::string FormatCount(int64_t count, std::string_view noun) {
  return absl::StrFormat("%d %s%s", count, noun, count == 1 ? "" : "s");
}

std::string FormatRanges(const std::vector<int64_t>& numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    absl::StrAppend(&text, text.empty() ? "" : ", ", numbers[i]);
    if (end - i > 1) absl::StrAppend(&text, "-", numbers[end - 1]);
    i = end;
  }
  return text;
}

}  // namespace cairn::tool
