// Parses the arguments in CREATE VIRTUAL TABLE name USING cairn(...).
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
  std::vector<dtypes::Declaration> columns = {};  // empty: those of the frame
  std::string time_field = {};                    // empty: that of the log
  bool writable = false;
  std::chrono::milliseconds wait{0};  // for another writer
};

// Parses 'PATH', NAME TYPE, ..., time=FIELD, writable=1, wait=MILLISECONDS. Errors:
// kInvalidArgument for anything else.
absl::StatusOr<TableArguments> ParseArguments(std::span<const char* const> arguments);

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_TABLE_ARGUMENTS_H_
