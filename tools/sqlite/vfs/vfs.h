// The VFS `cairn`: databases are in frames, and all other files where the default VFS puts them.
#ifndef CAIRN_TOOLS_SQLITE_VFS_VFS_H_
#define CAIRN_TOOLS_SQLITE_VFS_VFS_H_

#include "tools/sqlite/vfs/database_options.h"

namespace cairn::sqlite {

// Registers the VFS for all connections of the process, for good, unless one of that name exists
// already. The name lives as long as the process. Returns a result code of SQLite.
int RegisterVfs(const char* name = "cairn", const VfsOptions& options = {});

// Makes the registered VFS that of connections that name none. New databases are then frames, and
// existing ones stay what they are. Returns a result code of SQLite.
int MakeVfsDefault(const char* name = "cairn");

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_VFS_VFS_H_
