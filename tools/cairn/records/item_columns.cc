#include "tools/cairn/records/item_columns.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "tools/cairn/records/values.h"
#include "tools/dtypes/dtype.h"
#include "tools/dtypes/utf8.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

using dtypes::Column;
using dtypes::ColumnType;

// The column of a single value, as for those of logs.
constexpr std::string_view kValueColumn = "value";

// The bytes of the longest date as text.
constexpr int32_t kDateSize = 64;

// The unit of a time: `count` units, each `seconds` or a fraction of one second.
struct DateUnit {
  std::string_view name;
  int64_t seconds = 0;     // seconds of a unit; 0: less than one
  int64_t per_second = 0;  // units of a second; 0: a second or more
  int digits = 0;          // digits of the fraction of a second
};
constexpr DateUnit kDateUnits[] = {
    {"W", int64_t{7} * 86'400, 0, 0},
    {"D", 86'400, 0, 0},
    {"h", 3'600, 0, 0},
    {"m", 60, 0, 0},
    {"s", 1, 0, 0},
    {"ms", 0, 1'000, 3},
    {"us", 0, 1'000'000, 6},
    {"ns", 0, 1'000'000'000, 9},
    {"ps", 0, 1'000'000'000'000, 12},
    {"fs", 0, 1'000'000'000'000'000, 15},
    {"as", 0, 1'000'000'000'000'000'000, 18},
};

int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// Appends the day of a number of days since 1970, in the calendar that NumPy extends to all years.
void AppendDay(std::string& out, int64_t days) {
  const int64_t z = days + 719'468;
  const int64_t era = FloorDiv(z, 146'097);
  const int64_t of_era = z - era * 146'097;
  const int64_t year = (of_era - of_era / 1'460 + of_era / 36'524 - of_era / 146'096) / 365;
  const int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
  const int64_t month = (5 * of_year + 2) / 153;
  const int64_t day = of_year - (153 * month + 2) / 5 + 1;
  const bool next = month >= 10;
  absl::StrAppendFormat(&out, "%04d-%02d-%02d", year + era * 400 + (next ? 1 : 0),
                        next ? month - 9 : month + 3, day);
}

// Returns whole seconds since 1970, and the rest of one in units of it, as text.
std::string TextOfSeconds(int64_t seconds, int64_t rest, const DateUnit& unit) {
  std::string text;
  const int64_t days = FloorDiv(seconds, 86'400);
  const int64_t of_day = seconds - days * 86'400;
  AppendDay(text, days);
  absl::StrAppendFormat(&text, "T%02d", of_day / 3'600);
  if (unit.seconds == 3'600) return text;
  absl::StrAppendFormat(&text, ":%02d", of_day / 60 % 60);
  if (unit.seconds == 60) return text;
  absl::StrAppendFormat(&text, ":%02d", of_day % 60);
  if (unit.digits > 0) absl::StrAppendFormat(&text, ".%0*d", unit.digits, rest);
  return text;
}

// Returns a date as NumPy writes it, or the count if it has no date.
std::string TextOfDate(int64_t count, std::string_view unit) {
  if (count == dtypes::kNoTime) return "";
  int64_t step = 1;
  const auto [rest, error] = std::from_chars(unit.data(), unit.data() + unit.size(), step);
  if (error == std::errc()) unit.remove_prefix(static_cast<size_t>(rest - unit.data()));
  const std::string plain = absl::StrCat(count);
  int64_t units = 0;
  // Years past these have no date in any calendar that people use.
  constexpr int64_t kMost = int64_t{1} << 48;
  if (__builtin_mul_overflow(count, step, &units)) return plain;
  if (unit == "Y" || unit == "M") {
    if (units > kMost || units < -kMost) return plain;
    const int64_t months = unit == "Y" ? units * 12 : units;
    const int64_t year = 1970 + FloorDiv(months, 12);
    if (unit == "Y") return absl::StrFormat("%04d", year);
    return absl::StrFormat("%04d-%02d", year, months - FloorDiv(months, 12) * 12 + 1);
  }
  const auto* const known = std::ranges::find(kDateUnits, unit, &DateUnit::name);
  if (known == std::end(kDateUnits)) return plain;
  if (known->per_second > 0) {
    const int64_t seconds = FloorDiv(units, known->per_second);
    return TextOfSeconds(seconds, units - seconds * known->per_second, *known);
  }
  int64_t seconds = 0;
  if (units > kMost || units < -kMost || __builtin_mul_overflow(units, known->seconds, &seconds)) {
    return plain;
  }
  if (known->seconds < 86'400) return TextOfSeconds(seconds, 0, *known);
  std::string day;
  AppendDay(day, seconds / 86'400);
  return day;
}

// Returns the unit of a timestamp if a Schema has it, too.
std::optional<TimeUnit> TimestampUnit(std::string_view unit) {
  if (unit == "s") return TimeUnit::kSeconds;
  if (unit == "ms") return TimeUnit::kMilliseconds;
  if (unit == "us") return TimeUnit::kMicroseconds;
  if (unit == "ns") return TimeUnit::kNanoseconds;
  return std::nullopt;
}

Field FieldOf(const Column& column) {
  Field field = {.name = column.name, .size = column.size};
  switch (column.type) {
    case ColumnType::kBool:
      field.type = FieldType::kBool;
      break;
    case ColumnType::kInt:
      field.type = FieldType::kInt;
      break;
    case ColumnType::kUint:
      field.type = FieldType::kUint;
      break;
    case ColumnType::kFloat:
      field.type = FieldType::kFloat;
      break;
    case ColumnType::kTime:
      field.type = FieldType::kInt;
      if (column.is_duration) break;
      if (const auto unit = TimestampUnit(column.unit); unit.has_value()) {
        field.type = FieldType::kTimestamp;
        field.unit = *unit;
      } else if (!column.unit.empty()) {
        field.type = FieldType::kBytes;
        field.size = kDateSize;
      }
      break;
    case ColumnType::kText:
    case ColumnType::kUcs4:
      field.type = FieldType::kBytes;
      break;
    case ColumnType::kBlob:
      field.type = FieldType::kBytes;
      field.size = 2 * column.size;
      break;
  }
  return field;
}

// Copies the bytes of a number in the order of records, which is little endian on every host.
void CopyNumber(const Column& column, const std::byte* from, std::byte* to) {
  std::copy_n(from, column.size, to);
  if (column.big_endian) std::reverse(to, to + column.size);
}

void CopyText(std::string_view text, int32_t size, std::byte* to) {
  std::memcpy(to, text.data(), std::min(text.size(), static_cast<size_t>(size)));
}

uint32_t LoadCharacter(const Column& column, const std::byte* at) {
  std::array<std::byte, 8> bytes = {};
  Column character = column;
  character.size = 4;
  CopyNumber(character, at, bytes.data());
  return static_cast<uint32_t>(LoadInt64(bytes.data()));
}

void ConvertValue(const Column& column, const Field& field, const std::byte* from, std::byte* to) {
  switch (column.type) {
    case ColumnType::kText:
      std::copy_n(from, column.size, to);
      return;
    case ColumnType::kUcs4: {
      std::string text;
      for (int32_t i = 0; i + 4 <= column.size; i += 4) {
        dtypes::AppendUtf8(text, LoadCharacter(column, from + i));
      }
      return CopyText(text, field.size, to);
    }
    case ColumnType::kBlob: {
      constexpr std::string_view kDigits = "0123456789abcdef";
      for (int64_t i = 0; i < column.size; ++i) {
        const auto byte = std::to_integer<unsigned>(from[i]);
        to[2 * i] = static_cast<std::byte>(kDigits[byte >> 4]);
        to[2 * i + 1] = static_cast<std::byte>(kDigits[byte & 15]);
      }
      return;
    }
    case ColumnType::kTime:
      if (field.type == FieldType::kBytes) {
        std::array<std::byte, 8> count;
        CopyNumber(column, from, count.data());
        return CopyText(TextOfDate(LoadInt64(count.data()), column.unit), field.size, to);
      }
      [[fallthrough]];
    case ColumnType::kBool:
    case ColumnType::kInt:
    case ColumnType::kUint:
    case ColumnType::kFloat:
      CopyNumber(column, from, to);
  }
}

}  // namespace

void ItemColumns::Add(const Column& column) {
  Field field = FieldOf(column);
  field.offset = record_size_;
  record_size_ += field.size;
  fields_.push_back(std::move(field));
  columns_.push_back(column);
}

absl::StatusOr<ItemColumns> ItemColumns::Make(const std::string& dtype, int32_t item_size) {
  ItemColumns made;
  made.item_size_ = item_size;
  if (const absl::StatusOr<Schema> schema = Schema::FromDtype(dtype, item_size); schema.ok()) {
    made.fields_ = schema->fields();
    made.record_size_ = item_size;
    return made;
  }
  ASSIGN_OR_RETURN(const std::vector<Column> columns,
                   dtypes::ColumnsOfDtype(dtype, item_size, kValueColumn));
  for (const Column& column : columns) made.Add(column);
  return made;
}

std::vector<std::byte> ItemColumns::Convert(std::vector<std::byte> items) const {
  if (columns_.empty()) return items;
  const auto item_size = static_cast<size_t>(item_size_);
  const auto record_size = static_cast<size_t>(record_size_);
  const size_t count = items.size() / item_size;
  std::vector<std::byte> records(count * record_size);
  for (size_t i = 0; i < count; ++i) {
    for (size_t c = 0; c < columns_.size(); ++c) {
      ConvertValue(columns_[c], fields_[c], items.data() + i * item_size + columns_[c].offset,
                   records.data() + i * record_size + fields_[c].offset);
    }
  }
  return records;
}

}  // namespace cairn::tool
