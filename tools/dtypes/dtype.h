// Turns NumPy's dtypes into columns.
#ifndef CAIRN_TOOLS_DTYPES_DTYPE_H_
#define CAIRN_TOOLS_DTYPES_DTYPE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "tools/dtypes/column.h"

namespace cairn::dtypes {

// The column of items that are single values.
inline constexpr std::string_view kItemColumn = "item";

// Returns the columns of items of a dtype. Each field has one, also those of nested records, whose
// names are joined by `_`. An array in a record has one for each element, NAME_0 and so on, or a
// blob if there are over 64. A complex number has NAME_re and NAME_im. Single values are called
// `item_name`. Types that have no column type are blobs.
//
// Errors: those of Dtype::Parse; kInvalidArgument if the dtype does not describe `item_size` bytes.
absl::StatusOr<std::vector<Column>> ColumnsOfDtype(std::string_view dtype, int32_t item_size,
                                                   std::string_view item_name = kItemColumn);

struct Declaration {
  std::string name;
  std::string type;  // NumPy's short or long name
};
// Returns columns one after the other, without gaps. Errors: kInvalidArgument if they do not fit
// `item_size`.
absl::StatusOr<std::vector<Column>> ColumnsOfDeclarations(std::span<const Declaration> declared,
                                                          int32_t item_size);

// SQLite ignores case in names, so later ones of equal spelling get `_2` and so on.
void MakeNamesUnique(std::vector<Column>& columns);

}  // namespace cairn::dtypes

#endif  // CAIRN_TOOLS_DTYPES_DTYPE_H_
