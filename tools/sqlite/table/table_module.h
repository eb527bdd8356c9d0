// The module `cairn`: CREATE VIRTUAL TABLE name USING cairn('FILE').
#ifndef CAIRN_TOOLS_SQLITE_TABLE_TABLE_MODULE_H_
#define CAIRN_TOOLS_SQLITE_TABLE_TABLE_MODULE_H_

#include "tools/sqlite/base/sqlite_api.h"

namespace cairn::sqlite {

// Returns a result code of SQLite.
int RegisterTableModule(sqlite3* db);

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_TABLE_TABLE_MODULE_H_
