// Locks on bytes of a frame's file that say who uses the frame, and the lock of C-Blosc2's
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

// The bytes lie past the end of any file. The writer holds this one exclusively.
inline constexpr int64_t kWriterLockByte = int64_t{1} << 62;
// Shared while a state is loaded: its bytes are mapped before the generation to register is known,
// so the file must not become shorter.
// The bytes right before the writer's are those of its queue.
inline constexpr int64_t kLoadingLockByte = kWriterLockByte - (int64_t{1} << 41);
// In the index of a sparse frame: shared by its readers, whose lock keeps the chunk files that this
// index names.
inline constexpr int64_t kReaderLockByte = kWriterLockByte + 1;
// In a contiguous frame: shared by the readers of this generation's checkpoint; see
// format::kMaxGeneration.
constexpr int64_t ReaderLockByte(uint64_t generation) {
  return kReaderLockByte + static_cast<int64_t>(generation);
}

// The file that has this name, with the writer's lock on it: `file` if that still has it. Waits in
// a queue. kUnavailable when `wait` elapses before.
absl::StatusOr<std::shared_ptr<File>> LockForWriting(FileSystem& files, const std::string& path,
                                                     std::chrono::milliseconds wait,
                                                     std::shared_ptr<File> file = nullptr);

// C-Blosc2's lock file, null if it is not in use: while it is open, it keeps programs of that
// protocol from a frame that is written. kUnavailable.
absl::StatusOr<std::unique_ptr<File>> TakePeerLock(const FrameLocation& location,
                                                   const WriterOptions& options);

// The readers of checkpoints before that of `generation`, the oldest first.
absl::StatusOr<std::vector<GenerationHolder>> FindHolders(const File& file, uint64_t generation);

// The locks of the readers of one open file. A lock belongs to the open file, so its holders are
// counted here: the last one to go releases it. Thread-safe.
class ReaderLocks {
 public:
  explicit ReaderLocks(std::shared_ptr<File> file) : file_(std::move(file)) {}

  // Shares the lock of the byte for as long as the result lives. Does nothing where the file system
  // has no locks: reading needs none. kUnavailable where it has, and gives none: then a writer
  // could reclaim what is read.
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
