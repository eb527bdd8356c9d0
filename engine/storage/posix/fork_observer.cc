#include "engine/storage/posix/fork_observer.h"

#include <atomic>
#include <pthread.h>

namespace cairn::storage {

namespace {

// Counts of forks, which the C library reports. They are facts of the process, like its number.
struct Forks {
  std::atomic<uint64_t> begun = 0;
  std::atomic<uint64_t> ended = 0;
};

Forks& ForksOfProcess() {
  static Forks forks;
  static const bool counts = ::pthread_atfork([] { ++forks.begun; }, [] { ++forks.ended; },
                                              [] { forks.ended.store(forks.begun.load()); }) == 0;
  // no fork would be seen, so every observer says that it saw one
  if (!counts) forks.begun = UINT64_MAX;
  return forks;
}

}  // namespace

ForkObserver::ForkObserver() : ended_(ForksOfProcess().ended.load()) {}

bool ForkObserver::saw_fork() const { return ForksOfProcess().begun.load() != ended_; }

}  // namespace cairn::storage
