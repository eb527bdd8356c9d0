#include "cairn/executor.h"

#include <algorithm>

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace cairn {

namespace {

// ThreadSanitizer does not see how libtbb waits: it is told that tasks run after what their caller
// did before, and that the caller goes on after them. Tasks stay unordered for it.
#if defined(__SANITIZE_THREAD__)
struct Ordering {
  static void BeforeTasks() { __tsan_release(&begun); }
  static void BeginTask() { __tsan_acquire(&begun); }
  static void EndTask() { __tsan_release(&ended); }
  static void AfterTasks() { __tsan_acquire(&ended); }

 private:
  static inline char begun, ended;  // stand for the order, never read
};
#else
struct Ordering {
  static void BeforeTasks() {}
  static void BeginTask() {}
  static void EndTask() {}
  static void AfterTasks() {}
};
#endif

class TbbExecutor final : public Executor {
 public:
  // TBB prints a warning when it is asked for more than there are.
  explicit TbbExecutor(int threads)
      : arena_(threads > 0 ? std::min(threads, tbb::info::default_concurrency())
                           : tbb::task_arena::automatic) {}

  int concurrency() const override { return arena_.max_concurrency(); }

  void Run(int64_t ntasks, absl::FunctionRef<void(int64_t)> task) override {
    const auto run = [&](int64_t i) {
      Ordering::BeginTask();
      task(i);
      Ordering::EndTask();
    };
    Ordering::BeforeTasks();
    arena_.execute([&] { tbb::parallel_for(int64_t{0}, ntasks, run); });
    Ordering::AfterTasks();
  }

 private:
  tbb::task_arena arena_;
};

}  // namespace

std::unique_ptr<Executor> MakeThreadExecutor(int threads) {
  return std::make_unique<TbbExecutor>(threads);
}

}  // namespace cairn
