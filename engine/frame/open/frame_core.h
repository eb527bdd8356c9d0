// The facts that all handles of one open frame share: its location, and the newest state that was
// seen.
#ifndef CAIRN_ENGINE_FRAME_OPEN_FRAME_CORE_H_
#define CAIRN_ENGINE_FRAME_OPEN_FRAME_CORE_H_

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "cairn/options.h"
#include "engine/base/mutex.h"
#include "engine/base/owner_process.h"
#include "engine/frame/files/frame_file.h"
#include "engine/frame/files/frame_location.h"
#include "engine/frame/files/watch_pool.h"
#include "engine/frame/replay/journal_reader.h"
#include "engine/frame/state/frame_context.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// Thread-safe. In a forked child it reads and refreshes by itself, because files part from their
// parent's (FileLocks), and so do watches.
class FrameCore {
 public:
  FrameCore(FrameLocation location, FrameFile source, std::shared_ptr<const FrameContext> env)
      : location_(std::move(location)), env_(std::move(env)), source_(std::move(source)) {}

  static absl::StatusOr<std::shared_ptr<FrameCore>> Open(const std::string& path,
                                                         const OpenOptions& options,
                                                         const CheckpointPolicy& checkpoints = {});
  static absl::StatusOr<std::shared_ptr<FrameCore>> OpenBuffer(Bytes cframe,
                                                               const OpenOptions& options);

  const FrameLocation& location() const { return location_; }
  const std::shared_ptr<const FrameContext>& env() const { return env_; }
  FrameFile source() const;

  StatePtr newest() const;
  // Looks for a newer state, also in a file that has replaced ours.
  absl::StatusOr<StatePtr> Refresh();
  // Waits for a newer state than `seen`, and returns `seen` itself after the timeout.
  absl::StatusOr<StatePtr> WaitForCommit(const StatePtr& seen, std::chrono::milliseconds timeout);

  // Errors: kFailedPrecondition for handles that only read.
  absl::Status CheckMayWrite() const;
  // Opens the file that has the frame's name now, and takes the writer's lock on it. `file` is
  // tried first. Errors: kUnavailable after the time to wait; kFailedPrecondition for frames that
  // cannot be written.
  absl::StatusOr<std::shared_ptr<File>> OpenForWriting(std::chrono::milliseconds wait,
                                                       std::shared_ptr<File> file = nullptr);
  // Opens the frame in `written`, which a writer holds, for reading. The descriptor is another one,
  // without the writer's lock.
  absl::StatusOr<FrameFile> OpenForReading(const std::shared_ptr<File>& written) const;

  // Makes `state`, which was loaded from `source`, the newest. Called by the writer.
  void InstallFile(FrameFile source, StatePtr state);
  // Makes `state` the newest, which follows the newest in the same file.
  void InstallState(StatePtr state);

 private:
  static absl::StatusOr<std::shared_ptr<FrameCore>> Load(FrameLocation location, FrameFile source,
                                                         const OpenOptions& options,
                                                         const CheckpointPolicy& checkpoints);
  absl::StatusOr<StatePtr> RefreshLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(refresh_mutex_);
  absl::StatusOr<StatePtr> MoveTo(FrameFile source) ABSL_EXCLUSIVE_LOCKS_REQUIRED(refresh_mutex_);
  absl::StatusOr<StatePtr> ReopenIfReplaced(StatePtr newest, const FrameFile& source)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(refresh_mutex_);
  absl::StatusOr<StatePtr> ReplayNew(StatePtr newest, const FrameFile& source)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(refresh_mutex_);
  absl::StatusOr<StatePtr> PollReplaced(StatePtr newest, const FrameFile& source)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(refresh_mutex_);
  absl::StatusOr<StatePtr> ReloadDamaged(StatePtr damaged, const FrameFile& source)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(refresh_mutex_);
  absl::StatusOr<int64_t> ResumePosition(const State& newest, const FrameFile& source)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(refresh_mutex_);

  const FrameLocation location_;
  const std::shared_ptr<const FrameContext> env_;
  // Held while a newer state is looked for, so that the last one found is the newest.
  Mutex refresh_mutex_;
  mutable Mutex mutex_ ABSL_ACQUIRED_AFTER(refresh_mutex_);
  FrameFile source_ ABSL_GUARDED_BY(mutex_);
  StatePtr newest_ ABSL_GUARDED_BY(mutex_);

  // When the file was last written.
  struct LastWrite {
    int64_t at = 0;
    bool is_settled = true;  // a later write has another time
  };
  static absl::StatusOr<LastWrite> LastWriteOf(const FrameFile& source);
  LastWrite loaded_ ABSL_GUARDED_BY(refresh_mutex_);  // when the newest checkpoint was loaded

  // Chunks that a writer has staged after the journal's end, and that were already skipped.
  struct Skipped {
    int64_t begin = -1;  // where the journal ended
    int64_t end = 0;
    // differs from the header there if the writer changed its mind
    JournalReader::SkippedChunk last;
  };
  Skipped skipped_ ABSL_GUARDED_BY(refresh_mutex_);
  // Memory for reading the journal.
  std::vector<std::byte> window_ ABSL_GUARDED_BY(refresh_mutex_);
  std::chrono::steady_clock::time_point polled_replaced_at_ ABSL_GUARDED_BY(refresh_mutex_){};
  WatchPool watches_;
  const OwnerProcess owner_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_OPEN_FRAME_CORE_H_
