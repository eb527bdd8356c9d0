// Where a frame is found, and found again.
#ifndef CAIRN_ENGINE_FRAME_FILES_FRAME_LOCATION_H_
#define CAIRN_ENGINE_FRAME_FILES_FRAME_LOCATION_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"

namespace cairn::frame {

struct FrameLocation {
  std::shared_ptr<FileSystem> files;  // of a sparse frame: its directory
  std::string path;                   // in `files`; of a sparse frame: of the index file
  // Of a sparse frame: where its directory is.
  std::shared_ptr<FileSystem> outer_files = nullptr;
  std::string outer_path = {};

  bool is_sparse() const { return outer_files != nullptr; }
  // Of a sparse frame in an object store.
  ObjectDirectoryInfo objects() const {
    return is_sparse() ? files->ObjectsIn(".") : ObjectDirectoryInfo();
  }
};

// The caller's file system, or the operating system's for null. Owned where the caller shares it.
std::shared_ptr<FileSystem> FilesOrPosix(FileSystem* files);

// A file, or the directory of a sparse frame. Its paths are absolute: the process may go to another
// working directory.
absl::StatusOr<FrameLocation> LocateFrame(std::shared_ptr<FileSystem> files,
                                          const std::string& path);
// Within the directory of a sparse frame that is, or will be, found at `path`.
FrameLocation LocationIn(std::shared_ptr<FileSystem> directory, std::shared_ptr<FileSystem> files,
                         std::string path);
// Makes every name durable that leads to the frame.
absl::Status SyncNames(const FrameLocation& location);

// Whether the name leads to `file`.
absl::StatusOr<bool> RefersTo(FileSystem& files, const std::string& path, const File& file);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_FILES_FRAME_LOCATION_H_
