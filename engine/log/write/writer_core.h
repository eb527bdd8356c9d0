// What a LogWriter does.
#ifndef CAIRN_ENGINE_LOG_WRITE_WRITER_CORE_H_
#define CAIRN_ENGINE_LOG_WRITE_WRITER_CORE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/frame.h"
#include "cairn/log_writer.h"
#include "cairn/writer.h"
#include "engine/base/owner_process.h"
#include "engine/log/state/log_core.h"
#include "engine/log/state/newest_time.h"
#include "engine/log/write/commit_timer.h"
#include "engine/log/write/limits_request.h"
#include "engine/log/write/record_buffer.h"
#include "engine/log/write/retention.h"

namespace cairn::log {

// Thread-safe.
class WriterCore : public std::enable_shared_from_this<WriterCore> {
 public:
  static absl::StatusOr<std::shared_ptr<WriterCore>> Open(std::shared_ptr<LogCore> log,
                                                          const LogWriterOptions& options);

  absl::Status Append(Items records);
  absl::Status Commit();
  absl::Status Checkpoint();
  absl::Status SetRetention(const Retention& retention);
  absl::Status SetRotation(const Rotation& rotation);
  absl::Status Retain();
  int64_t end_record() const;
  LogStatePtr state() const;
  absl::Status Close();
  // Called before the last use by the caller: the thread must not end itself.
  void StopTimer();

 private:
  WriterCore(std::shared_ptr<LogCore> log, const LogWriterOptions& options)
      : log_(std::move(log)), options_(options) {}
  absl::Status Acquire();
  absl::StatusOr<bool> OpenNewest(std::chrono::milliseconds wait);
  absl::Status BeginWriting();
  absl::Status MakeStatistics();
  // Takes the mutex.
  std::unique_lock<std::mutex> Enter() const;
  // All that follow need the mutex.
  // kFailedPrecondition in a forked child.
  absl::Status Check() const;
  absl::Status Remember(absl::Status status);
  // With `all` also what the window holds back.
  absl::Status CommitRecords(bool all, Durability durability);
  std::optional<LimitsRequest> TakeRequest();
  absl::Status CommitBatch(Bytes records, Durability durability);
  absl::Status CommitStaged(Durability durability);
  absl::Status StageRecords(Bytes records);
  absl::Status StageLayer();
  absl::Status StageRetention(Bytes records, int64_t most_chunks);
  absl::Status RemoveOldFiles();
  void ReadClock();
  absl::Status FindNewestTimes();
  void AddTimes(Bytes records, NewestTime& newest) const;
  void NoteTimes(Bytes records);
  absl::StatusOr<int64_t> TimeForRetention(Bytes arriving);
  absl::StatusOr<size_t> RecordsBeforeRotation(Bytes records);
  bool FileIsFull() const;
  absl::Status Rotate();
  absl::Status TakeCommitted(const Snapshot& committed);
  void StartTimer();
  void CommitDue();

  const std::shared_ptr<LogCore> log_;
  LogWriterOptions options_;
  std::shared_ptr<TimerThread> timer_;
  const OwnerProcess owner_;

  mutable std::mutex mutex_;
  absl::Status status_;  // of the first failure
  LogFile file_;
  std::shared_ptr<Frame> frame_;
  std::optional<Writer> writer_;
  LogStatePtr state_;
  LogLayer layer_;  // as the next commit leaves it
  bool layer_changed_ = false;
  std::optional<RecordBuffer> buffer_;
  std::optional<std::chrono::steady_clock::time_point> looked_at_;  // for a request
  std::optional<LimitsRequest> remaining_;                          // was taken, is still there
  int64_t clock_ = 0;  // of this machine when the commit began, as a count of the time field
  // The newest time of all records and of those of the newest file.
  struct NewestTimes {
    NewestTime all;
    NewestTime file;
  };
  // Found when needed first, and then kept: no commit goes through all chunks.
  std::optional<NewestTimes> newest_times_;
  KnownNewest known_newest_;
  bool timer_runs_ = false;
};

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_WRITE_WRITER_CORE_H_
