// Columns of a table: the form of their values in SQLite.
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
