// The databases that this process has open.
#ifndef CAIRN_TOOLS_SQLITE_VFS_DATABASE_REGISTRY_H_
#define CAIRN_TOOLS_SQLITE_VFS_DATABASE_REGISTRY_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

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
  // Whether a path is that of the rollback journal or the write-ahead log of an open database:
  // neither is ever on the disk.
  bool IsJournal(std::string_view path) const;

 private:
  const VfsOptions vfs_;
  mutable std::mutex mutex_;
  std::map<std::string, std::weak_ptr<Database>, std::less<>> databases_;
};

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_VFS_DATABASE_REGISTRY_H_
