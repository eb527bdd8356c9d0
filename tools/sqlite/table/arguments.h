// What stands in the brackets of CREATE VIRTUAL TABLE name USING cairn(...).
#ifndef CAIRN_TOOLS_SQLITE_TABLE_ARGUMENTS_H_
#define CAIRN_TOOLS_SQLITE_TABLE_ARGUMENTS_H_

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "tools/dtypes/dtype.h"

namespace cairn::sqlite {

struct TableArguments {
  std::string path;
  std::vector<dtypes::Declaration> columns = {};  // empty: as the frame says
  std::string time_field = {};                    // empty: as the log says
  bool writable = false;
  std::chrono::milliseconds wait{0};  // for another writer
};

// 'PATH', NAME TYPE, ..., time=FIELD, writable=1, wait=MILLISECONDS. kInvalidArgument.
absl::StatusOr<TableArguments> ParseArguments(std::span<const char* const> arguments);

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_TABLE_ARGUMENTS_H_
