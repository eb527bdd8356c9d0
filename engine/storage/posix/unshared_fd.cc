#include "engine/storage/posix/unshared_fd.h"

#include <pthread.h>
#include <unistd.h>
#include <utility>

#include "engine/base/mutex.h"

namespace cairn::storage {

// The descriptors of the process. No thread holds the mutex while the process forks, so a child
// gets a whole list.
struct UnsharedFd::Registry {
  Mutex mutex;
  UnsharedFd* first ABSL_GUARDED_BY(mutex) = nullptr;

  static Registry& OfProcess() {
    // Never destroyed, because files may be closed until the very end of the process.
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): it is the process's
    static Registry& registry = *new Registry;
    // This fails if there is no memory. Children then get the descriptors.
    static const int ignored =
        ::pthread_atfork(nullptr, nullptr, [] { OfProcess().CloseInChild(); });
    static_cast<void>(ignored);
    return registry;
  }

  // The child has one thread.
  void CloseInChild() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    while (first != nullptr) {
      UnsharedFd& each = *std::exchange(first, first->after_);
      ::close(std::exchange(each.fd_, -1));
      each.before_ = each.after_ = nullptr;
    }
  }
};

void UnsharedFd::Open(absl::FunctionRef<UniqueFd()> open) {
  Registry& registry = Registry::OfProcess();
  const MutexLock lock(registry.mutex);
  fd_ = open().Release();
  if (!ok()) return;
  after_ = std::exchange(registry.first, this);
  if (after_ != nullptr) after_->before_ = this;
}

UniqueFd UnsharedFd::Release() {
  if (!ok()) return {};
  Registry& registry = Registry::OfProcess();
  const MutexLock lock(registry.mutex);
  (before_ == nullptr ? registry.first : before_->after_) = after_;
  if (after_ != nullptr) after_->before_ = before_;
  before_ = after_ = nullptr;
  return UniqueFd(std::exchange(fd_, -1));
}

}  // namespace cairn::storage
