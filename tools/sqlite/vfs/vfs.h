// The VFS `cairn`: databases in frames, all other files where the default VFS puts them.
#ifndef CAIRN_TOOLS_SQLITE_VFS_VFS_H_
#define CAIRN_TOOLS_SQLITE_VFS_VFS_H_

namespace cairn::sqlite {

// Registers it for all connections of the process, for good, unless it is there already. A result
// code of SQLite.
int RegisterVfs();

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_VFS_VFS_H_
