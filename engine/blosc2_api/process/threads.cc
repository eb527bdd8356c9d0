#include "engine/blosc2_api/process/threads.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"

namespace cairn::blosc2_api {

namespace {

// The tasks of one Run, which its jobs take one after the other.
struct Tasks {
  absl::FunctionRef<void(int64_t)> task;
  int64_t count;
  std::atomic<int64_t> next = 0;
};

void RunTasks(void* job) {
  Tasks& tasks = **static_cast<Tasks**>(job);
  for (int64_t i = tasks.next++; i < tasks.count; i = tasks.next++) tasks.task(i);
}

class CallbackExecutor final : public Executor {
 public:
  CallbackExecutor(const ThreadsCallback& callback, int nthreads)
      : callback_(callback), nthreads_(nthreads) {}

  int concurrency() const override { return nthreads_; }

  void Run(int64_t ntasks, absl::FunctionRef<void(int64_t)> task) override {
    Tasks tasks{.task = task, .count = ntasks};
    std::vector<Tasks*> jobs(static_cast<size_t>(std::min<int64_t>(nthreads_, ntasks)), &tasks);
    callback_.run(callback_.data, RunTasks, static_cast<int>(jobs.size()), sizeof(void*),
                  jobs.data());
  }

 private:
  const ThreadsCallback callback_;
  const int nthreads_;
};

}  // namespace

std::shared_ptr<Executor> MakeCallbackExecutor(const ThreadsCallback& callback, int nthreads) {
  return std::make_shared<CallbackExecutor>(callback, nthreads);
}

}  // namespace cairn::blosc2_api
