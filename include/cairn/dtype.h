// Dtype: a NumPy dtype as arrays and logs store it, which is the text that NumPy and people write.
#ifndef CAIRN_DTYPE_H_
#define CAIRN_DTYPE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/types.h"

namespace cairn {

// A type of values: a number, a time, a text, a record of fields, or an array of one of these.
struct CAIRN_EXPORT Dtype {
  enum class Kind : uint8_t {
    kBool,      // one byte, 0 or 1
    kInt,       // 1, 2, 4 or 8 bytes
    kUint,      // 1, 2, 4 or 8 bytes
    kFloat,     // 2, 4 or 8 bytes; 12 or 16 for a long double
    kComplex,   // two floats, the real part first: 8, 16, 24 or 32 bytes
    kTime,      // an int64 count of units since 1970-01-01T00:00:00; the least int64 means no time
    kDuration,  // an int64 count of units
    kBytes,     // zeros at the end do not count
    kText,      // four bytes a character (UCS-4); zeros at the end do not count
    kOpaque,    // raw bytes
    kRecord,    // `fields`
  };

  // Parses the text of a dtype: a short or long name ("<f4", "float32", "d",
  // "datetime64[us]", "timestamp[us]", "bytes[16]"), a list of fields ("[('time', '<M8[us]'),
  // ('temp', '<f4', (3,))]"), a dictionary of names, formats, offsets and itemsize, or a tuple of a
  // type and a shape. Errors:
  //   kInvalidArgument if the text does not have one of these forms, if a type does not exist in
  //     the size that it names, if fields do not fit into the record, or if a value would take more
  //     than 1 GiB.
  //   kUnimplemented if a type is not one of the above. Python's objects are not.
  static absl::StatusOr<Dtype> Parse(std::string_view text);

  // Returns how many elements an array has, 1 without a shape.
  [[nodiscard]] int64_t ElementCount() const;
  // Returns the bytes of the value: of all elements for an array.
  [[nodiscard]] int64_t TotalSize() const { return size * ElementCount(); }

  Kind kind = Kind::kOpaque;
  int64_t size = 0;  // bytes of one element
  bool big_endian = false;
  std::string unit = {};            // of a time or duration, such as "D" or "25us"; may be empty
  std::vector<int64_t> shape = {};  // of an array; empty for a single value

  std::vector<Dtype> fields = {};  // of a record, in the order in which the text lists them
  std::string name = {};           // of a field
  int64_t offset = 0;              // of a field: bytes from the start of its record
  std::string text = {};           // of a type with a name: this name, for messages
};

}  // namespace cairn

#endif  // CAIRN_DTYPE_H_
