// Which generations are durable. Threads that wait for theirs share syncs.
#ifndef CAIRN_ENGINE_FRAME_SYNC_GROUP_SYNC_H_
#define CAIRN_ENGINE_FRAME_SYNC_GROUP_SYNC_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <tuple>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

#include "cairn/file_system.h"
#include "engine/base/mutex.h"
#include "engine/base/owner_process.h"

namespace cairn::frame {

// How far something goes in a frame's file.
struct CommitPoint {
  uint64_t generation = 0;
  int64_t end = 0;       // bytes of the file before this
  uint64_t journal = 0;  // base of the records that end there
};

// Thread-safe. One sync runs at a time, for the kernel reports a failed one to one caller only.
// After a failure nothing becomes durable any more.
class GroupSync {
 public:
  GroupSync() = default;
  // In a forked child, what the threads of its parent wait for stays: its end would wait for them.
  ~GroupSync() {
    if (!owner_.is_here()) std::ignore = ended_.release();
  }
  GroupSync(const GroupSync&) = delete;
  GroupSync& operator=(const GroupSync&) = delete;

  // So much is committed in this file, which may be another one, and so much of it is durable.
  void Begin(std::shared_ptr<File> file, const CommitPoint& committed, const CommitPoint& durable);
  // Makes durable what the file names, such as chunk files. Each sync begins with it.
  void SetNamedSync(std::function<absl::Status()> sync_named);
  // The writer is closed: all is durable, and the file is not needed any more.
  void End();
  // Another commit follows.
  void SetCommitted(const CommitPoint& point);
  // What is known to be durable, though not by a sync of this writer.
  void SetDurable(const CommitPoint& point);
  // Puts a step before the next sync, which then also covers sizes and names: `debt` writes again
  // what the commits so far build upon, where that may be in the page cache alone. Only the file
  // before `durable_end` is known to be durable. Takes the place of an earlier debt.
  void Owe(std::function<absl::Status()> debt, int64_t durable_end);
  // Returns true until a sync has paid the debt.
  bool owes() const { return owes_.load(std::memory_order_acquire); }

  CommitPoint durable() const;
  bool has_failed() const { return has_failed_.load(std::memory_order_acquire); }
  absl::Status failure() const;
  // Whether a thread has waited since the last call.
  bool TakeWasAwaited() {
    return was_awaited_.load(std::memory_order_relaxed) && was_awaited_.exchange(false);
  }

  // Only makes durable what the file will name.
  absl::Status SyncNamed();
  // Syncs all that was written before, which goes up to `point`.
  absl::Status Sync(const CommitPoint& point, SyncMode mode = SyncMode::kData);
  // Waits until a committed generation is durable; the first thread that waits syncs for all.
  absl::Status Await(uint64_t generation);

 private:
  // These two release the mutex while they sync.
  absl::Status RunAlone(absl::FunctionRef<absl::Status()> sync)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status SyncNow(CommitPoint point, SyncMode mode) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AwaitEnd() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SetDebt(std::function<absl::Status()> debt) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const OwnerProcess owner_;
  mutable Mutex mutex_;
  std::unique_ptr<CondVar> ended_ = std::make_unique<CondVar>();  // a sync
  std::shared_ptr<File> file_ ABSL_GUARDED_BY(mutex_);
  std::function<absl::Status()> sync_named_ ABSL_GUARDED_BY(mutex_) = absl::OkStatus;
  std::function<absl::Status()> debt_ ABSL_GUARDED_BY(mutex_);  // empty: none
  CommitPoint committed_ ABSL_GUARDED_BY(mutex_);
  CommitPoint durable_ ABSL_GUARDED_BY(mutex_);
  bool is_syncing_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  // What each commit asks, without the mutex.
  std::atomic<bool> owes_ = false;
  std::atomic<bool> has_failed_ = false;
  std::atomic<bool> was_awaited_ = false;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_SYNC_GROUP_SYNC_H_
