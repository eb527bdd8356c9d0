#include "engine/storage/posix/unshared_fd.h"

#include <mutex>
#include <pthread.h>
#include <unistd.h>
#include <utility>

namespace cairn::storage {

// Those of the process. Locked while it forks, so that a child gets a list that is whole.
struct UnsharedFd::Registry {
  std::mutex mutex;
  UnsharedFd* first = nullptr;

  static Registry& OfProcess() {
    // Never destroyed: files may be closed until the very end of the process.
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): it is the process's
    static Registry& registry = *new Registry;
    // It fails where there is no memory: then children get the descriptors.
    static const int ignored =
        ::pthread_atfork([] { OfProcess().mutex.lock(); }, [] { OfProcess().mutex.unlock(); },
                         [] { OfProcess().CloseInChild(); });
    static_cast<void>(ignored);
    return registry;
  }

  void CloseInChild() {
    while (first != nullptr) {
      UnsharedFd& each = *std::exchange(first, first->after_);
      ::close(std::exchange(each.fd_, -1));
      each.before_ = each.after_ = nullptr;
    }
    mutex.unlock();
  }
};

void UnsharedFd::Open(absl::FunctionRef<UniqueFd()> open) {
  Registry& registry = Registry::OfProcess();
  const std::lock_guard lock(registry.mutex);
  fd_ = open().Release();
  if (!ok()) return;
  after_ = std::exchange(registry.first, this);
  if (after_ != nullptr) after_->before_ = this;
}

UniqueFd UnsharedFd::Release() {
  if (!ok()) return {};
  Registry& registry = Registry::OfProcess();
  const std::lock_guard lock(registry.mutex);
  (before_ == nullptr ? registry.first : before_->after_) = after_;
  if (after_ != nullptr) after_->before_ = before_;
  before_ = after_ = nullptr;
  return UniqueFd(std::exchange(fd_, -1));
}

}  // namespace cairn::storage
