// Where a frame is found, and found again.
#ifndef CAIRN_ENGINE_FRAME_FILES_FRAME_LOCATION_H_
#define CAIRN_ENGINE_FRAME_FILES_FRAME_LOCATION_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"

namespace cairn::frame {

// A buffer or a frame in memory has neither path nor files.
struct FrameLocation {
  FileSystem* files = nullptr;  // null: in memory
  std::string path;             // in `files`; of the index file in a sparse frame
  // Of a sparse frame: what `files` points to, and where that directory itself is.
  std::shared_ptr<FileSystem> directory = nullptr;
  FileSystem* outer_files = nullptr;
  std::string outer_path = {};
};

// A file, or the directory of a sparse frame. Its paths are absolute: the process may go to another
// working directory.
absl::StatusOr<FrameLocation> LocateFrame(FileSystem* files, const std::string& path);
// Within the directory of a sparse frame that is, or will be, found at `path`.
FrameLocation LocationIn(std::shared_ptr<FileSystem> directory, FileSystem* files,
                         std::string path);
// Makes every name durable that leads to the frame.
absl::Status SyncNames(const FrameLocation& place);

// The byte whose lock makes a writer the only one; far behind the end of any file.
inline constexpr int64_t kWriterLockByte = int64_t{1} << 62;
// Readers of a sparse frame share the lock of this byte of the index that they read: it keeps the
// chunk files that the index names.
inline constexpr int64_t kReaderLockByte = kWriterLockByte + 1;
// Readers of a contiguous frame share the lock of the byte that stands for the generation of their
// checkpoint; see format::kMaxGeneration.
constexpr int64_t ReaderLockByte(uint64_t generation) {
  return kReaderLockByte + static_cast<int64_t>(generation);
}

// The file that has the place's name, with the writer's lock on it. kUnavailable.
absl::StatusOr<std::unique_ptr<File>> LockForWriting(const FrameLocation& place);

// Whether the place's name leads to `file`. Always so in memory.
absl::StatusOr<bool> RefersTo(const FrameLocation& place, const File& file);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_FILES_FRAME_LOCATION_H_
