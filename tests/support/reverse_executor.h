// An executor that does everything in an unusual order.
#ifndef CAIRN_TESTS_SUPPORT_REVERSE_EXECUTOR_H_
#define CAIRN_TESTS_SUPPORT_REVERSE_EXECUTOR_H_

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "cairn/executor.h"

namespace cairn {

// Runs the last task first, on `threads` threads, none of which is the calling one.
class ReverseExecutor final : public Executor {
 public:
  explicit ReverseExecutor(int threads) : threads_(threads) {}

  int concurrency() const override { return threads_; }

  // Returns how often Run was called.
  int64_t runs() const { return runs_; }

  void Run(int64_t ntasks, absl::FunctionRef<void(int64_t)> task) override {
    ++runs_;
    std::vector<std::thread> threads;
    for (int64_t t = 0; t < threads_; ++t) {
      threads.emplace_back([=, this] {
        for (int64_t i = ntasks - 1 - t; i >= 0; i -= threads_) task(i);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

 private:
  int threads_;
  std::atomic<int64_t> runs_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_TESTS_SUPPORT_REVERSE_EXECUTOR_H_
