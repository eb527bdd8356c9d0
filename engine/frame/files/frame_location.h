// The place of a frame, by which it can be found again.
#ifndef CAIRN_ENGINE_FRAME_FILES_FRAME_LOCATION_H_
#define CAIRN_ENGINE_FRAME_FILES_FRAME_LOCATION_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"

namespace cairn::frame {

struct FrameLocation {
  std::shared_ptr<FileSystem> files;  // the directory of a sparse frame
  std::string path;                   // path in `files`: for a sparse frame, of the index file
  // The place of the directory of a sparse frame.
  std::shared_ptr<FileSystem> outer_files = nullptr;
  std::string outer_path = {};
  // True if nobody else finds the frame at the path, which then only names it in messages.
  bool in_memory = false;

  bool is_sparse() const { return outer_files != nullptr; }
  // Returns the path of the frame's file or directory.
  const std::string& frame_path() const { return is_sparse() ? outer_path : path; }
  // Returns facts about a sparse frame in an object store.
  ObjectDirectoryInfo objects() const {
    return is_sparse() ? files->ObjectsIn(".") : ObjectDirectoryInfo();
  }
};

// Returns the caller's file system, or the operating system's for null.
const std::shared_ptr<FileSystem>& FilesOrPosix(const std::shared_ptr<FileSystem>& files);

// Returns where a frame will be, whatever is there now. Null means the operating system's files.
absl::StatusOr<FrameLocation> PlaceAt(const std::string& path,
                                      const std::shared_ptr<FileSystem>& files);
// Finds a file, or the directory of a sparse frame. The paths of the result are absolute, because
// the process may move to another working directory.
absl::StatusOr<FrameLocation> LocateFrame(std::shared_ptr<FileSystem> files,
                                          const std::string& path);
// Returns the location of the index in the directory of a sparse frame that is, or will be, found
// at `path`.
FrameLocation LocationIn(std::shared_ptr<FileSystem> directory, std::shared_ptr<FileSystem> files,
                         std::string path);
// Makes durable every name that leads to the frame.
absl::Status SyncNames(const FrameLocation& location);

// Returns true if the name leads to `file`.
absl::StatusOr<bool> RefersTo(FileSystem& files, const std::string& path, const File& file);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_FILES_FRAME_LOCATION_H_
