// Converts statuses of Cairn to SQLite's result codes.
#ifndef CAIRN_TOOLS_SQLITE_BASE_RESULT_CODE_H_
#define CAIRN_TOOLS_SQLITE_BASE_RESULT_CODE_H_

#include "absl/status/status.h"

namespace cairn::sqlite {

// Returns SQLITE_BUSY for another writer, SQLITE_FULL for a full disk or a limit, SQLITE_CORRUPT
// for damage, SQLITE_READONLY if writing is not possible, else SQLITE_IOERR or one of its kinds.
int ResultCodeOf(const absl::Status& status);
// Returns the code of ResultCodeOf, and tells the message to the log of SQLite (sqlite3_log).
int LogFailure(const absl::Status& status);

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_BASE_RESULT_CODE_H_
