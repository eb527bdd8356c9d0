#include "tools/cairn/records/values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "cairn/time_text.h"
#include "tools/cairn/text/times.h"

namespace cairn::tool {

namespace {

// Records are little endian.
template <typename T>
T Load(const std::byte* at) {
  std::array<std::byte, sizeof(T)> bytes;
  std::memcpy(bytes.data(), at, sizeof(T));
  if constexpr (std::endian::native == std::endian::big) std::ranges::reverse(bytes);
  return std::bit_cast<T>(bytes);
}

template <typename T>
void Store(T value, std::byte* at) {
  auto bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
  if constexpr (std::endian::native == std::endian::big) std::ranges::reverse(bytes);
  std::memcpy(at, bytes.data(), sizeof(T));
}

// Converts a number of IEEE 754 binary16.
float HalfToFloat(uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f;
  const int fraction = bits & 0x3ff;
  float value = std::ldexp(static_cast<float>(fraction), -24);
  if (exponent == 31) {
    value = fraction == 0 ? std::numeric_limits<float>::infinity()
                          : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent > 0) {
    value = std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

// Returns the nearest half, or the even one of two. Too large a number becomes infinite.
uint16_t DoubleToHalf(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return 0x7e00;
  const double magnitude = std::abs(value);
  if (magnitude >= 65520) return sign | 0x7c00;
  const int exponent = std::max(magnitude == 0 ? -14 : std::ilogb(magnitude), -14);
  // These are units of the last place. Those of the smallest exponent need no implicit bit.
  const auto units = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  return static_cast<uint16_t>(sign | (units + ((exponent + 14) << 10)));
}

template <typename T>
void StoreWhole(double value, std::byte* at) {
  // The bound above is a power of two, which a double can hold exactly.
  const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
  constexpr auto kLeast = static_cast<double>(std::numeric_limits<T>::min());
  T whole = value < end ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
  if (value >= kLeast && value < end) whole = static_cast<T>(value);
  Store(whole, at);
}

Number Signed(int64_t value) { return {.kind = Number::Kind::kInt, .i = value}; }
Number Unsigned(uint64_t value) { return {.kind = Number::Kind::kUint, .u = value}; }
Number Float(double value) { return {.kind = Number::Kind::kFloat, .f = value}; }

absl::Status NoValue(std::string_view text, std::string_view what) {
  return absl::InvalidArgumentError(absl::StrFormat("'%s' is not %s", text, what));
}

absl::Status OutOfRange(std::string_view text) {
  return absl::InvalidArgumentError(absl::StrFormat("%s is out of range", text));
}

// Returns true if a number that its type cannot hold is merely too near to 0. `value` then becomes
// 0.
template <typename T>
bool RoundsToLittle(std::string_view number, T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    const double rounded = std::strtod(std::string(number).c_str(), nullptr);
    value = static_cast<T>(std::abs(rounded) < 1 ? rounded : 0);
    return std::abs(rounded) < 1;
  }
  return false;
}

template <typename T>
absl::Status ParseNumber(std::string_view text, std::string_view what, std::byte* at) {
  std::string_view number = text;
  if (number.starts_with('+')) number.remove_prefix(1);
  const char* const end = number.data() + number.size();
  T value = 0;
  if constexpr (std::is_unsigned_v<T>) {
    std::array<std::byte, sizeof(T)> ignored;
    const bool negative = number.size() == text.size() && number.starts_with('-');
    // This is still a whole number, but one that the type cannot hold.
    if (negative && ParseNumber<T>(number.substr(1), what, ignored.data()).ok() &&
        number.find_first_not_of("-0") != std::string_view::npos) {
      return OutOfRange(text);
    }
  }
  const auto [rest, error] = std::from_chars(number.data(), end, value);
  if (rest != end || number.empty() || (text.size() != number.size() && number.front() == '-')) {
    return NoValue(text, what);
  }
  if (error != std::errc() && !RoundsToLittle(number, value)) return OutOfRange(text);
  Store(value, at);
  return absl::OkStatus();
}

absl::Status ParseHalf(std::string_view text, std::byte* at) {
  std::array<std::byte, sizeof(double)> bytes;
  if (absl::Status status = ParseNumber<double>(text, "a number", bytes.data()); !status.ok()) {
    return status;
  }
  const auto value = Load<double>(bytes.data());
  const uint16_t half = DoubleToHalf(value);
  if (std::isinf(HalfToFloat(half)) && !std::isinf(value)) return OutOfRange(text);
  Store(half, at);
  return absl::OkStatus();
}

absl::Status ParseBool(std::string_view text, std::byte* at) {
  const std::string word = absl::AsciiStrToLower(std::string(text));
  const bool truth = word == "true" || word == "t" || word == "1";
  if (!truth && word != "false" && word != "f" && word != "0") {
    return NoValue(text, "true or false");
  }
  *at = std::byte{truth};
  return absl::OkStatus();
}

// Returns the digits of a whole number that is written as a decimal one: "7.0", "-1.5e3". The
// number is exact, however large it is. Returns nothing for one with a fraction.
std::optional<std::string> DigitsOfWhole(std::string_view text) {
  constexpr int kMostZeros = 20;  // more than any integer has
  std::string digits = text.starts_with('-') ? "-" : "";
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const size_t sign = digits.size();
  size_t at = 0;
  const auto take_digits = [&] {
    const size_t begin = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') digits += text[at++];
    return at - begin;
  };
  const size_t whole = take_digits();
  size_t decimals = 0;
  if (at < text.size() && text[at] == '.') {
    ++at;
    decimals = take_digits();
  }
  int exponent = 0;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    const std::string_view rest = text.substr(at + (text.substr(at + 1).starts_with('+') ? 2 : 1));
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), exponent);
    if (end != rest.data() + rest.size() || error != std::errc()) return std::nullopt;
    at = text.size();
  }
  if (at != text.size() || whole + decimals == 0) return std::nullopt;
  if (digits.find_first_not_of('0', sign) == std::string::npos) return "0";
  int64_t zeros = exponent - static_cast<int64_t>(decimals);
  for (; zeros < 0 && digits.size() > sign + 1 && digits.back() == '0'; ++zeros) digits.pop_back();
  if (zeros < 0) return std::nullopt;
  digits.append(static_cast<size_t>(std::min<int64_t>(zeros, kMostZeros)), '0');
  return digits;
}

absl::Status ParseInteger(const Field& field, std::string_view text, std::byte* at);

absl::Status ParseWholeNumber(const Field& field, std::string_view text, std::byte* at) {
  absl::Status status = ParseInteger(field, text, at);
  if (status.ok() || text.find_first_of(".eE") == std::string_view::npos) return status;
  const std::optional<std::string> digits = DigitsOfWhole(text);
  return digits ? ParseInteger(field, *digits, at) : status;
}

absl::Status ParseInteger(const Field& field, std::string_view text, std::byte* at) {
  const bool is_signed = field.type == FieldType::kInt;
  constexpr std::string_view kWhole = "a whole number";
  switch (field.size) {
    case 1:
      return is_signed ? ParseNumber<int8_t>(text, kWhole, at)
                       : ParseNumber<uint8_t>(text, kWhole, at);
    case 2:
      return is_signed ? ParseNumber<int16_t>(text, kWhole, at)
                       : ParseNumber<uint16_t>(text, kWhole, at);
    case 4:
      return is_signed ? ParseNumber<int32_t>(text, kWhole, at)
                       : ParseNumber<uint32_t>(text, kWhole, at);
    default:
      return is_signed ? ParseNumber<int64_t>(text, kWhole, at)
                       : ParseNumber<uint64_t>(text, kWhole, at);
  }
}

absl::Status ParseFloat(const Field& field, std::string_view text, std::byte* at) {
  if (field.size == 2) return ParseHalf(text, at);
  return field.size == 4 ? ParseNumber<float>(text, "a number", at)
                         : ParseNumber<double>(text, "a number", at);
}

absl::Status ParseText(const Field& field, std::string_view text, std::byte* at) {
  const auto size = static_cast<size_t>(field.size);
  if (text.size() > size) {
    return absl::InvalidArgumentError(
        absl::StrFormat("a text of %d bytes, the field has %d", text.size(), size));
  }
  if (absl::Status status = CheckPaddedText(text); !status.ok()) return status;
  std::memset(at, 0, size);
  if (!text.empty()) std::memcpy(at, text.data(), text.size());
  return absl::OkStatus();
}

absl::Status ParseTimestamp(const Field& field, std::string_view text, const NumberTimes& numbers,
                            std::byte* at) {
  const absl::StatusOr<int64_t> time =
      ParseTime(text, field.unit, {.number_unit = numbers.unit, .check_numbers = !numbers.certain});
  if (absl::EndsWith(time.status().message(), "say the unit of numbers")) {
    return {time.status().code(), absl::StrCat(time.status().message(), " with --time-unit")};
  }
  if (!time.ok()) return time.status();
  Store(*time, at);
  return absl::OkStatus();
}

template <typename T>
void AppendNumber(std::string& out, T value) {
  std::array<char, 32> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  out.append(text.data(), end);
}

// Appends the fewest digits that read as the same half.
void AppendHalf(std::string& out, double value) {
  for (int digits = 1;; ++digits) {
    std::array<char, 32> text;
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value,
                                            std::chars_format::general, digits);
    double read = 0;
    std::from_chars(text.data(), end, read);
    constexpr int kEnough = 5;
    if (digits < kEnough && DoubleToHalf(read) != DoubleToHalf(value)) continue;
    out.append(text.data(), end);
    return;
  }
}

absl::StatusOr<int64_t> ParseWhole(std::string_view text) {
  std::array<std::byte, sizeof(int64_t)> bytes;
  const absl::Status status = ParseNumber<int64_t>(text, "a whole number", bytes.data());
  if (!status.ok()) return status;
  return Load<int64_t>(bytes.data());
}

}  // namespace

int64_t LoadInt64(const std::byte* at) { return Load<int64_t>(at); }
void StoreInt64(int64_t value, std::byte* at) { Store(value, at); }

std::vector<std::byte> ColumnOf(std::span<const int64_t> numbers) {
  std::vector<std::byte> column(numbers.size() * sizeof(int64_t));
  std::byte* at = column.data();
  for (const int64_t number : numbers) {
    StoreInt64(number, at);
    at += sizeof(int64_t);
  }
  return column;
}

Number LoadNumber(const Field& field, const std::byte* at) {
  switch (field.type) {
    case FieldType::kBytes:
      break;
    case FieldType::kBool:
      return Signed(*at == std::byte{0} ? 0 : 1);
    case FieldType::kTimestamp:
      return Signed(Load<int64_t>(at));
    case FieldType::kInt:
      return Signed(field.size == 1   ? Load<int8_t>(at)
                    : field.size == 2 ? Load<int16_t>(at)
                    : field.size == 4 ? Load<int32_t>(at)
                                      : Load<int64_t>(at));
    case FieldType::kUint:
      return Unsigned(field.size == 1   ? Load<uint8_t>(at)
                      : field.size == 2 ? Load<uint16_t>(at)
                      : field.size == 4 ? Load<uint32_t>(at)
                                        : Load<uint64_t>(at));
    case FieldType::kText:
      return Unsigned(Load<uint32_t>(at));
    case FieldType::kFloat:
      return Float(field.size == 2   ? HalfToFloat(Load<uint16_t>(at))
                   : field.size == 4 ? Load<float>(at)
                                     : Load<double>(at));
  }
  return {};
}

void StoreNumber(const Field& field, double value, std::byte* at) {
  switch (field.type) {
    case FieldType::kBytes:
      return;
    case FieldType::kBool:
      return Store<uint8_t>(value == 0 ? 0 : 1, at);
    case FieldType::kTimestamp:
      return StoreWhole<int64_t>(value, at);
    case FieldType::kInt:
      return field.size == 1   ? StoreWhole<int8_t>(value, at)
             : field.size == 2 ? StoreWhole<int16_t>(value, at)
             : field.size == 4 ? StoreWhole<int32_t>(value, at)
                               : StoreWhole<int64_t>(value, at);
    case FieldType::kText:
    case FieldType::kUint:
      return field.size == 1   ? StoreWhole<uint8_t>(value, at)
             : field.size == 2 ? StoreWhole<uint16_t>(value, at)
             : field.size == 4 ? StoreWhole<uint32_t>(value, at)
                               : StoreWhole<uint64_t>(value, at);
    case FieldType::kFloat:
      return field.size == 2   ? Store(DoubleToHalf(value), at)
             : field.size == 4 ? Store(static_cast<float>(value), at)
                               : Store(value, at);
  }
}

std::string_view LoadText(const Field& field, const std::byte* at) {
  std::string_view text(reinterpret_cast<const char*>(at), static_cast<size_t>(field.size));
  while (text.ends_with('\0')) text.remove_suffix(1);
  return text;
}

void AppendValue(std::string& out, const Field& field, const std::byte* at) {
  if (field.type == FieldType::kBytes) {
    out += LoadText(field, at);
    return;
  }
  const Number number = LoadNumber(field, at);
  if (field.type == FieldType::kTimestamp) {
    AppendTime(out, number.i, field.unit);
  } else if (field.type == FieldType::kBool) {
    out += number.i == 0 ? "false" : "true";
  } else if (number.kind == Number::Kind::kInt) {
    AppendNumber(out, number.i);
  } else if (number.kind == Number::Kind::kUint) {
    AppendNumber(out, number.u);
  } else if (std::isnan(number.f)) {
    out += "nan";  // its sign has no meaning
  } else if (field.size == 2) {
    AppendHalf(out, number.f);
  } else if (field.size == 8) {
    AppendNumber(out, number.f);
  } else {
    AppendNumber(out, static_cast<float>(number.f));
  }
}

absl::Status ParseValue(const Field& field, std::string_view text, const NumberTimes& numbers,
                        std::byte* at) {
  switch (field.type) {
    case FieldType::kBool:
      return ParseBool(text, at);
    case FieldType::kInt:
    case FieldType::kUint:
    case FieldType::kText:
      return ParseWholeNumber(field, text, at);
    case FieldType::kFloat:
      return ParseFloat(field, text, at);
    case FieldType::kTimestamp:
      return ParseTimestamp(field, text, numbers, at);
    case FieldType::kBytes:
      break;
  }
  return ParseText(field, text, at);
}

bool StoreMissing(const Field& field, std::byte* at) {
  switch (field.type) {
    case FieldType::kTimestamp:
      Store(kNoTime, at);
      return true;
    case FieldType::kFloat:
      return ParseFloat(field, "nan", at).ok();
    case FieldType::kBytes:
      return ParseText(field, "", at).ok();
    case FieldType::kText:
      Store(uint32_t{0}, at);
      return true;
    default:
      std::memset(at, 0, static_cast<size_t>(field.size));
      return false;
  }
}

absl::StatusOr<int64_t> ParseTimeOf(const Field& time, std::string_view text,
                                    std::string_view time_zone) {
  if (time.type != FieldType::kTimestamp) return ParseWhole(text);
  return ParseTime(text, time.unit,
                   {.rounding = TimeRounding::kUp, .time_zone = time_zone, .now = Now(time.unit)});
}

void AppendTimeOf(std::string& out, const Field& time, int64_t value) {
  if (time.type == FieldType::kTimestamp) {
    AppendTime(out, value, time.unit);
  } else {
    AppendNumber(out, value);
  }
}

std::string FormatTimeOf(const Field& time, int64_t value) {
  std::string text;
  AppendTimeOf(text, time, value);
  return text;
}

absl::StatusOr<int64_t> ParseDurationOf(const Field& time, std::string_view text) {
  if (time.type == FieldType::kTimestamp) return ParseDuration(text, time.unit);
  const absl::StatusOr<int64_t> whole = ParseWhole(text);
  if (!whole.ok() || *whole >= 0) return whole;
  return absl::InvalidArgumentError(absl::StrFormat("%s is less than 0", text));
}

std::string FormatDurationOf(const Field& time, int64_t duration) {
  return time.type == FieldType::kTimestamp ? FormatDuration(duration, time.unit)
                                            : absl::StrFormat("%d", duration);
}

std::string NameOf(const Field& field) { return field.name.empty() ? "value" : field.name; }

std::string TypeOf(const Field& field) {
  if (field.type == FieldType::kText) return "text";
  Field named = field;
  named.name = "x";
  const absl::StatusOr<Schema> schema = Schema::Make({std::move(named)});
  if (!schema.ok()) return "";
  constexpr std::string_view kBefore = "[('x', '";
  constexpr std::string_view kAfter = "')]";
  const std::string dtype = schema->ToDtype();
  return dtype.substr(kBefore.size(), dtype.size() - kBefore.size() - kAfter.size());
}

absl::StatusOr<const Field*> FindField(const std::vector<Field>& fields, std::string_view name,
                                       std::string_view option) {
  std::vector<std::string> names;
  for (const Field& field : fields) {
    if (NameOf(field) == name) return &field;
    names.push_back(NameOf(field));
  }
  return absl::NotFoundError(absl::StrFormat("%s%sno field '%s'; there are %s", option,
                                             option.empty() ? "" : ": ", name,
                                             absl::StrJoin(names, ", ")));
}

}  // namespace cairn::tool
