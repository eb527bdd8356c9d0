// Table-valued functions about frames: cairn_info('FILE'), cairn_chunks('FILE') and
// cairn_history('FILE').
#ifndef CAIRN_TOOLS_SQLITE_TABLE_FUNCTION_MODULE_H_
#define CAIRN_TOOLS_SQLITE_TABLE_FUNCTION_MODULE_H_

#include "tools/sqlite/base/sqlite_api.h"

namespace cairn::sqlite {

// Returns a result code of SQLite.
int RegisterFunctionModules(sqlite3* db);

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_TABLE_FUNCTION_MODULE_H_
