#include "tools/sqlite/vfs/database_registry.h"

#include <utility>

#include "tools/sqlite/base/sqlite_api.h"
#include "tools/status.h"

namespace cairn::sqlite {

absl::StatusOr<std::shared_ptr<Database>> DatabaseRegistry::Open(const std::string& path,
                                                                 const DatabaseOptions& options) {
  if (options.generation.has_value()) return Database::Open(path, options, vfs_);
  const MutexLock lock(mutex_);
  std::weak_ptr<Database>& known = databases_[path];
  // The file may have been deleted or replaced since. Threads and locks do not outlive a fork.
  if (std::shared_ptr<Database> open = known.lock(); open != nullptr) {
    if (open->IsCurrent()) return open;
    open->CheckProcess().IgnoreError();  // the lock of a dead parent would be in the way
  }
  ASSIGN_OR_RETURN(std::shared_ptr<Database> database, Database::Open(path, options, vfs_));
  known = database;
  std::erase_if(databases_, [](const auto& entry) { return entry.second.expired(); });
  return database;
}

std::string DatabaseRegistry::TemporaryFolder() const {
  const MutexLock lock(mutex_);
  for (const auto& [name, database] : journals_) {
    if (!database->options().tmpdir.empty()) return database->options().tmpdir;
  }
  return {};
}

std::shared_ptr<const void> DatabaseRegistry::NoteJournals(const char* name,
                                                           std::shared_ptr<Database> database) {
  const MutexLock lock(mutex_);
  const char* const journal = sqlite3_filename_journal(name);
  const char* const log = sqlite3_filename_wal(name);
  journals_[journal] = journals_[log] = std::move(database);
  return std::shared_ptr<const void>(journal, [this, journal, log](const void*) {
    std::shared_ptr<Database> last;  // destroyed after the lock is released
    const MutexLock lock(mutex_);
    last.swap(journals_[journal]);
    journals_.erase(journal);
    journals_.erase(log);
  });
}

std::shared_ptr<Database> DatabaseRegistry::OfJournal(const char* name) const {
  const MutexLock lock(mutex_);
  const auto found = journals_.find(name);
  return found == journals_.end() ? nullptr : found->second;
}

}  // namespace cairn::sqlite
