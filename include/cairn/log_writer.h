// The one object that changes a log.
#ifndef CAIRN_LOG_WRITER_H_
#define CAIRN_LOG_WRITER_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/items.h"
#include "cairn/log.h"
#include "cairn/options.h"
#include "cairn/types.h"

namespace cairn {

namespace log {
class TimerThread;
class WriterCore;
}  // namespace log

// Makes the commits of many writers when they are due, in one thread. Thread-safe.
class CAIRN_EXPORT CommitTimer {
 public:
  CommitTimer();
  ~CommitTimer();
  CommitTimer(const CommitTimer&) = delete;
  CommitTimer& operator=(const CommitTimer&) = delete;

 private:
  friend class log::WriterCore;
  std::shared_ptr<log::TimerThread> thread_;
};

struct LogWriterOptions {
  // When records are committed: with the Append that makes them this many, and this long after the
  // first of them. A process that is killed loses no others. 0: only Commit and a full buffer do
  // it.
  int64_t commit_records = 0;
  std::chrono::milliseconds commit_interval{0};
  Durability durability = Durability::kProcess;
  // Holds back records that are less than this older than the newest, in units of time, and commits
  // them in the order of time. What is held back is lost with the process.
  int64_t reorder_window = 0;
  // Most bytes of records in memory: an Append that makes them more commits all of them, so a
  // program that is faster than its disk waits.
  int64_t max_buffered_bytes = 16 << 20;
  // How long to wait for another writer; kUnavailable after that.
  std::chrono::milliseconds wait{0};
  // Makes the commits of `commit_interval`; null: a thread of the writer's own. Must outlive it.
  CommitTimer* timer = nullptr;
  // How new chunks are compressed; by default as the log says.
  std::optional<CompressionOptions> compression = {};
};

// Takes records, sorts those of one commit by time, those of one time in the order in which they
// came, and commits them as its options say; drops old ones and begins new files as the log says,
// with at most some milliseconds of that in each commit. Movable and thread-safe. The destructor
// drops what is not committed.
//
// After an error of a commit, also one that the timer made, every call gives that: open the log
// again.
class CAIRN_EXPORT LogWriter {
 public:
  LogWriter(LogWriter&&) noexcept;
  LogWriter& operator=(LogWriter&&) noexcept;
  ~LogWriter();

  // Any number of records. kInvalidArgument, and nothing is taken, for a part of a record and for
  // one whose time is none (NumPy's NaT).
  absl::Status Append(Items records);
  // Commits all records, also those of the window.
  absl::Status Commit();
  // Commits, durably, and leaves frames in which any Blosc2 sees everything.
  absl::Status Checkpoint();

  // Both become part of the log with the next commit. kFailedPrecondition for a rotation of a log
  // that is one file.
  absl::Status SetRetention(const Retention& retention);
  absl::Status SetRotation(const Rotation& rotation);
  // Drops all that the retention says, and not only a bounded piece of it.
  absl::Status ApplyRetention();

  // The number that the next record gets; those that are held back get later ones.
  [[nodiscard]] int64_t end_record() const;
  // The newest commit.
  [[nodiscard]] LogSnapshot snapshot() const;
  // Commits, durably; another writer may then write the log. Every later call fails.
  absl::Status Close();

 private:
  friend class Log;
  explicit LogWriter(std::shared_ptr<log::WriterCore> core);
  std::shared_ptr<log::WriterCore> core_;
};

}  // namespace cairn

#endif  // CAIRN_LOG_WRITER_H_
