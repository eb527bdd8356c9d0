#include "tools/sqlite/vfs/database_registry.h"

#include "tools/status.h"

namespace cairn::sqlite {

absl::StatusOr<std::shared_ptr<Database>> DatabaseRegistry::Open(const std::string& path,
                                                                 const DatabaseOptions& options) {
  if (options.generation.has_value()) return Database::Open(path, options, vfs_);
  const std::lock_guard lock(mutex_);
  std::weak_ptr<Database>& known = databases_[path];
  // The file may have been deleted or replaced since; and threads and locks do not outlive a fork.
  if (std::shared_ptr<Database> open = known.lock(); open != nullptr && open->IsCurrent()) {
    return open;
  }
  ASSIGN_OR_RETURN(std::shared_ptr<Database> database, Database::Open(path, options, vfs_));
  known = database;
  std::erase_if(databases_, [](const auto& entry) { return entry.second.expired(); });
  return database;
}

bool DatabaseRegistry::IsJournal(std::string_view path) const {
  if (!path.ends_with("-journal") && !path.ends_with("-wal")) return false;
  path.remove_suffix(path.size() - path.rfind('-'));
  const std::lock_guard lock(mutex_);
  const auto it = databases_.find(path);
  return it != databases_.end() && !it->second.expired();
}

}  // namespace cairn::sqlite
