// Databases that one transaction is about to commit.
#ifndef CAIRN_TOOLS_SQLITE_VFS_COMMIT_GROUP_H_
#define CAIRN_TOOLS_SQLITE_VFS_COMMIT_GROUP_H_

#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace cairn::sqlite {

class DatabaseFile;

// SQLite commits all databases of a transaction in one thread: first it writes each, then it
// commits each. So the files that a thread has written and not committed yet belong to one
// transaction. Thread-safe.
class CommitGroup {
 public:
  // `file` is written. Returns the others of this thread.
  std::vector<DatabaseFile*> Enter(DatabaseFile* file);
  // `file` is committed, or rolled back.
  void Leave(const DatabaseFile* file);

 private:
  std::mutex mutex_;
  std::vector<std::pair<std::thread::id, DatabaseFile*>> written_;
};

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_VFS_COMMIT_GROUP_H_
