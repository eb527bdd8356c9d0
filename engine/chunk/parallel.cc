#include "engine/chunk/parallel.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "engine/base/mutex.h"

namespace cairn::chunk {

namespace {

// Keeps the error of the lowest block, so that the outcome does not depend on timing. Thread-safe.
class FirstError {
 public:
  void Note(int64_t block, absl::Status status) {
    const MutexLock lock(mutex_);
    if (block < block_) status_ = std::move(status);
    block_ = std::min(block_, block);
  }
  absl::Status status() const {
    const MutexLock lock(mutex_);
    return status_;
  }

 private:
  mutable Mutex mutex_;
  int64_t block_ ABSL_GUARDED_BY(mutex_) = INT64_MAX;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

bool WorthThreads(const Executor* executor, int64_t nbytes, int64_t nblocks) {
  // Below this, waking a thread costs more than it saves.
  constexpr int64_t kMinParallelBytes = 128 << 10;
  return executor != nullptr && nblocks > 1 && nbytes >= kMinParallelBytes &&
         executor->concurrency() > 1;
}

absl::Status ForEachBlock(BlockRange range, Executor* executor, WorkspacePool& pool, Workspace& own,
                          absl::FunctionRef<absl::Status(Workspace&)> prepare,
                          absl::FunctionRef<absl::Status(int64_t block, Workspace&)> run) {
  if (executor == nullptr) {
    absl::Status status = prepare(own);
    for (int64_t block = range.first; block < range.last && status.ok(); ++block) {
      status = run(block, own);
    }
    return status;
  }
  FirstError first_error;
  std::atomic<int64_t> next = range.first;
  const int64_t workers = std::min<int64_t>(executor->concurrency(), range.last - range.first);
  executor->Run(workers, [&](int64_t) {
    const WorkspacePool::Lease workspace = pool.Acquire();
    absl::Status status = prepare(*workspace);
    int64_t block = range.first;
    while (status.ok()) {
      block = next.fetch_add(1);
      if (block >= range.last) return;
      status = run(block, *workspace);
    }
    next.store(range.last);  // blocks below the failed one are taken already
    first_error.Note(block, std::move(status));
  });
  return first_error.status();
}

}  // namespace cairn::chunk
