#include "engine/chunk/workspace.h"

namespace cairn::chunk {

WorkspacePool::Lease WorkspacePool::Acquire() {
  std::unique_ptr<Workspace> workspace;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      workspace = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (workspace == nullptr) workspace = std::make_unique<Workspace>();
  return Lease(*this, std::move(workspace));
}

void WorkspacePool::Return(std::unique_ptr<Workspace> workspace) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(workspace));
}

}  // namespace cairn::chunk
