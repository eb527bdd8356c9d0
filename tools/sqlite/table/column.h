// Converts values of columns to and from SQLite's.
#ifndef CAIRN_TOOLS_SQLITE_TABLE_COLUMN_H_
#define CAIRN_TOOLS_SQLITE_TABLE_COLUMN_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "absl/status/status.h"

#include "cairn/types.h"
#include "tools/dtypes/column.h"
#include "tools/sqlite/base/sqlite_api.h"

namespace cairn::sqlite {

using dtypes::Column;
using dtypes::ColumnType;
using dtypes::kNoTime;

// Returns "INTEGER", "REAL", "TEXT" or "BLOB".
const char* SqlTypeOf(const Column& column);
// Makes the value at `at` of a column the result.
using ReturnFunction = void (*)(sqlite3_context* context, const Column& column,
                                const std::byte* at);
// Returns the function for the type, size and byte order of a column, because it is called for each
// value.
ReturnFunction ReturnFunctionOf(const Column& column);
// Returns the integer of a record. The column is kInt, kTime, or kUint of less than 8 bytes.
int64_t LoadInteger(const Column& column, std::span<const std::byte> record);
// Errors: kInvalidArgument for a value that the column cannot hold.
absl::Status StoreValue(const Column& column, sqlite3_value* value, std::byte* at);

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_TABLE_COLUMN_H_
