#include "cairn/executor.h"

#include <algorithm>

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace cairn {

namespace {

class TbbExecutor final : public Executor {
 public:
  // TBB prints a warning when it is asked for more than there are.
  explicit TbbExecutor(int threads)
      : arena_(threads > 0 ? std::min(threads, tbb::info::default_concurrency())
                           : tbb::task_arena::automatic) {}

  int concurrency() const override { return arena_.max_concurrency(); }

  void Run(int64_t ntasks, absl::FunctionRef<void(int64_t)> task) override {
    arena_.execute([&] { tbb::parallel_for(int64_t{0}, ntasks, [&](int64_t i) { task(i); }); });
  }

 private:
  tbb::task_arena arena_;
};

}  // namespace

std::unique_ptr<Executor> MakeThreadExecutor(int threads) {
  return std::make_unique<TbbExecutor>(threads);
}

}  // namespace cairn
