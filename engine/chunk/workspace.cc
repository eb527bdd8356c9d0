#include "engine/chunk/workspace.h"

namespace cairn::chunk {

WorkspacePool::Lease WorkspacePool::Acquire() {
  std::unique_ptr<Workspace> workspace(warm_.exchange(nullptr, std::memory_order_acquire));
  if (workspace == nullptr) {
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
  Workspace* none = nullptr;
  if (warm_.compare_exchange_strong(none, workspace.get(), std::memory_order_release,
                                    std::memory_order_relaxed)) {
    // Now the pool's.
    static_cast<void>(workspace.release());
    return;
  }
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(workspace));
}

}  // namespace cairn::chunk
