#include "engine/frame/files/frame_location.h"

#include <utility>

#include "engine/base/status.h"
#include "engine/format/sparse_names.h"

namespace cairn::frame {

const std::shared_ptr<FileSystem>& FilesOrPosix(const std::shared_ptr<FileSystem>& files) {
  return files == nullptr ? PosixFileSystem() : files;
}

absl::StatusOr<FrameLocation> PlaceAt(const std::string& path,
                                      const std::shared_ptr<FileSystem>& files) {
  const std::shared_ptr<FileSystem>& chosen = FilesOrPosix(files);
  CAIRN_ASSIGN_OR_RETURN(std::string absolute, chosen->Absolute(path));
  return FrameLocation{.files = chosen, .path = std::move(absolute)};
}

absl::StatusOr<FrameLocation> LocateFrame(std::shared_ptr<FileSystem> files,
                                          const std::string& path) {
  CAIRN_ASSIGN_OR_RETURN(std::string absolute, files->Absolute(path));
  absl::StatusOr<std::shared_ptr<FileSystem>> directory = files->OpenDirectory(absolute);
  // A store that gave no answer in its time will give none to the next question either.
  if (absl::IsUnavailable(directory.status()) || absl::IsCancelled(directory.status())) {
    return directory.status();
  }
  // If it cannot be opened as a file either, the error of that is better.
  if (!directory.ok()) {
    return FrameLocation{.files = std::move(files), .path = std::move(absolute)};
  }
  return LocationIn(*std::move(directory), std::move(files), std::move(absolute));
}

FrameLocation LocationIn(std::shared_ptr<FileSystem> directory, std::shared_ptr<FileSystem> files,
                         std::string path) {
  return {.files = std::move(directory),
          .path = std::string(format::kIndexFileName),
          .outer_files = std::move(files),
          .outer_path = std::move(path)};
}

absl::Status SyncNames(const FrameLocation& location) {
  FileSystem& files = *location.files;
  CAIRN_RETURN_IF_ERROR(files.SyncDirectoryOf(files.Resolve(location.path)));
  if (!location.is_sparse()) return absl::OkStatus();
  FileSystem& outer = *location.outer_files;
  return outer.SyncDirectoryOf(outer.Resolve(location.outer_path));
}

absl::StatusOr<bool> RefersTo(FileSystem& files, const std::string& path, const File& file) {
  CAIRN_ASSIGN_OR_RETURN(const FileIdentity ours, file.Identity());
  const absl::StatusOr<FileIdentity> there = files.Identity(path);
  if (absl::IsNotFound(there.status())) return false;
  CAIRN_RETURN_IF_ERROR(there.status());
  return *there == ours;
}

}  // namespace cairn::frame
