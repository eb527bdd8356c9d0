#include "engine/frame/frame_place.h"

#include <utility>

#include "engine/base/status.h"
#include "engine/format/sparse_names.h"

namespace cairn::frame {

FramePlace FindPlace(FileSystem* files, const std::string& path) {
  absl::StatusOr<std::shared_ptr<FileSystem>> directory = files->OpenDirectory(path);
  // What cannot be opened as a file either says so itself, and better.
  if (!directory.ok()) return {.files = files, .path = path};
  return PlaceIn(*std::move(directory));
}

FramePlace PlaceIn(std::shared_ptr<FileSystem> directory) {
  FileSystem* files = directory.get();
  return {.files = files,
          .path = std::string(format::kIndexFileName),
          .directory = std::move(directory)};
}

absl::StatusOr<bool> IsAtPlace(const FramePlace& place, const File& file) {
  if (place.files == nullptr) return true;
  CAIRN_ASSIGN_OR_RETURN(const FileIdentity ours, file.Identity());
  const absl::StatusOr<FileIdentity> there = place.files->Identity(place.path);
  if (absl::IsNotFound(there.status())) return false;
  CAIRN_RETURN_IF_ERROR(there.status());
  return *there == ours;
}

}  // namespace cairn::frame
