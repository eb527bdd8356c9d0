// An open log: its frames, and the newest state that was seen.
#ifndef CAIRN_ENGINE_LOG_STATE_LOG_CORE_H_
#define CAIRN_ENGINE_LOG_STATE_LOG_CORE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/frame.h"
#include "cairn/log.h"
#include "cairn/writer.h"
#include "engine/base/mutex.h"
#include "engine/log/state/log_files.h"
#include "engine/log/state/log_state.h"

namespace cairn::log {

using LogStatePtr = std::shared_ptr<const LogState>;

// An open log. Thread-safe.
class LogCore {
 public:
  // The path is made absolute, because the process may move to another working directory.
  static absl::StatusOr<std::shared_ptr<LogCore>> Open(const std::string& path,
                                                       const OpenOptions& options,
                                                       std::string_view time_field);

  LogStatePtr state() const;
  absl::StatusOr<LogStatePtr> Refresh();
  // Opens the files of the log again, because one was replaced.
  absl::StatusOr<LogStatePtr> Reopen();
  // Waits until the newest state is not `seen`.
  absl::StatusOr<LogStatePtr> WaitForCommit(const LogStatePtr& seen,
                                            std::chrono::milliseconds timeout);

  FileSystem& files() const;
  const std::string& path() const { return path_; }
  const OpenOptions& options() const { return options_; }
  const std::string& time_field() const { return time_field_; }
  bool is_directory() const { return is_directory_; }
  // A file of the log.
  struct Part {
    LogFile file;
    std::shared_ptr<Frame> frame;
    SegmentPtr segment;
  };
  Part newest() const;
  // Returns the file before the newest, as it is now, or nothing if it no longer exists.
  absl::StatusOr<std::optional<Part>> RefreshPrevious();

 private:
  LogCore(std::string path, OpenOptions options, std::string_view time_field)
      : path_(std::move(path)), options_(std::move(options)), time_field_(time_field) {}
  absl::Status OpenParts() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<std::vector<Part>> OpenAll(const std::vector<LogFile>& found) const;
  absl::StatusOr<Part> OpenPart(const LogFile& file) const;
  absl::Status RefreshPart(Part& part) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Refreshes the newest part, and the others if that part says that they may have changed.
  absl::Status RefreshLast() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status FollowRotation() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Refreshes files that have ended. A writer compacts a file once another one follows it, and is
  // done before the next: until then a reader of the old file keeps its disk space.
  absl::Status RefreshEnded() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsRemoved(const Part& part) const;
  void ForgetRemoved() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Makes the state of all parts, whose records are read with the fields of the newest.
  absl::Status MakeState() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string path_;
  const OpenOptions options_;
  const std::string time_field_;
  bool is_directory_ = false;

  mutable Mutex mutex_;
  // The oldest comes first. Only the newest file changes, except that records of others may be
  // deleted; see EditLayer::older_files.
  std::vector<Part> parts_ ABSL_GUARDED_BY(mutex_);
  bool news_ ABSL_GUARDED_BY(mutex_) = false;  // true if state_ is not that of parts_
  // All parts show at least what they were when the newest file had this EditLayer::older_files.
  int64_t older_files_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t settled_ ABSL_GUARDED_BY(mutex_) = -1;  // files up to this number change no more
  LogStatePtr state_ ABSL_GUARDED_BY(mutex_);
};

// Begins a frame of the log, whose first record gets this number, with metalayers of users. Stores
// `edits` unless it says nothing. The frame is there once the writer is closed.
absl::StatusOr<Writer> BeginLogFrame(const std::string& path, const LogCreateOptions& options,
                                     int64_t first_record, const EditLayer& edits,
                                     std::vector<Metalayer> metalayers);
// Creates such a frame without metalayers of users.
absl::Status CreateLogFrame(const std::string& path, const LogCreateOptions& options,
                            int64_t first_record, const EditLayer& edits);
// Returns the options that make a log like an existing one.
LogCreateOptions OptionsLike(const Segment& segment);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_STATE_LOG_CORE_H_
