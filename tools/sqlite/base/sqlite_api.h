// The functions of the SQLite that has loaded the extension, and no other SQLite's.
#ifndef CAIRN_TOOLS_SQLITE_BASE_SQLITE_API_H_
#define CAIRN_TOOLS_SQLITE_BASE_SQLITE_API_H_

#include <sqlite3ext.h>

// Defined in extension.cc, and set before anything else runs.
SQLITE_EXTENSION_INIT3

#endif  // CAIRN_TOOLS_SQLITE_BASE_SQLITE_API_H_
