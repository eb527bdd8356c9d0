// The change counter of a database, in bytes 24 to 27 and 92 to 95 of its first page.
#ifndef CAIRN_TOOLS_SQLITE_VFS_CHANGE_COUNTER_H_
#define CAIRN_TOOLS_SQLITE_VFS_CHANGE_COUNTER_H_

#include <cstdint>

#include "cairn/types.h"

namespace cairn::sqlite {

// SQLite increments it in each commit, so that connections see that the database has changed. The
// generation of a frame shows that already. So connections get the generation minus one as the
// counter, and a first page in which only the counter changes is not stored.

// Both places of the counter lie before this offset.
inline constexpr int64_t kChangeCounterEnd = 96;

// `begin` is the first kChangeCounterEnd bytes of a file. Does nothing if that is not a database.
void PutChangeCounter(uint64_t counter, MutableBytes begin);

bool DiffersInChangeCounterAlone(Bytes page, Bytes other);

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_VFS_CHANGE_COUNTER_H_
