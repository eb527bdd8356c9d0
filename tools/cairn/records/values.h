// Converts values of fields from and to text.
#ifndef CAIRN_TOOLS_CAIRN_RECORDS_VALUES_H_
#define CAIRN_TOOLS_CAIRN_RECORDS_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/record.h"

namespace cairn::tool {

// NumPy's NaT, which means no time.
inline constexpr int64_t kNoTime = std::numeric_limits<int64_t>::min();

// A number of any type in one of these forms.
struct Number {
  enum class Kind : uint8_t { kInt, kUint, kFloat } kind = Kind::kInt;
  int64_t i = 0;
  uint64_t u = 0;
  double f = 0;
};

// Loads the value at `at` of a field that is not a text.
Number LoadNumber(const Field& field, const std::byte* at);
int64_t LoadInt64(const std::byte* at);
void StoreInt64(int64_t value, std::byte* at);
// Returns numbers in the form of a column of records.
std::vector<std::byte> ColumnOf(std::span<const int64_t> numbers);
// Stores a number in the field's type: rounded to a whole one, and within its bounds.
void StoreNumber(const Field& field, double value, std::byte* at);
// Returns true for bytes and for codes of texts.
inline bool IsText(const Field& field) {
  return field.type == FieldType::kBytes || field.type == FieldType::kText;
}
// Returns a text, without the zeros at its end.
std::string_view LoadText(const Field& field, const std::byte* at);

// Appends a value as shown: times in ISO 8601, floats with just the digits that tell them from
// others.
void AppendValue(std::string& out, const Field& field, const std::byte* at);

// The meaning of numbers that are times.
struct NumberTimes {
  std::optional<TimeUnit> unit = {};  // empty: the unit of the field
  bool certain = false;               // the user said so; otherwise a doubtful number is refused
};

// Errors: kInvalidArgument for a text that is not a value of the field. A field of type kText takes
// only codes.
absl::Status ParseValue(const Field& field, std::string_view text, const NumberTimes& numbers,
                        std::byte* at);
// Stores the value that means none, if the type has one: NaN, NaT, an empty text.
bool StoreMissing(const Field& field, std::byte* at);

// Converts times of a log from and to the form that users see: with a timestamp ISO 8601 or a
// count, also relative to now ("now-15m"), with an integer the number. A zone is that of texts that
// name none.
absl::StatusOr<int64_t> ParseTimeOf(const Field& time, std::string_view text,
                                    std::string_view time_zone = {});
void AppendTimeOf(std::string& out, const Field& time, int64_t value);
std::string FormatTimeOf(const Field& time, int64_t value);
// Converts the distance between two times.
absl::StatusOr<int64_t> ParseDurationOf(const Field& time, std::string_view text);
std::string FormatDurationOf(const Field& time, int64_t duration);

// Returns the name of a field. The one field of items that are plain numbers is "value".
std::string NameOf(const Field& field);
// Returns NumPy's name of its type, such as "<f4".
std::string TypeOf(const Field& field);
// Errors: kNotFound, with the names that exist. The message begins with the option, if there is
// one.
absl::StatusOr<const Field*> FindField(const std::vector<Field>& fields, std::string_view name,
                                       std::string_view option = {});

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_RECORDS_VALUES_H_
