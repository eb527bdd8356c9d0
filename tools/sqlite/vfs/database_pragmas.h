// Answers the PRAGMAs of databases in frames.
#ifndef CAIRN_TOOLS_SQLITE_VFS_DATABASE_PRAGMAS_H_
#define CAIRN_TOOLS_SQLITE_VFS_DATABASE_PRAGMAS_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

#include "tools/sqlite/vfs/database.h"

namespace cairn::sqlite {

// Answers PRAGMA cairn_info, cairn_history, cairn_verify, cairn_backup('path') with a text, which
// has a line for each fact. Returns nothing for a PRAGMA that SQLite answers itself. Errors:
// kInvalidArgument if the argument is missing, is not a path, leads to a file that exists, or is
// one too many.
std::optional<absl::StatusOr<std::string>> AnswerPragma(Database& database, std::string_view name,
                                                        std::optional<std::string_view> value);

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_VFS_DATABASE_PRAGMAS_H_
