#include "engine/frame/files/frame_location.h"

#include <utility>

#include "engine/base/status.h"
#include "engine/format/sparse_names.h"

namespace cairn::frame {

absl::StatusOr<FrameLocation> LocateFrame(FileSystem* files, const std::string& path) {
  CAIRN_ASSIGN_OR_RETURN(std::string absolute, files->Absolute(path));
  absl::StatusOr<std::shared_ptr<FileSystem>> directory = files->OpenDirectory(absolute);
  // What cannot be opened as a file either says so itself, and better.
  if (!directory.ok()) return FrameLocation{.files = files, .path = std::move(absolute)};
  return LocationIn(*std::move(directory), files, std::move(absolute));
}

FrameLocation LocationIn(std::shared_ptr<FileSystem> directory, FileSystem* files,
                         std::string path) {
  FileSystem* inside = directory.get();
  return {.files = inside,
          .path = std::string(format::kIndexFileName),
          .directory = std::move(directory),
          .outer_files = files,
          .outer_path = std::move(path)};
}

absl::Status SyncNames(const FrameLocation& place) {
  if (place.files == nullptr) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(place.files->SyncDirectoryOf(place.files->Resolve(place.path)));
  if (place.outer_files == nullptr) return absl::OkStatus();
  return place.outer_files->SyncDirectoryOf(place.outer_files->Resolve(place.outer_path));
}

absl::StatusOr<std::unique_ptr<File>> LockForWriting(const FrameLocation& place) {
  constexpr int kMaxAttempts = 16;
  // The writer that we waited for may have put another file in place of the one that we opened.
  for (int attempt = 1; attempt <= kMaxAttempts; ++attempt) {
    CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<File> file,
                           place.files->Open(place.path, FileMode::kReadWrite));
    CAIRN_RETURN_IF_ERROR(file->LockByte(kWriterLockByte, LockMode::kExclusive));
    CAIRN_ASSIGN_OR_RETURN(const bool there, RefersTo(place, *file));
    if (there) return file;
  }
  return absl::UnavailableError(place.path + " is being replaced again and again");
}

absl::StatusOr<bool> RefersTo(const FrameLocation& place, const File& file) {
  if (place.files == nullptr) return true;
  CAIRN_ASSIGN_OR_RETURN(const FileIdentity ours, file.Identity());
  const absl::StatusOr<FileIdentity> there = place.files->Identity(place.path);
  if (absl::IsNotFound(there.status())) return false;
  CAIRN_RETURN_IF_ERROR(there.status());
  return *there == ours;
}

}  // namespace cairn::frame
