// Turns statuses into errors of virtual tables.
#ifndef CAIRN_TOOLS_SQLITE_TABLE_VTAB_H_
#define CAIRN_TOOLS_SQLITE_TABLE_VTAB_H_

#include <string>

#include "absl/status/status.h"

#include "tools/dtypes/utf8.h"
#include "tools/sqlite/base/result_code.h"
#include "tools/sqlite/base/sqlite_api.h"

namespace cairn::sqlite {

// Sets a message that SQLite frees, and returns the result code. The message may quote bytes of the
// file.
inline int SetMessage(char** message, const absl::Status& status) {
  if (status.ok()) return SQLITE_OK;
  sqlite3_free(*message);
  *message = sqlite3_mprintf(
      "%s", dtypes::ToUtf8({status.message().data(), status.message().size()}).c_str());
  return ResultCodeOf(status);
}

inline int Report(sqlite3_vtab* vtab, const absl::Status& status) {
  return SetMessage(&vtab->zErrMsg, status);
}

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_TABLE_VTAB_H_
