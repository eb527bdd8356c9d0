// Implements LogWriter.
#ifndef CAIRN_ENGINE_LOG_WRITE_WRITER_CORE_H_
#define CAIRN_ENGINE_LOG_WRITE_WRITER_CORE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/log_writer.h"
#include "engine/base/mutex.h"
#include "engine/base/owner_process.h"
#include "engine/log/state/log_core.h"
#include "engine/log/write/commit_timer.h"
#include "engine/log/write/deletion.h"
#include "engine/log/write/inbox.h"
#include "engine/log/write/key_writer.h"
#include "engine/log/write/newest_file.h"
#include "engine/log/write/record_ages.h"
#include "engine/log/write/record_buffer.h"
#include "engine/log/write/retention.h"

namespace cairn::log {

// Writes the records of a log. Thread-safe.
class WriterCore : public std::enable_shared_from_this<WriterCore> {
 public:
  static absl::StatusOr<std::shared_ptr<WriterCore>> Open(std::shared_ptr<LogCore> log,
                                                          const LogWriterOptions& options);

  absl::Status Append(Items records);
  absl::Status Commit();
  absl::Status Checkpoint();
  // Changes the limits that are given.
  absl::Status SetLimits(const std::optional<Retention>& retention,
                         const std::optional<Rotation>& rotation);
  absl::Status Retain();
  absl::StatusOr<int64_t> Delete(const LogSelection& which);
  absl::StatusOr<UpsertReport> Upsert(Items records, const UpsertOptions& options);
  absl::Status AddField(const Field& field);
  absl::StatusOr<uint32_t> CodeOf(std::string_view field, std::string_view text);
  int64_t end_record() const;
  LogStatePtr state() const;
  absl::Status Close();
  // Call this before the last use by the caller, because the thread must not end itself.
  void StopTimer();

 private:
  WriterCore(std::shared_ptr<LogCore> log, const LogWriterOptions& options)
      : log_(std::move(log)), options_(options), file_(log_, options), inbox_(log_) {}
  absl::Status BeginWriting() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Errors: kFailedPrecondition in a forked child.
  absl::Status Check() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Remembers a failure, which ends the writer. A refusal by a full disk does not.
  absl::Status Remember(absl::Status status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Commits the records that wait, with `all` also those that the window holds back. Records that a
  // full disk refuses go back to the buffer, with kResourceExhausted. Commits them in parts if the
  // disk is full and the log drops records.
  absl::Status CommitRecords(bool all, Durability durability) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the bytes of the first of the records, as many as belong into the newest file. Begins
  // the next file if none does, and returns 0.
  absl::StatusOr<size_t> FitInFile(Bytes records) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Begins the next file, whose records have these fields. A failure ends the writer, except that
  // of a full disk before the file is there.
  absl::Status BeginNextFile(const Schema& schema) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Commits records of one file, together with what the limits of the log ask for,
  // and drops at most this many chunks. If the disk is full, first gives it the space of what was
  // dropped before. A refusal leaves nothing staged.
  absl::Status CommitBatch(Bytes records, int64_t most_chunks, Durability durability)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CommitStaged(Durability durability) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status StageRecords(Bytes records) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status StageRetention(Bytes records, int64_t most_chunks)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the parts of this writer that delete records. Forgets their ages.
  DeletingWriter BeginDeletion() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Carries out the request of another process. Errors: only those that end this writer.
  absl::Status CarryOutDeletion() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status RemoveOldFiles() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status TakeCommitted(const Snapshot& committed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  enum class Due { kCommit, kLook };
  void StartTimer(Due due) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::shared_ptr<LogCore> log_;
  LogWriterOptions options_;
  const OwnerProcess owner_;

  mutable Mutex mutex_;
  std::shared_ptr<TimerThread> timer_ ABSL_GUARDED_BY(mutex_);
  // The first failure stays.
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  NewestFile file_ ABSL_GUARDED_BY(mutex_);
  LogStatePtr state_ ABSL_GUARDED_BY(mutex_);
  // The layer that the next commit writes.
  LogLayer layer_ ABSL_GUARDED_BY(mutex_);
  bool layer_changed_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<RecordBuffer> buffer_ ABSL_GUARDED_BY(mutex_);
  KeyWriter keys_ ABSL_GUARDED_BY(mutex_);
  Inbox inbox_ ABSL_GUARDED_BY(mutex_);
  RecordAges ages_ ABSL_GUARDED_BY(mutex_);
  bool timer_runs_ ABSL_GUARDED_BY(mutex_) = false;
  // Records were dropped whose space the disk may not have back, perhaps by an earlier writer.
  bool may_reclaim_ ABSL_GUARDED_BY(mutex_) = true;
  int64_t reclaimed_at_ ABSL_GUARDED_BY(mutex_) = -1;  // the end of the records then
};

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_WRITE_WRITER_CORE_H_
