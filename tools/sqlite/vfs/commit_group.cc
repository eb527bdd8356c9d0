#include "tools/sqlite/vfs/commit_group.h"

namespace cairn::sqlite {

std::vector<DatabaseFile*> CommitGroup::Enter(const void* connection, DatabaseFile* file) {
  std::vector<DatabaseFile*> others;
  const MutexLock lock(mutex_);
  for (const auto& [its_connection, other] : written_) {
    if (its_connection == connection) others.push_back(other);
  }
  written_.emplace_back(connection, file);
  return others;
}

void CommitGroup::Leave(const DatabaseFile* file) {
  const MutexLock lock(mutex_);
  std::erase_if(written_, [file](const auto& entry) { return entry.second == file; });
}

}  // namespace cairn::sqlite
