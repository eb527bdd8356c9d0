#include "engine/frame/sync/group_sync.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/status.h"

namespace cairn::frame {

void GroupSync::Begin(std::shared_ptr<File> file, const CommitPoint& committed,
                      const CommitPoint& durable) {
  const MutexLock lock(mutex_);
  file_ = std::move(file);
  CAIRN_DCHECK(durable.generation <= committed.generation);
  committed_ = committed;
  durable_ = durable;
  SetDebt(nullptr);
  ended_->NotifyAll();
}

void GroupSync::SetNamedSync(std::function<absl::Status()> sync_named) {
  const MutexLock lock(mutex_);
  sync_named_ = std::move(sync_named);
}

void GroupSync::End() {
  const MutexLock lock(mutex_);
  file_.reset();
  SetDebt(nullptr);
}

void GroupSync::SetCommitted(const CommitPoint& point) {
  const MutexLock lock(mutex_);
  CAIRN_DCHECK(point.generation >= committed_.generation);
  CAIRN_DCHECK(point.generation >= durable_.generation);
  committed_ = point;
}

void GroupSync::SetDurable(const CommitPoint& point) {
  const MutexLock lock(mutex_);
  CAIRN_DCHECK(point.generation <= committed_.generation);
  durable_ = point;
}

void GroupSync::Owe(std::function<absl::Status()> debt, int64_t durable_end) {
  const MutexLock lock(mutex_);
  AwaitEnd();
  SetDebt(std::move(debt));
  durable_.end = std::max(durable_.end, durable_end);
  durable_.journal = committed_.journal;
}

void GroupSync::AwaitEnd() {
  while (is_syncing_) ended_->Wait(mutex_);
}

void GroupSync::SetDebt(std::function<absl::Status()> debt) {
  debt_ = std::move(debt);
  owes_.store(debt_ != nullptr, std::memory_order_release);
}

CommitPoint GroupSync::durable() const {
  const MutexLock lock(mutex_);
  return durable_;
}

absl::Status GroupSync::failure() const {
  const MutexLock lock(mutex_);
  return failure_;
}

// Runs `sync` without the mutex. No other sync may run.
absl::Status GroupSync::RunAlone(absl::FunctionRef<absl::Status()> sync) {
  CAIRN_RETURN_IF_ERROR(failure_);
  CAIRN_DCHECK(!is_syncing_);
  is_syncing_ = true;
  mutex_.Unlock();
  const absl::Status status = sync();
  mutex_.Lock();
  is_syncing_ = false;
  ended_->NotifyAll();
  if (!status.ok()) {
    failure_ = status;
    has_failed_.store(true, std::memory_order_release);
  }
  return status;
}

absl::Status GroupSync::SyncNamed() {
  const MutexLock lock(mutex_);
  AwaitEnd();
  const std::function<absl::Status()> sync_named = sync_named_;
  return RunAlone(sync_named);
}

// Syncs everything that was written before, up to `point`.
absl::Status GroupSync::SyncNow(CommitPoint point, SyncMode mode) {
  const std::shared_ptr<File> file = file_;
  const std::function<absl::Status()> sync_named = sync_named_;
  const std::function<absl::Status()> debt = debt_;
  CAIRN_RETURN_IF_ERROR(RunAlone([&]() -> absl::Status {
    if (debt != nullptr) CAIRN_RETURN_IF_ERROR(debt());
    CAIRN_RETURN_IF_ERROR(sync_named());
    return file->Sync(debt != nullptr ? SyncMode::kAll : mode);
  }));
  SetDebt(nullptr);
  // During the sync, the writer may have continued, perhaps in another file or journal.
  const bool is_here = file == file_ && point.journal == committed_.journal;
  // A durable commit is synced before SetCommitted is called for it.
  CAIRN_DCHECK(!is_here || point.generation <= committed_.generation + 1);
  if (is_here && point.generation >= durable_.generation) {
    durable_ = {point.generation, std::max(point.end, durable_.end), point.journal};
  }
  return absl::OkStatus();
}

absl::Status GroupSync::Sync(const CommitPoint& point, SyncMode mode) {
  const MutexLock lock(mutex_);
  AwaitEnd();
  return SyncNow(point, mode);
}

absl::Status GroupSync::Await(uint64_t generation) {
  const MutexLock lock(mutex_);
  if (generation > committed_.generation) {
    return InvalidArgument("generation %d was not committed by this writer: %d is the newest",
                           generation, committed_.generation);
  }
  was_awaited_ = true;
  while (durable_.generation < generation) {
    if (is_syncing_) {
      ended_->Wait(mutex_);
      CAIRN_RETURN_IF_ERROR(failure_);
    } else {
      CAIRN_RETURN_IF_ERROR(SyncNow(committed_, SyncMode::kData));
    }
  }
  return absl::OkStatus();
}

}  // namespace cairn::frame
