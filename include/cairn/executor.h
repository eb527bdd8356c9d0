// Executor: runs the blocks of a chunk in parallel.
#ifndef CAIRN_EXECUTOR_H_
#define CAIRN_EXECUTOR_H_

#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"

#include "cairn/types.h"

namespace cairn {

// Runs independent tasks.
//
// Implementations must be thread-safe, since several chunks may be coded at the same time. They
// must not throw, and neither may the codecs and filters of a registry.
class CAIRN_EXPORT Executor {
 public:
  virtual ~Executor() = default;

  // Returns the largest number of tasks that run at the same time, which is at least 1.
  virtual int concurrency() const = 0;

  // Calls task(0) … task(ntasks - 1), each of them once, in any order and on any thread. Returns
  // when all of them have returned.
  virtual void Run(int64_t ntasks, absl::FunctionRef<void(int64_t)> task) = 0;
};

// Runs all tasks in the calling thread.
class CAIRN_EXPORT InlineExecutor final : public Executor {
 public:
  int concurrency() const override { return 1; }
  void Run(int64_t ntasks, absl::FunctionRef<void(int64_t)> task) override {
    for (int64_t i = 0; i < ntasks; ++i) task(i);
  }
};

// Makes a pool of `threads` threads, including the calling thread. The pool has at most one thread
// per core; 0 means one per core. The threads end with the executor.
CAIRN_EXPORT std::shared_ptr<Executor> MakeThreadExecutor(int threads = 0);

}  // namespace cairn

#endif  // CAIRN_EXECUTOR_H_
