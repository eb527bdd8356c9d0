#include "engine/frame/files/watch_pool.h"

#include <algorithm>
#include <thread>

namespace cairn::frame {

absl::StatusOr<FileEvent> WatchPool::Lease::Wait(std::chrono::milliseconds timeout) const {
  if (watch_ != nullptr) return watch_->Wait(timeout);
  std::this_thread::sleep_for(std::min(timeout, std::chrono::milliseconds(1)));
  return FileEvent::kNone;
}

WatchPool::Lease WatchPool::Watch(std::shared_ptr<const File> file) {
  std::vector<std::unique_ptr<FileWatch>> old;  // ends when the lock is free again
  {
    const MutexLock lock(mutex_);
    if (file_.lock() != file || !owner_.is_here()) {
      file_ = file;
      owner_ = {};
      old.swap(idle_);
    }
    if (!idle_.empty()) {
      std::unique_ptr<FileWatch> watch = std::move(idle_.back());
      idle_.pop_back();
      return Lease(*this, std::move(file), std::move(watch));
    }
  }
  absl::StatusOr<std::unique_ptr<FileWatch>> watch = file->Watch();
  return Lease(*this, std::move(file), watch.ok() ? *std::move(watch) : nullptr);
}

void WatchPool::Return(const std::shared_ptr<const File>& file, std::unique_ptr<FileWatch> watch) {
  if (watch == nullptr) return;
  const MutexLock lock(mutex_);
  if (file_.lock() == file) idle_.push_back(std::move(watch));
}

}  // namespace cairn::frame
