// The VFS `cairn`: databases in frames, all other files where the default VFS puts them.
#ifndef CAIRN_TOOLS_SQLITE_VFS_VFS_H_
#define CAIRN_TOOLS_SQLITE_VFS_VFS_H_

#include "tools/sqlite/vfs/database_options.h"

namespace cairn::sqlite {

// Registers it for all connections of the process, for good, unless one of that name is there
// already. A result code of SQLite. The name lives as long as the process.
int RegisterVfs(const char* name = "cairn", const VfsOptions& options = {});

// Makes the registered VFS the one of connections that name none: new databases are frames, and
// those that are there stay what they are. A result code of SQLite.
int MakeVfsDefault(const char* name = "cairn");

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_VFS_VFS_H_
