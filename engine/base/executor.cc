#include "cairn/executor.h"

#include <algorithm>
#include <optional>
#include <pthread.h>
#include <vector>

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "engine/base/mutex.h"
#include "engine/base/owner_process.h"
#include "engine/base/thread.h"

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace cairn {

namespace {

// ThreadSanitizer does not see how libtbb waits. These calls tell it that tasks run after their
// caller's earlier work, and that the caller continues after the tasks. It still sees the tasks as
// unordered.
#if defined(__SANITIZE_THREAD__)
void Before(char* order) { __tsan_release(order); }
void After(char* order) { __tsan_acquire(order); }
#else
void Before(char* /*order*/) {}
void After(char* /*order*/) {}
#endif

// Returns the process that has TBB's threads. A child that is forked from it has none, and TBB
// would wait for them.
const OwnerProcess& ProcessOfTbb() {
  static const OwnerProcess process;
  return process;
}

// Returns true if the system starts the threads that libtbb will want, which ends the program where
// it gets none, as at a limit of processes. All of them are there at the same time, once.
bool MayStartThreads() {
  static const bool may = [] {
    Mutex mutex;
    std::vector<pthread_t> threads;
    const auto wanted = static_cast<size_t>(std::max(tbb::info::default_concurrency() - 1, 0));
    {
      const MutexLock lock(mutex);
      const auto wait = [](void* held) -> void* {
        const MutexLock until_all_are_there(*static_cast<Mutex*>(held));
        return nullptr;
      };
      for (size_t i = 0; i < wanted; ++i) {
        const std::optional<pthread_t> thread = StartThread(wait, &mutex);
        if (!thread.has_value()) break;
        threads.push_back(*thread);
      }
    }
    for (const pthread_t thread : threads) pthread_join(thread, nullptr);
    return threads.size() == wanted;
  }();
  return may;
}

class TbbExecutor final : public Executor {
 public:
  // The limit is there because TBB prints a warning if it is asked for more threads than there are.
  explicit TbbExecutor(int threads)
      : arena_(threads > 0 ? std::min(threads, tbb::info::default_concurrency())
                           : tbb::task_arena::automatic) {
    ProcessOfTbb();
  }

  int concurrency() const override { return HasThreads() ? arena_.max_concurrency() : 1; }

  void Run(int64_t ntasks, absl::FunctionRef<void(int64_t)> task) override {
    if (!HasThreads()) {
      for (int64_t i = 0; i < ntasks; ++i) task(i);
      return;
    }
    char begun = 0, ended = 0;  // stand for the order
    const auto run = [&](int64_t i) {
      After(&begun);
      task(i);
      Before(&ended);
    };
    Before(&begun);
    arena_.execute([&] { tbb::parallel_for(int64_t{0}, ntasks, run); });
    After(&ended);
  }

 private:
  static bool HasThreads() { return ProcessOfTbb().is_here() && MayStartThreads(); }

  tbb::task_arena arena_;
};

}  // namespace

std::shared_ptr<Executor> MakeThreadExecutor(int threads) {
  return std::make_unique<TbbExecutor>(threads);
}

}  // namespace cairn
