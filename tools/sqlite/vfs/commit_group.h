// Knows the databases that one transaction will commit.
#ifndef CAIRN_TOOLS_SQLITE_VFS_COMMIT_GROUP_H_
#define CAIRN_TOOLS_SQLITE_VFS_COMMIT_GROUP_H_

#include <utility>
#include <vector>

#include "engine/base/mutex.h"

namespace cairn::sqlite {

class DatabaseFile;

// A connection first writes each database of a transaction, and then commits each. So the files
// that it has written and not committed yet belong to one transaction. Thread-safe.
class CommitGroup {
 public:
  // Notes that `file` is written. Returns the other files of this connection. It is committing, so
  // no other thread uses them meanwhile.
  std::vector<DatabaseFile*> Enter(const void* connection, DatabaseFile* file);
  // Notes that `file` is committed or rolled back.
  void Leave(const DatabaseFile* file);

 private:
  Mutex mutex_;
  std::vector<std::pair<const void*, DatabaseFile*>> written_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_VFS_COMMIT_GROUP_H_
