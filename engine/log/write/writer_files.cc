// The part of a log's writer that begins files and removes old ones.
#include <memory>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "engine/log/write/added_field.h"
#include "engine/log/write/writer_core.h"

namespace cairn::log {

absl::StatusOr<size_t> WriterCore::FitInFile(Bytes records) {
  if (!log_->is_directory()) return records.size();
  const FrameInfo& info = state_->newest().snapshot().info();
  const int64_t most = layer_.rotation.max_bytes;
  const bool is_full = most > 0 && info.frame_size + info.journal_size >= most;
  CAIRN_ASSIGN_OR_RETURN(const size_t here,
                         ages_.BytesInPeriod(*state_, layer_.rotation.period, records));
  if (records.empty() || (here > 0 && (!is_full || state_->newest().nrecords() == 0))) return here;
  CAIRN_RETURN_IF_ERROR(BeginNextFile(state_->schema()));
  return 0;
}

absl::Status WriterCore::BeginNextFile(const Schema& schema) {
  CAIRN_RETURN_IF_ERROR(CommitStaged(Durability::kMachine));
  CAIRN_RETURN_IF_ERROR(file_.CreateNext(state_->newest(), layer_, schema));
  absl::StatusOr<LogStatePtr> next = file_.BeginNext();
  if (next.ok()) {
    state_ = *std::move(next);
    next = file_.CompactPrevious();
  }
  if (next.ok()) state_ = *std::move(next);
  status_ = next.status();
  return next.ok() ? Remember(BeginWriting()) : status_;
}

absl::Status WriterCore::AddField(const Field& field) {
  const MutexLockIf lock(owner_.is_here(), mutex_);
  CAIRN_RETURN_IF_ERROR(Check());
  CAIRN_ASSIGN_OR_RETURN(const Schema wider, WithField(state_->newest(), field));
  CAIRN_RETURN_IF_ERROR(Remember(CommitRecords(true, options_.durability)));
  if (log_->is_directory()) return Remember(BeginNextFile(wider));
  CAIRN_RETURN_IF_ERROR(Remember(CommitBatch({}, 0, Durability::kMachine)));
  CAIRN_RETURN_IF_ERROR(file_.CheckIsThere());
  CAIRN_RETURN_IF_ERROR(WriteWithFields(*log_, state_->newest(), wider));
  absl::StatusOr<LogStatePtr> replaced = file_.Replace();
  if (!replaced.ok() && file_.is_open()) return replaced.status();  // nothing has changed
  if (replaced.ok()) state_ = *std::move(replaced);
  status_ = replaced.ok() ? BeginWriting() : replaced.status();
  return status_;
}

absl::Status WriterCore::RemoveOldFiles() {
  bool removed = false;
  while (state_->segments().size() > 1) {
    CAIRN_ASSIGN_OR_RETURN(const RetentionView view, ages_.View(*state_, layer_, {}));
    CAIRN_ASSIGN_OR_RETURN(const bool expired, IsFrameExpired(*state_, view, layer_.retention));
    if (!expired) break;
    // A power cut must not take the records for which these were dropped.
    if (!removed) CAIRN_RETURN_IF_ERROR(CommitStaged(Durability::kMachine));
    CAIRN_RETURN_IF_ERROR(file_.CheckIsThere());
    const auto number = file_.number() - static_cast<int64_t>(state_->segments().size()) + 1;
    CAIRN_RETURN_IF_ERROR(log_->files().Remove(FileOf(log_->path(), number).path));
    const std::vector<SegmentPtr>& all = state_->segments();
    state_ = std::make_shared<const LogState>(std::vector(all.begin() + 1, all.end()));
    removed = true;
  }
  if (!removed) return absl::OkStatus();
  // A removed file takes space as long as the log shows it.
  CAIRN_RETURN_IF_ERROR(log_->Refresh().status());
  return log_->files().SyncDirectoryOf(file_.path());
}

}  // namespace cairn::log
