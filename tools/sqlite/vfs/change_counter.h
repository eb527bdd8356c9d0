// The change counter of a database, in bytes 24 to 27 and 92 to 95 of its first page.
#ifndef CAIRN_TOOLS_SQLITE_VFS_CHANGE_COUNTER_H_
#define CAIRN_TOOLS_SQLITE_VFS_CHANGE_COUNTER_H_

#include <cstdint>

#include "cairn/types.h"

namespace cairn::sqlite {

// SQLite counts it up in each commit, for connections to see that the database is another one. The
// generation of a frame says that already: connections get the one before it as the counter, and a
// first page in which only the counter changes is not stored.

// In a database both places are before.
inline constexpr int64_t kChangeCounterEnd = 96;

// `begin`: the first kChangeCounterEnd bytes of a file. Does nothing to what is no database.
void PutChangeCounter(uint64_t counter, MutableBytes begin);

bool DiffersInChangeCounterAlone(Bytes page, Bytes other);

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_VFS_CHANGE_COUNTER_H_
