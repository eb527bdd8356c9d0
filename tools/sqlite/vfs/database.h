// A database of this process: a frame, and its one writer.
#ifndef CAIRN_TOOLS_SQLITE_VFS_DATABASE_H_
#define CAIRN_TOOLS_SQLITE_VFS_DATABASE_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <pthread.h>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/frame.h"
#include "cairn/snapshot.h"
#include "cairn/writer.h"
#include "engine/base/mutex.h"
#include "tools/sqlite/vfs/database_options.h"

namespace cairn::sqlite {

// All connections of the process to one file share it. Thread-safe. Between transactions the writer
// is suspended, so that other processes can write. Suspending and resuming costs some system calls,
// and a sync of bytes that are not durable. So the writer is kept, for VfsOptions::keep or until
// another process waits, after a commit that is not durable, and after each of many in a row.
class Database {
 public:
  // This many transactions are a row. Processes that take turns by chance then seldom keep the
  // writer from another.
  static constexpr int kRow = 8;
  // The database looks at most this often whether another process waits.
  static constexpr std::chrono::milliseconds kLook{1};
  // A writer that a connection has waited for is kept this long for its next try.
  static constexpr std::chrono::milliseconds kOffer{10};
  // The bytes of changed pages of a transaction that stay in memory, and of decoded pages.
  static constexpr int64_t kStagedMemory = int64_t{32} << 20;
  static constexpr int64_t kCacheMemory = int64_t{16} << 20;
  // Less unused space than this is not given back when the database is closed, in bytes.
  static constexpr int64_t kLeastToGive = int64_t{256} << 10;

  // Makes the frame if `path` leads to nothing, or to an empty file.
  static absl::Status Create(const std::string& path, const DatabaseOptions& options,
                             const VfsOptions& vfs);
  static absl::StatusOr<std::shared_ptr<Database>> Open(const std::string& path,
                                                        const DatabaseOptions& options,
                                                        const VfsOptions& vfs);
  // Settles the frame if this process has written it, and makes it durable, so that others find it
  // short. Gives back unused space if that is much. A process that was forked from the one that
  // opened it destroys nothing, because threads and locks are the parent's.
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const std::string& path() const { return path_; }
  const DatabaseOptions& options() const { return options_; }
  Frame& frame() { return frame_; }
  // Returns true if the path leads to this file.
  bool LeadsTo(const std::optional<FileIdentity>& file) const;
  // Returns true if the path leads to the file that this was opened from, in this process.
  bool IsCurrent() const;

  // Returns true if the frame is bytes in chunks of one size, as Create makes them. Other frames
  // are only read.
  bool IsWritable() const;

  // Gives `owner` the writer. Waits for its turn among the connections of all processes. Does
  // nothing if `owner` has it. Errors: kUnavailable after `wait`, or somewhat later, because
  // another process may merely keep it; kFailedPrecondition in a process that was forked from the
  // one that opened it.
  absl::Status Acquire(const void* owner, std::chrono::milliseconds wait);
  // Waits until `owner` may have the writer, at most `wait`, and offers it for kOffer. Only Acquire
  // gives it. A thread that merely sleeps may come here for a connection that never asks again, so
  // the writer of a connection is always that of a transaction.
  void AwaitTurn(const void* owner, std::chrono::milliseconds wait);
  // Tells how a transaction ended.
  enum class Outcome {
    kDurable,     // everything that was committed is durable
    kNotDurable,  // the last commit perhaps is not durable
    kFailed,      // a write failed, so the writer may be of no use
  };
  // Lets the next owner write. Nothing may be staged.
  void Release(const void* owner, Outcome outcome);
  // Only for the present owner.
  Writer& writer() { return *writer_; }
  // Notes how durable its newest commit is.
  void NoteCommit(Durability durability) { is_durable_ = durability == Durability::kMachine; }
  // Gives space that no reader needs back to the file system. Only for the present owner, with
  // nothing staged. After a failure the writer may be of no use.
  absl::Status GiveBackSpace();
  // Errors: kFailedPrecondition in a process that was forked from the one that opened it.
  absl::Status CheckProcess() const;
  // Returns true if a connection of this process has the writer.
  bool IsOwned() const;

 private:
  using Clock = std::chrono::steady_clock;

  Database(std::string path, DatabaseOptions options, const VfsOptions& vfs, Frame frame,
           FileIdentity identity);
  bool IsOfThisProcess() const;
  // `taker` has the writer afterwards: it is `owner`, or waits for it.
  absl::Status Take(const void* owner, const void* taker, Clock::time_point deadline);
  absl::Status TakeTurn(const void* owner, const void* taker, Clock::time_point deadline);
  bool IsNext(const void* owner, const void* taker) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsOfferedToAnother(const void* owner) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Resume(Clock::time_point deadline);
  absl::Status OpenWriter(Clock::time_point deadline);
  bool HasLeftMuch() const;
  void SuspendWriter();
  void CountRow();
  bool IsWaitedFor();
  void KeepUntil(Clock::time_point end) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasKeeper();
  void SuspendWhenIdle();

  const std::string path_;
  const DatabaseOptions options_;
  const VfsOptions vfs_;
  const int process_;  // the process that has opened it
  const FileIdentity identity_;
  Frame frame_;

  mutable Mutex mutex_;
  CondVar turn_;
  std::deque<const void*> waiting_ ABSL_GUARDED_BY(mutex_);
  const void* owner_ ABSL_GUARDED_BY(mutex_) = nullptr;
  // The next owner, unless it is late.
  const void* offered_to_ ABSL_GUARDED_BY(mutex_) = nullptr;
  Clock::time_point offer_end_ ABSL_GUARDED_BY(mutex_);
  // True if the writer has no owner, and is not suspended.
  bool kept_ ABSL_GUARDED_BY(mutex_) = false;
  Clock::time_point keep_end_ ABSL_GUARDED_BY(mutex_);
  CondVar keeping_;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  // True if the keeper waits until it is told of a writer that is kept.
  bool keeper_sleeps_ ABSL_GUARDED_BY(mutex_) = false;

  // Only the owner of the writer uses these. The owner changes with the mutex held.
  std::optional<Writer> writer_;
  bool is_durable_ = false;  // the last commit of this process is durable
  int64_t dead_before_ = 0;  // dead bytes when it was opened
  int row_ = 0;              // transactions of this process alone, each soon after the one before
  Clock::time_point released_;
  uint64_t released_generation_ = 0;
  Clock::time_point looked_;
  std::optional<pthread_t> keeper_;  // suspends a writer that is kept; started with the first
};

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_VFS_DATABASE_H_
