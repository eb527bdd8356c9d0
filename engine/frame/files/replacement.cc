#include "engine/frame/files/replacement.h"

#include <utility>

#include "engine/base/status.h"
#include "engine/format/sparse_names.h"
#include "engine/frame/files/frame_location.h"
#include "engine/frame/files/frame_locks.h"

namespace cairn::frame {

namespace {

// A directory that holds anything else is not ours to remove.
absl::Status CheckIsFrame(FileSystem& files, const std::string& path) {
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> names, files.List(path));
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

absl::Status IsBusy(const std::string& path, std::string_view how) {
  return absl::UnavailableError(absl::StrFormat("%s is not replaced: it is being %s", path, how));
}

// The lock that no reader of this index goes with.
absl::Status LockFromReaders(const std::string& path, File& index) {
  const absl::Status status = index.LockByte(kReaderLockByte, LockMode::kExclusive);
  return absl::IsUnavailable(status) ? IsBusy(path, "read") : status;
}

// Only the holder of the writer's lock may call it: then no index comes or goes.
absl::StatusOr<HeldFiles> LockOtherIndexes(FileSystem& directory, const std::string& path) {
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> names, directory.List("."));
  HeldFiles held;
  for (const std::string& name : names) {
    if (!format::IsOtherIndexName(name)) continue;
    absl::StatusOr<std::unique_ptr<File>> index = directory.Open(name, FileMode::kReadWrite);
    if (absl::IsNotFound(index.status())) continue;
    // Who cannot be asked may be reading.
    CAIRN_RETURN_IF_ERROR(index.status());
    CAIRN_RETURN_IF_ERROR(LockFromReaders(path, **index));
    held.push_back(*std::move(index));
  }
  return held;
}

// Of a contiguous frame that only others may write. Nothing keeps a writer from coming afterwards.
absl::StatusOr<HeldFiles> AskForWriter(const FrameLocation& location) {
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<File> file,
                         location.files->Open(location.path, FileMode::kRead));
  CAIRN_ASSIGN_OR_RETURN(const bool written, file->IsLocked(kWriterLockByte, 1));
  if (written) return IsBusy(location.path, "written");
  return HeldFiles();
}

}  // namespace

absl::StatusOr<HeldFiles> LockForReplacement(const std::shared_ptr<FileSystem>& files,
                                             const std::string& path) {
  CAIRN_ASSIGN_OR_RETURN(const FrameLocation location, LocateFrame(files, path));
  const bool sparse = location.is_sparse();
  if (sparse) CAIRN_RETURN_IF_ERROR(CheckIsFrame(*files, path));
  absl::StatusOr<std::unique_ptr<File>> file =
      location.files->Open(location.path, FileMode::kReadWrite);
  if (!sparse && absl::IsPermissionDenied(file.status())) return AskForWriter(location);
  if (absl::IsNotFound(file.status())) return HeldFiles();
  CAIRN_RETURN_IF_ERROR(file.status());
  const absl::Status status = (*file)->LockByte(kWriterLockByte, LockMode::kExclusive);
  if (absl::IsUnavailable(status)) return IsBusy(path, "written");
  CAIRN_RETURN_IF_ERROR(status);
  // A writer that ended just now may have replaced it.
  CAIRN_ASSIGN_OR_RETURN(const bool there, RefersTo(*location.files, location.path, **file));
  if (!there) return IsBusy(path, "written");
  HeldFiles held;
  if (sparse) {
    CAIRN_RETURN_IF_ERROR(LockFromReaders(path, **file));
    CAIRN_ASSIGN_OR_RETURN(held, LockOtherIndexes(*location.files, path));
  }
  held.push_back(*std::move(file));
  return held;
}

std::string FileOfFrame(FileSystem& files, const std::string& path) {
  if (!files.OpenDirectory(path).ok()) return path;
  return absl::StrFormat("%s/%s", path, format::kIndexFileName);
}

bool BelongsToFrame(std::string_view name) {
  return name == format::kIndexFileName || format::IsOtherIndexName(name) ||
         name == format::kLockFileName || format::ParseChunkFileName(name).has_value();
}

void RemoveFrame(FileSystem& files, const std::string& path) {
  const auto directory = files.OpenDirectory(path);
  if (!directory.ok()) return files.Remove(path).IgnoreError();
  const auto names = (*directory)->List(".");
  if (!names.ok()) return;
  const std::string index(format::kIndexFileName);
  for (const std::string& name : *names) {
    if (name != index && BelongsToFrame(name)) (*directory)->Remove(name).IgnoreError();
  }
  (*directory)->Remove(index).IgnoreError();
  files.RemoveDirectory(path).IgnoreError();
}

}  // namespace cairn::frame
