// Columns of items: the place and the type of their values.
#ifndef CAIRN_TOOLS_DTYPES_COLUMN_H_
#define CAIRN_TOOLS_DTYPES_COLUMN_H_

#include <cstdint>
#include <limits>
#include <string>

namespace cairn::dtypes {

enum class ColumnType : uint8_t {
  kBool,
  kInt,
  kUint,
  kFloat,
  kTime,  // a number of units in an int64
  kText,  // bytes; zeros at the end do not count
  kUcs4,  // as kText, with 4 bytes for each character
  kBlob,
};

// NumPy's NaT.
inline constexpr int64_t kNoTime = std::numeric_limits<int64_t>::min();

struct Column {
  std::string name;
  ColumnType type = ColumnType::kBlob;
  int32_t offset = 0;  // bytes from the begin of the item
  int32_t size = 0;    // bytes
  bool big_endian = false;
  // The unit of a time in NumPy's words, such as "D" or "25us". Empty for other columns.
  std::string unit = {};
  bool is_duration = false;  // a time that does not count from a date
  bool operator==(const Column&) const = default;
};

}  // namespace cairn::dtypes

#endif  // CAIRN_TOOLS_DTYPES_COLUMN_H_
