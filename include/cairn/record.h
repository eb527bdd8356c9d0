// Records: items of named, typed fields, as a NumPy dtype describes them.
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

// All are little endian.
enum class FieldType : uint8_t {
  kBool,       // one byte, 0 or 1
  kInt,        // of 1, 2, 4 or 8 bytes
  kUint,       // likewise
  kFloat,      // of 2, 4 or 8 bytes
  kTimestamp,  // an int64 count of units since 1970-01-01T00:00:00 UTC; the least int64 is no time
  kBytes,      // any number of bytes; zeros at the end do not count
};

enum class TimeUnit : uint8_t { kSeconds, kMilliseconds, kMicroseconds, kNanoseconds };
// 1 to 1,000,000,000.
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

// Checks that a text of a field reads as it was stored, where zeros fill up a field of fixed width.
// Errors: kInvalidArgument if the text ends with a zero, which no reader could tell from these.
CAIRN_EXPORT absl::Status CheckPaddedText(std::string_view text);

struct Field {
  std::string name;
  FieldType type = FieldType::kFloat;
  int32_t size = 8;                         // bytes
  int32_t offset = 0;                       // in the record, bytes
  TimeUnit unit = TimeUnit::kMicroseconds;  // of a timestamp
  bool operator==(const Field&) const = default;
};

// The fields of a record. Copyable, immutable.
class CAIRN_EXPORT Schema {
 public:
  Schema() = default;  // no fields
  // Fields one after the other, without gaps; their offsets do not matter. kInvalidArgument for a
  // name that is empty, comes twice or holds a control character; for a size that its type has not;
  // for a record of over 65,535 bytes.
  static absl::StatusOr<Schema> Make(std::vector<Field> fields);
  // Parses a field as the tool takes it: "time:timestamp[us]", "temp:f4", "host:bytes[16]". Types
  // are NumPy's short names (b1, i1 to i8, u1 to u8, f2 to f8) and long ones (bool, int8, float64).
  static absl::StatusOr<Field> ParseField(std::string_view text);
  // Parses NumPy's name of a record, "[('time', '<M8[us]'), ('temp', '<f4')]", or a dictionary with
  // names, formats, offsets and itemsize. A plain type is a record of one field without a name;
  // raw bytes, such as ('', '|V4'), are a gap.
  // kInvalidArgument for what is no dtype, or not of `record_size` bytes; kUnimplemented for nested
  // records, arrays in records, big endian numbers, objects and other types.
  static absl::StatusOr<Schema> FromDtype(std::string_view dtype, int32_t record_size);
  [[nodiscard]] std::string ToDtype() const;

  [[nodiscard]] const std::vector<Field>& fields() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return fields_;
  }
  // Bytes of one record; more than those of its fields where they have gaps.
  [[nodiscard]] int32_t record_size() const { return record_size_; }
  // Null for a name that no field has.
  [[nodiscard]] const Field* Find(std::string_view name) const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  bool operator==(const Schema&) const = default;

 private:
  std::vector<Field> fields_;
  int32_t record_size_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_RECORD_H_
