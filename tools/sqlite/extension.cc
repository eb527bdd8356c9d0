// What SQLite calls when it loads the extension: `.load cairn_sqlite`, sqlite3_load_extension.
#include <sqlite3ext.h>

#include "tools/sqlite/table/function_module.h"
#include "tools/sqlite/table/table_module.h"
#include "tools/sqlite/vfs/vfs.h"

SQLITE_EXTENSION_INIT1

// SQLite finds this name by that of the file.
extern "C" __attribute__((visibility("default"))) int sqlite3_cairnsqlite_init(
    sqlite3* db, char** /*message*/, const sqlite3_api_routines* api) {
  SQLITE_EXTENSION_INIT2(api)
  if (const int code = cairn::sqlite::RegisterTableModule(db); code != SQLITE_OK) return code;
  if (const int code = cairn::sqlite::RegisterFunctionModules(db); code != SQLITE_OK) return code;
  // The VFS belongs to the process, so the extension stays loaded when this connection closes.
  const int code = cairn::sqlite::RegisterVfs();
  return code == SQLITE_OK ? SQLITE_OK_LOAD_PERMANENTLY : code;
}
