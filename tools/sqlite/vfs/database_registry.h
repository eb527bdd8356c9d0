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

// Thread-safe.
class DatabaseRegistry {
 public:
  explicit DatabaseRegistry(const VfsOptions& vfs) : vfs_(vfs) {}

  // The one that connections share. Options of a database that is open already have no effect; one
  // with a generation is its connection's alone.
  absl::StatusOr<std::shared_ptr<Database>> Open(const std::string& path,
                                                 const DatabaseOptions& options);

  // The folder that an open database has for temporary files; empty where none has one.
  std::string TemporaryFolder() const;

  // Until the result is destroyed, the journal and the write-ahead log of `database` are known by
  // the names that SQLite has for them. `name` is what SQLite gives xOpen.
  //
  // The names are pointers. SQLite keeps the name of a database and those of the files beside it in
  // one piece of memory as long as it has the database open, and gives the VFS these very pointers.
  // So it is the open file that a journal belongs to. Its path says nothing: while a frame is open,
  // a database of SQLite's own may be renamed to its path, which needs its journals on the disk.
  std::shared_ptr<const void> NoteJournals(const char* name, std::shared_ptr<Database> database);
  // The database of a rollback journal or write-ahead log, neither of which is ever on the disk;
  // null for other files. Strings that SQLite has read in a super-journal are other files.
  std::shared_ptr<Database> OfJournal(const char* name) const;

 private:
  const VfsOptions vfs_;
  mutable Mutex mutex_;
  std::map<std::string, std::weak_ptr<Database>> databases_ ABSL_GUARDED_BY(mutex_);
  std::map<const char*, std::shared_ptr<Database>, std::less<>> journals_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_VFS_DATABASE_REGISTRY_H_
