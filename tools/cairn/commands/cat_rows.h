// Writes items as rows of named values, for cairn cat.
#ifndef CAIRN_TOOLS_CAIRN_COMMANDS_CAT_ROWS_H_
#define CAIRN_TOOLS_CAIRN_COMMANDS_CAT_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"

#include "cairn/snapshot.h"
#include "tools/cairn/flags/log_flags.h"
#include "tools/cairn/records/item_columns.h"

namespace cairn::tool {

struct RowSelection {
  int64_t first_item = 0;
  std::optional<int64_t> items;
  std::optional<std::string> box;
  std::optional<int64_t> max_bytes;
};

// Returns the type of the items: the one that the frame names, or `dtype` unless that is empty.
absl::StatusOr<ItemColumns> ItemColumnsOf(const Snapshot& snapshot, const std::string& dtype);

// Writes the selected items, one in each row. The items of an array with several dimensions come in
// C order, each after its indices.
absl::Status CatRows(const Snapshot& snapshot, const ItemColumns& items,
                     const RowSelection& selection, const OutputFlags& output);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_COMMANDS_CAT_ROWS_H_
