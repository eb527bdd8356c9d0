#include "engine/chunk/workspace.h"

#include <utility>

namespace cairn::chunk {

Workspace& WorkspacePool::AcquireAnother() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      Workspace* const workspace = idle_.back().release();
      idle_.pop_back();
      return *workspace;
    }
  }
  return *std::make_unique<Workspace>().release();
}

void WorkspacePool::ReturnAnother(Workspace& workspace) {
  std::unique_ptr<Workspace> returned(&workspace);
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(returned));
}

}  // namespace cairn::chunk
