// NewestFile: the newest file of a log, opened for writing. Who holds it is the writer of the log.
#ifndef CAIRN_ENGINE_LOG_WRITE_NEWEST_FILE_H_
#define CAIRN_ENGINE_LOG_WRITE_NEWEST_FILE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/frame.h"
#include "cairn/log_writer.h"
#include "cairn/reports.h"
#include "cairn/writer.h"
#include "engine/log/state/log_core.h"
#include "engine/log/state/log_layer.h"

namespace cairn::log {

// Returns true if the file has an eighth more bytes than its records take, and 64 KiB more.
bool IsWorthReclaiming(const FrameInfo& info);

// A log belongs to the writer that has its newest file. If the file before that one has not ended,
// the log belongs to the writer that has the file before. So a writer that begins a file stays the
// writer, and if it dies between two files, another one continues. Not thread-safe.
class NewestFile {
 public:
  NewestFile(std::shared_ptr<LogCore> log, const LogWriterOptions& options)
      : log_(std::move(log)), compression_(options.compression) {}

  // Takes the log, and waits for another writer for this long. Returns the newest state.
  absl::StatusOr<LogStatePtr> Acquire(std::chrono::milliseconds wait);
  // Errors: kFailedPrecondition if the file is no longer at its path. Others may have another log
  // there, whose files this writer must leave alone. Asks nothing of an object store.
  absl::Status CheckIsThere() const;
  // Removes what a writer that died while it compacted an older file has left beside it.
  void RemoveRemains() const;
  // Prepares the end of the newest file, and creates the next one, whose records continue those of
  // `newest` and have these fields. Everything in the old file must be durable. Nothing changes for
  // readers and writers yet, nor if this fails, for example on a full disk.
  absl::Status CreateNext(const Segment& newest, const LogLayer& layer, const Schema& schema);
  // Continues in the file that CreateNext made, and marks the old one as ended. Returns the newest
  // state. A reader that sees the mark finds the new file.
  absl::StatusOr<LogStatePtr> BeginNext();
  // Compacts the old file if that halves it, since no later writer does it, or on a full disk
  // reclaims its space. The caller must have given up its older states. Returns the newest state.
  absl::StatusOr<LogStatePtr> CompactPrevious();
  // Puts the file that WriteWithFields wrote in the place of the only file. Returns the newest
  // state. If the old file cannot be replaced, the new one is removed and the writer stays open.
  absl::StatusOr<LogStatePtr> Replace();
  // Gives the disk the space that only older states need, unless others read them. The log shows
  // its newest state then, and `give_up` must give up what else the writer reads. Looks at every
  // chunk.
  absl::StatusOr<ReclaimReport> Reclaim(
      absl::FunctionRef<absl::Status(const Snapshot& newest)> give_up);
  // Closes the file and releases the log.
  absl::Status Close();

  bool is_open() const { return writer_.has_value(); }
  Writer& writer() { return *writer_; }
  Snapshot snapshot() const { return frame_->snapshot(); }
  int64_t number() const { return file_.number; }
  const std::string& path() const { return file_.path; }

 private:
  // Opens the file that is the newest now. Returns true if it still is once it is opened: another
  // writer may begin one while this waits.
  absl::StatusOr<bool> Open(std::chrono::milliseconds wait);
  absl::Status WriteNext(const Segment& newest, const LogLayer& layer, const Schema& schema) const;

  const std::shared_ptr<LogCore> log_;
  const std::optional<CompressionOptions> compression_;
  LogFile file_;
  std::shared_ptr<Frame> frame_;
  std::optional<Writer> writer_;
  bool is_local_ = false;  // not in an object store
};

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_WRITE_NEWEST_FILE_H_
