// Tells whether this process has forked.
#ifndef CAIRN_ENGINE_STORAGE_POSIX_FORK_OBSERVER_H_
#define CAIRN_ENGINE_STORAGE_POSIX_FORK_OBSERVER_H_

#include <cstdint>

namespace cairn::storage {

// Sees every fork() of this process that begins after the observer was made, and those under way at
// that moment. Children that the clone system call makes go unseen. A value; a copy has seen the
// same forks.
class ForkObserver {
 public:
  ForkObserver();
  bool saw_fork() const;

 private:
  uint64_t ended_;  // forks of the process
};

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_POSIX_FORK_OBSERVER_H_
