#include "tools/sqlite/vfs/commit_group.h"

namespace cairn::sqlite {

std::vector<DatabaseFile*> CommitGroup::Enter(DatabaseFile* file) {
  const std::thread::id thread = std::this_thread::get_id();
  std::vector<DatabaseFile*> others;
  const std::lock_guard lock(mutex_);
  for (const auto& [its_thread, other] : written_) {
    if (its_thread == thread) others.push_back(other);
  }
  written_.emplace_back(thread, file);
  return others;
}

void CommitGroup::Leave(const DatabaseFile* file) {
  const std::lock_guard lock(mutex_);
  std::erase_if(written_, [file](const auto& entry) { return entry.second == file; });
}

}  // namespace cairn::sqlite
