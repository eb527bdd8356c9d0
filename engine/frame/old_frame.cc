#include "engine/frame/old_frame.h"

#include <utility>

#include "engine/base/status.h"
#include "engine/format/sparse_names.h"
#include "engine/frame/frame_place.h"

namespace cairn::frame {

namespace {

bool BelongsToFrame(std::string_view name) {
  return name.starts_with(format::kIndexFileName) || name == format::kLockFileName ||
         format::ParseChunkFileName(name).has_value();
}

// A directory that holds anything else is somebody's work.
absl::Status CheckIsFrame(FileSystem* files, const std::string& path) {
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> names, files->List(path));
  bool index = false;
  for (const std::string& name : names) {
    if (!BelongsToFrame(name)) {
      return FailedPrecondition("%s is not replaced: it holds %s, which is no part of a frame",
                                path, name);
    }
    index = index || name == format::kIndexFileName;
  }
  if (index || names.empty()) return absl::OkStatus();
  return FailedPrecondition("%s is not replaced: it is no sparse frame", path);
}

}  // namespace

absl::StatusOr<std::shared_ptr<File>> LockOldFrame(FileSystem* files, const std::string& path) {
  if (files == nullptr) return nullptr;
  const FramePlace place = FindPlace(files, path);
  if (place.directory != nullptr) CAIRN_RETURN_IF_ERROR(CheckIsFrame(files, path));
  absl::StatusOr<std::unique_ptr<File>> file = place.files->Open(place.path, FileMode::kReadWrite);
  // What nobody can write has no writer.
  if (!file.ok()) return nullptr;
  CAIRN_RETURN_IF_ERROR((*file)->LockByte(kWriterLockByte, LockMode::kExclusive));
  if (place.directory != nullptr) {
    CAIRN_RETURN_IF_ERROR((*file)->LockByte(kReaderLockByte, LockMode::kExclusive));
  }
  return std::shared_ptr<File>(*std::move(file));
}

absl::Status TakeName(FileSystem* files, const std::string& from, const std::string& to,
                      bool replace) {
  const bool directories = replace && files->Identity(to).ok() &&
                           (files->OpenDirectory(from).ok() || files->OpenDirectory(to).ok());
  if (!directories) return files->Rename(from, to, replace);
  // The one step that puts a directory in another one's place.
  CAIRN_RETURN_IF_ERROR(files->Exchange(from, to));
  // Before the old frame goes the new one must be there for good.
  CAIRN_RETURN_IF_ERROR(files->SyncDirectoryOf(to));
  if (files->OpenDirectory(from).ok()) {
    RemoveSparse(files, from);
  } else {
    files->Remove(from).IgnoreError();
  }
  return absl::OkStatus();
}

void RemoveSparse(FileSystem* files, const std::string& path) {
  const auto directory = files->OpenDirectory(path);
  if (!directory.ok()) return;
  const auto names = (*directory)->List(".");
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    if (BelongsToFrame(name)) (*directory)->Remove(name).IgnoreError();
  }
  files->RemoveDirectory(path).IgnoreError();
}

}  // namespace cairn::frame
