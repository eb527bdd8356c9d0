// Locks on bytes of a frame's file that tell who uses the frame, and the lock of C-Blosc2's
// programs.
#ifndef CAIRN_ENGINE_FRAME_FILES_FRAME_LOCKS_H_
#define CAIRN_ENGINE_FRAME_FILES_FRAME_LOCKS_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "cairn/options.h"
#include "cairn/reports.h"
#include "engine/base/mutex.h"
#include "engine/frame/files/frame_location.h"

namespace cairn::frame {

// All these bytes lie past the end of any file. The writer holds this one exclusively.
inline constexpr int64_t kWriterLockByte = int64_t{1} << 62;
// This byte is shared while a state is loaded. Its bytes are mapped before the generation to
// register is known, so the file must not become shorter. The bytes right before the writer's are
// those of its queue.
inline constexpr int64_t kLoadingLockByte = kWriterLockByte - (int64_t{1} << 41);
// In the index of a sparse frame, its readers share this byte. The lock keeps the chunk files that
// this index names.
inline constexpr int64_t kReaderLockByte = kWriterLockByte + 1;
// In a contiguous frame, the readers of this generation's checkpoint share this byte; see
// format::kMaxGeneration.
constexpr int64_t ReaderLockByte(uint64_t generation) {
  return kReaderLockByte + static_cast<int64_t>(generation);
}

// Returns the file that has this name, with the writer's lock on it. That is `file` if it still has
// the name. Waits in a queue. Errors: kUnavailable if `wait` elapses first.
absl::StatusOr<std::shared_ptr<File>> LockForWriting(FileSystem& files, const std::string& path,
                                                     std::chrono::milliseconds wait,
                                                     std::shared_ptr<File> file = nullptr);

// Takes C-Blosc2's lock file. Returns null if it is not in use. While it is open, it keeps programs
// of that protocol from the frame. Errors: kUnavailable if another program holds it too long.
absl::StatusOr<std::unique_ptr<File>> TakePeerLock(const FrameLocation& location,
                                                   const WriterOptions& options);

// Returns the readers of checkpoints before that of `generation`, the oldest first.
absl::StatusOr<std::vector<GenerationHolder>> FindHolders(const File& file, uint64_t generation);

// The locks of the readers of one open file. A lock belongs to the open file, so its holders are
// counted here, and the last one to leave releases it. Thread-safe.
class ReaderLocks {
 public:
  explicit ReaderLocks(std::shared_ptr<File> file) : file_(std::move(file)) {}

  // Shares the lock of the byte while the result lives. Does nothing if the file system has no
  // locks, because reading needs none. Errors: kUnavailable if the file system has locks but
  // refuses this one, since a writer could then reclaim bytes that are read.
  static absl::StatusOr<std::shared_ptr<const void>> Hold(
      const std::shared_ptr<ReaderLocks>& registry, int64_t byte);

 private:
  absl::Status Lock(int64_t byte) const;
  void Leave(int64_t byte);

  const std::shared_ptr<File> file_;
  Mutex mutex_;
  std::map<int64_t, int64_t> holders_ ABSL_GUARDED_BY(mutex_);  // by byte
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_FILES_FRAME_LOCKS_H_
