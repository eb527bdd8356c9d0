// A database of this process: a frame, and its one writer.
#ifndef CAIRN_TOOLS_SQLITE_VFS_DATABASE_H_
#define CAIRN_TOOLS_SQLITE_VFS_DATABASE_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <sys/types.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/frame.h"
#include "cairn/snapshot.h"
#include "cairn/writer.h"
#include "tools/sqlite/vfs/database_options.h"

namespace cairn::sqlite {

// Shared by all connections of the process to one file. Thread-safe. The writer is suspended
// between transactions, so that other processes can write.
class Database {
 public:
  // Makes the frame where `path` leads to nothing, or to an empty file.
  static absl::Status Create(const std::string& path, const DatabaseOptions& options);
  static absl::StatusOr<std::shared_ptr<Database>> Open(const std::string& path,
                                                        const DatabaseOptions& options);
  // Settles the frame if this process has written it, so that others find it short.
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const std::string& path() const { return path_; }
  const DatabaseOptions& options() const { return options_; }
  Frame& frame() { return frame_; }
  // Whether the path still leads to what this was opened from, in this process.
  bool IsCurrent() const;

  // Gives `owner` the writer. Waits for its turn among the connections of all processes;
  // kUnavailable after `wait`. Does nothing for who has it.
  absl::Status Acquire(const void* owner, std::chrono::milliseconds wait);
  // Drops what is staged, and lets the next one write.
  void Release(const void* owner);
  // Of the present owner.
  Writer& writer() { return *writer_; }
  // Whether a connection of this process has the writer.
  bool IsOwned() const;

 private:
  using Clock = std::chrono::steady_clock;

  Database(std::string path, DatabaseOptions options, Frame frame, FileIdentity identity);
  absl::Status TakeTurn(const void* owner, Clock::time_point deadline);
  absl::Status Resume(Clock::time_point deadline);
  absl::Status OpenWriter(Clock::time_point deadline);

  const std::string path_;
  const DatabaseOptions options_;
  const pid_t pid_;
  const FileIdentity identity_;
  Frame frame_;

  mutable std::mutex mutex_;
  std::condition_variable turn_;
  std::deque<const void*> waiting_;
  const void* owner_ = nullptr;
  std::optional<Writer> writer_;  // used by the owner alone
};

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_VFS_DATABASE_H_
