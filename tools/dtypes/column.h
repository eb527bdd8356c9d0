// Columns of items: where their values lie, and of what type they are.
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
  kTime,  // a count of units as an int64
  kText,  // bytes; zeros at the end do not count
  kUcs4,  // likewise, of 4 bytes a character
  kBlob,
};

// NumPy's NaT.
inline constexpr int64_t kNoTime = std::numeric_limits<int64_t>::min();

struct Column {
  std::string name;
  ColumnType type = ColumnType::kBlob;
  int32_t offset = 0;  // in the item, bytes
  int32_t size = 0;    // bytes
  bool big_endian = false;
  // Of a time: NumPy's name of what it counts, such as "D" or "25us"; empty where it has none.
  std::string unit = {};
  bool is_duration = false;  // a time that counts from no date
  bool operator==(const Column&) const = default;
};

}  // namespace cairn::dtypes

#endif  // CAIRN_TOOLS_DTYPES_COLUMN_H_
