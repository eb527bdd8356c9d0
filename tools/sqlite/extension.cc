// Defines what SQLite calls when it loads the extension: `.load cairn_sqlite`,
// sqlite3_load_extension.
#include <sqlite3ext.h>

#include "tools/sqlite/table/function_module.h"
#include "tools/sqlite/table/table_module.h"
#include "tools/sqlite/vfs/vfs.h"

SQLITE_EXTENSION_INIT1

namespace {

// Older versions do not tell, by the names of journals, which file they belong to: see
// DatabaseRegistry.
constexpr int kOldestVersion = 3031000;

int Load(sqlite3* db, char** message) {
  if (sqlite3_libversion_number() < kOldestVersion) {
    *message =
        sqlite3_mprintf("cairn: expected SQLite 3.31 or newer, got %s", sqlite3_libversion());
    return SQLITE_ERROR;
  }
  if (const int code = cairn::sqlite::RegisterTableModule(db); code != SQLITE_OK) return code;
  if (const int code = cairn::sqlite::RegisterFunctionModules(db); code != SQLITE_OK) return code;
  return cairn::sqlite::RegisterVfs();
}

// The VFS belongs to the process, so the extension stays loaded when this connection closes.
int StayLoaded(int code) { return code == SQLITE_OK ? SQLITE_OK_LOAD_PERMANENTLY : code; }

}  // namespace

extern "C" {

// SQLite finds these names by those of the files cairn_sqlite and cairn_default.
__attribute__((visibility("default"))) int sqlite3_cairnsqlite_init(
    sqlite3* db, char** message, const sqlite3_api_routines* api) {
  SQLITE_EXTENSION_INIT2(api)
  return StayLoaded(Load(db, message));
}

// Loads the extension, and makes `cairn` the VFS of connections that name none. This is for
// programs that cannot be given a URI, or that connect before they load extensions.
__attribute__((visibility("default"))) int sqlite3_cairndefault_init(
    sqlite3* db, char** message, const sqlite3_api_routines* api) {
  SQLITE_EXTENSION_INIT2(api)
  const int code = Load(db, message);
  return StayLoaded(code == SQLITE_OK ? cairn::sqlite::MakeVfsDefault() : code);
}

}  // extern "C"
