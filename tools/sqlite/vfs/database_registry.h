// The databases that this process has open, and the names of their journals.
#ifndef CAIRN_TOOLS_SQLITE_VFS_DATABASE_REGISTRY_H_
#define CAIRN_TOOLS_SQLITE_VFS_DATABASE_REGISTRY_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

#include "engine/base/mutex.h"
#include "tools/sqlite/vfs/database.h"

namespace cairn::sqlite {

// Keeps the databases that this process has open. Thread-safe.
class DatabaseRegistry {
 public:
  explicit DatabaseRegistry(const VfsOptions& vfs) : vfs_(vfs) {}

  // Returns the database that connections share. Options of a database that is open already have no
  // effect. A database with a generation belongs to its connection alone.
  absl::StatusOr<std::shared_ptr<Database>> Open(const std::string& path,
                                                 const DatabaseOptions& options);

  // Returns the folder that an open database has for temporary files, or an empty one if none has
  // one.
  std::string TemporaryFolder() const;

  // Until the result is destroyed, the journal and the write-ahead log of `database` are known by
  // the names that SQLite has for them. `name` is what SQLite gives xOpen.
  //
  // The names are pointers. SQLite keeps the name of a database and those of the files next to it
  // in one piece of memory as long as it has the database open, and gives the VFS these very
  // pointers. So they tell which open file a journal belongs to. Its path does not: while a frame
  // is open, a database of SQLite's own may be renamed to its path, and that needs its journals on
  // the disk.
  std::shared_ptr<const void> NoteJournals(const char* name, std::shared_ptr<Database> database);
  // Returns the database of a rollback journal or write-ahead log, neither of which is ever on the
  // disk. Returns null for other files. Strings that SQLite has read in a super-journal are other
  // files.
  std::shared_ptr<Database> OfJournal(const char* name) const;

 private:
  const VfsOptions vfs_;
  mutable Mutex mutex_;
  std::map<std::string, std::weak_ptr<Database>> databases_ ABSL_GUARDED_BY(mutex_);
  std::map<const char*, std::shared_ptr<Database>, std::less<>> journals_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_VFS_DATABASE_REGISTRY_H_
