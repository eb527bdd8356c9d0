// Schema: the fields of a record. A record is an item of named, typed fields, as a NumPy dtype
// describes it.
#ifndef CAIRN_RECORD_H_
#define CAIRN_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/types.h"

namespace cairn {

// The type of a field's values. All types are little-endian.
enum class FieldType : uint8_t {
  kBool,   // one byte, 0 or 1
  kInt,    // 1, 2, 4 or 8 bytes
  kUint,   // 1, 2, 4 or 8 bytes
  kFloat,  // 2, 4 or 8 bytes
  // An int64 count of units since 1970-01-01T00:00:00 UTC. The least int64 means no time (NaT).
  kTimestamp,
  kBytes,  // 1 to 65,535 bytes; zeros at the end do not count
  // A text of up to 65,535 bytes of UTF-8, without zeros, for texts that many records share. The
  // record holds a uint32 code, and the log the text of each code; see KeyTexts. Only logs have
  // this type. To other Blosc2 libraries it is an unsigned integer.
  kText,
};

// The unit of a timestamp.
enum class TimeUnit : uint8_t { kSeconds, kMilliseconds, kMicroseconds, kNanoseconds };
// Returns how many units a second has: 1 to 1,000,000,000.
constexpr int64_t UnitsPerSecond(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kSeconds:
      return 1;
    case TimeUnit::kMilliseconds:
      return 1'000;
    case TimeUnit::kMicroseconds:
      return 1'000'000;
    case TimeUnit::kNanoseconds:
      break;
  }
  return 1'000'000'000;
}

// Checks that a text would read as it was stored. Zeros fill up a field of fixed width, and no
// reader can tell them from zeros of the text.
// Errors: kInvalidArgument if the text ends with a zero.
CAIRN_EXPORT absl::Status CheckPaddedText(std::string_view text);

// A field of a record.
struct Field {
  std::string name;
  FieldType type = FieldType::kFloat;
  int32_t size = 8;                         // bytes of a value
  int32_t offset = 0;                       // bytes from the start of the record
  TimeUnit unit = TimeUnit::kMicroseconds;  // for a timestamp only
  bool operator==(const Field&) const = default;
};

// The fields of a record. A Schema is copyable and immutable.
class CAIRN_EXPORT Schema {
 public:
  Schema() = default;  // no fields
  // Makes a schema with these fields one after the other, without gaps. Ignores their offsets.
  // Errors: kInvalidArgument if a name is empty, is used twice or contains a control character, if
  // a type does not exist in the size of its field, or if the record is longer than 65,535 bytes.
  static absl::StatusOr<Schema> Make(std::vector<Field> fields);
  // Parses a field as the tool takes it: "time:timestamp[us]", "temp:f4", "host:bytes[16]". Types
  // are NumPy's short names (b1, i1 to i8, u1 to u8, f2 to f8) and long ones (bool, int8, float64),
  // and "text".
  // Errors: kInvalidArgument if the text does not have this form, or the name or the size is not
  // valid; kUnimplemented if there is no such type.
  static absl::StatusOr<Field> ParseField(std::string_view text);
  // Parses NumPy's description of a record: "[('time', '<M8[us]'), ('temp', '<f4')]", or a
  // dictionary with names, formats, offsets and itemsize. A plain type is a record of one field
  // without a name. Raw bytes, such as ('', '|V4'), are a gap.
  // Errors:
  //   kInvalidArgument if `dtype` is not a dtype, does not describe `record_size` bytes, or has
  //     names or sizes that Make would refuse.
  //   kUnimplemented if a record has no fields, or contains another record, an array, a big-endian
  //     number, an object or another type that FieldType does not have.
  static absl::StatusOr<Schema> FromDtype(std::string_view dtype, int32_t record_size);
  // Returns the schema in which these fields, which have the type u4, are texts.
  // Errors: kInvalidArgument if there is no such field, or it has another type.
  [[nodiscard]] absl::StatusOr<Schema> WithTexts(const std::vector<std::string>& names) const;
  // Returns the dtype of the record, which FromDtype reads. Texts have the type u4 in it.
  [[nodiscard]] std::string ToDtype() const;

  [[nodiscard]] const std::vector<Field>& fields() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return fields_;
  }
  // Returns the bytes of one record. They are more than the bytes of its fields if there are gaps.
  [[nodiscard]] int32_t record_size() const { return record_size_; }
  // Returns the field with this name. Returns null if no field has it.
  [[nodiscard]] const Field* Find(std::string_view name) const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  bool operator==(const Schema&) const = default;

 private:
  std::vector<Field> fields_;
  int32_t record_size_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_RECORD_H_
