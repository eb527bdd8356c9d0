// NumPy's types as columns.
#ifndef CAIRN_TOOLS_SQLITE_TABLE_DTYPE_H_
#define CAIRN_TOOLS_SQLITE_TABLE_DTYPE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "tools/sqlite/table/column.h"

namespace cairn::sqlite {

// The column of items that are single values.
inline constexpr std::string_view kItemColumn = "item";

// The columns of items of a dtype: one for each field, also of nested records, whose names are
// joined by `_`; of an array in a record one for each element, NAME_0 and so on, a BLOB where these
// are over 64; of a complex number NAME_re and NAME_im. Types that SQLite has not are BLOBs.
// kInvalidArgument for what is no dtype, or not of `item_size` bytes.
absl::StatusOr<std::vector<Column>> ColumnsOfDtype(std::string_view dtype, int32_t item_size);

struct Declaration {
  std::string name;
  std::string type;  // NumPy's short or long name
};
// Columns one after the other, without gaps. kInvalidArgument.
absl::StatusOr<std::vector<Column>> ColumnsOfDeclarations(std::span<const Declaration> declared,
                                                          int32_t item_size);

// For SQLite names of one spelling are equal: the later ones get `_2` and so on.
void MakeNamesUnique(std::vector<Column>& columns);

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_TABLE_DTYPE_H_
