// Columns of a table: where a value lies in an item, and its form in SQLite.
#ifndef CAIRN_TOOLS_SQLITE_TABLE_COLUMN_H_
#define CAIRN_TOOLS_SQLITE_TABLE_COLUMN_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "absl/status/status.h"

#include "cairn/types.h"
#include "tools/sqlite/base/sqlite_api.h"

namespace cairn::sqlite {

enum class ColumnType : uint8_t {
  kBool,
  kInt,
  kUint,   // above the greatest int64 the nearest REAL
  kFloat,  // NaN is NULL
  kTime,   // a count of units as an int64; NumPy's NaT is NULL
  kText,   // bytes; zeros at the end do not count; a BLOB where they are no UTF-8
  kUcs4,   // likewise, of 4 bytes a character
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
  bool operator==(const Column&) const = default;
};

// "INTEGER", "REAL", "TEXT" or "BLOB".
const char* SqlTypeOf(const Column& column);
// Makes the value at `at` of a column the result.
using ReturnFunction = void (*)(sqlite3_context* context, const Column& column,
                                const std::byte* at);
// The one for the type, size and byte order of a column: it is called for each value.
ReturnFunction ReturnFunctionOf(const Column& column);
// The integer of a record: of kInt, kTime, and kUint of less than 8 bytes.
int64_t LoadInteger(const Column& column, std::span<const std::byte> record);
// kInvalidArgument for a value that the column cannot hold.
absl::Status StoreValue(const Column& column, sqlite3_value* value, std::byte* at);

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_TABLE_COLUMN_H_
