// Tells whether this process has forked.
#ifndef CAIRN_ENGINE_STORAGE_POSIX_FORK_OBSERVER_H_
#define CAIRN_ENGINE_STORAGE_POSIX_FORK_OBSERVER_H_

#include <cstdint>

namespace cairn::storage {

// Sees every fork() of this process that begins after the observer was made, and every fork that
// was under way at that moment. It does not see children that the clone system call makes. A copy
// has seen the same forks.
class ForkObserver {
 public:
  ForkObserver();
  bool saw_fork() const;

 private:
  uint64_t ended_;  // forks of the process
};

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_POSIX_FORK_OBSERVER_H_
