// Knows which generations are durable, and lets threads that wait for theirs share syncs.
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

// A position in the history of a frame's file.
struct CommitPoint {
  uint64_t generation = 0;
  int64_t end = 0;       // bytes of the file before this
  uint64_t journal = 0;  // base of the records that end there
};

// Syncs a frame's file. Thread-safe. One sync runs at a time, because the kernel reports a failed
// sync to one caller only. After a failed sync, no sync runs any more.
class GroupSync {
 public:
  GroupSync() = default;
  // In a forked child, leaves the condition that threads of the parent wait for: destroying it
  // would wait for them.
  ~GroupSync() {
    if (!owner_.is_here()) std::ignore = ended_.release();
  }
  GroupSync(const GroupSync&) = delete;
  GroupSync& operator=(const GroupSync&) = delete;

  // Begins with a file, which may be another one, with its commits up to `committed`, and with the
  // part of it up to `durable`, which is durable.
  void Begin(std::shared_ptr<File> file, const CommitPoint& committed, const CommitPoint& durable);
  // Sets the step that makes durable what the file names, such as chunk files. Each sync begins
  // with it.
  void SetNamedSync(std::function<absl::Status()> sync_named);
  // Drops the file when the writer is closed. Everything must be durable.
  void End();
  // Adds another commit.
  void SetCommitted(const CommitPoint& point);
  // Sets the durable part that is known by other means than a sync of this writer.
  void SetDurable(const CommitPoint& point);
  // Puts a step before the next sync, which then also covers sizes and names. `debt` writes bytes
  // again that the commits need and that may be in the page cache alone. Only the file before
  // `durable_end` is known to be durable. Replaces an earlier debt.
  void Owe(std::function<absl::Status()> debt, int64_t durable_end);
  // Returns true until a sync has paid the debt.
  bool owes() const { return owes_.load(std::memory_order_acquire); }

  CommitPoint durable() const;
  bool has_failed() const { return has_failed_.load(std::memory_order_acquire); }
  absl::Status failure() const;
  // Returns true if a thread has waited since the last call.
  bool TakeWasAwaited() {
    return was_awaited_.load(std::memory_order_relaxed) && was_awaited_.exchange(false);
  }

  // Makes durable only what the file will name.
  absl::Status SyncNamed();
  // Syncs everything that was written before, up to `point`.
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
  // These are read by each commit without the mutex.
  std::atomic<bool> owes_ = false;
  std::atomic<bool> has_failed_ = false;
  std::atomic<bool> was_awaited_ = false;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_SYNC_GROUP_SYNC_H_
