#include "engine/chunk/parallel.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

namespace cairn::chunk {

namespace {

// Below this, waking a thread costs more than it saves.
constexpr int64_t kMinParallelBytes = 128 << 10;

// The error of the lowest block, so that the outcome does not depend on timing.
class FirstError {
 public:
  void Set(int64_t block, absl::Status status) {
    const std::lock_guard lock(mutex_);
    if (block < block_) {
      block_ = block;
      status_ = std::move(status);
    }
  }
  absl::Status Take() { return std::move(status_); }

 private:
  std::mutex mutex_;
  int64_t block_ = INT64_MAX;
  absl::Status status_;
};

}  // namespace

bool WorthThreads(const Executor* executor, int64_t nbytes, int64_t nblocks) {
  return executor != nullptr && nblocks > 1 && nbytes >= kMinParallelBytes &&
         executor->concurrency() > 1;
}

absl::Status ForEachBlock(BlockRange range, Executor* executor, WorkspacePool& pool,
                          BlockTask& task) {
  if (executor == nullptr) {
    const WorkspacePool::Lease workspace = pool.Acquire();
    absl::Status status = task.Prepare(*workspace);
    for (int64_t block = range.first; block < range.last && status.ok(); ++block) {
      status = task.Run(block, *workspace);
    }
    return status;
  }
  FirstError error;
  std::atomic<int64_t> next = range.first;
  const int64_t workers = std::min<int64_t>(executor->concurrency(), range.last - range.first);
  executor->Run(workers, [&](int64_t) {
    const WorkspacePool::Lease workspace = pool.Acquire();
    absl::Status status = task.Prepare(*workspace);
    int64_t block = range.first;
    while (status.ok()) {
      block = next.fetch_add(1);
      if (block >= range.last) return;
      status = task.Run(block, *workspace);
    }
    error.Set(block, std::move(status));
    next.store(range.last);  // blocks below the failed one are taken already
  });
  return error.Take();
}

}  // namespace cairn::chunk
