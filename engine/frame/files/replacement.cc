#include "engine/frame/files/replacement.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>

#include "engine/base/status.h"
#include "engine/format/sparse_names.h"
#include "engine/frame/files/copy_files.h"
#include "engine/frame/files/frame_locks.h"
#include "engine/storage/posix/file_system.h"

namespace cairn::frame {

namespace {

const std::string& PathOf(const FrameLocation& location) {
  return location.is_sparse() ? location.outer_path : location.path;
}

// Refuses a directory that holds anything else, which must not be removed.
absl::Status CheckIsFrame(const std::string& path, const std::vector<std::string>& names) {
  bool index = false;
  for (const std::string& name : names) {
    if (!BelongsToFrame(name)) {
      return FailedPrecondition("%s: not replaced: it holds %s, which is not a part of a frame",
                                path, name);
    }
    index = index || name == format::kIndexFileName;
  }
  if (index || names.empty()) return absl::OkStatus();
  return FailedPrecondition("%s: not replaced: expected a sparse frame", path);
}

absl::Status IsBusy(const FrameLocation& location, std::string_view how) {
  return absl::UnavailableError(
      absl::StrFormat("%s: not replaced: it is being %s", PathOf(location), how));
}

// Asks for the writer of a contiguous frame that only others may write. A writer may still come
// afterwards.
absl::StatusOr<HeldFiles> AskForWriter(const FrameLocation& location) {
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<File> file,
                         location.files->Open(location.path, FileMode::kRead));
  CAIRN_ASSIGN_OR_RETURN(const bool written, file->IsLocked(kWriterLockByte, 1));
  if (written) return IsBusy(location, "written");
  return HeldFiles();
}

}  // namespace

absl::StatusOr<HeldFiles> LockFromWriters(const FrameLocation& old) {
  absl::StatusOr<std::unique_ptr<File>> file = old.files->Open(old.path, FileMode::kReadWrite);
  if (!old.is_sparse() && absl::IsPermissionDenied(file.status())) return AskForWriter(old);
  if (absl::IsNotFound(file.status())) return HeldFiles();
  CAIRN_RETURN_IF_ERROR(file.status());
  const absl::Status status = (*file)->LockByte(kWriterLockByte, LockMode::kExclusive);
  if (absl::IsUnavailable(status)) return IsBusy(old, "written");
  CAIRN_RETURN_IF_ERROR(status);
  // A writer that has just ended may have replaced the file.
  CAIRN_ASSIGN_OR_RETURN(const bool there, RefersTo(*old.files, old.path, **file));
  if (!there) return IsBusy(old, "written");
  HeldFiles held;
  held.push_back(*std::move(file));
  return held;
}

absl::StatusOr<HeldFiles> LockFromReaders(const FrameLocation& old) {
  HeldFiles held;
  if (!old.is_sparse()) return held;
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> names, old.files->List("."));
  CAIRN_RETURN_IF_ERROR(CheckIsFrame(PathOf(old), names));
  for (const std::string& name : names) {
    if (name != format::kIndexFileName && !format::IsOtherIndexName(name)) continue;
    absl::StatusOr<std::unique_ptr<File>> index = old.files->Open(name, FileMode::kReadWrite);
    if (absl::IsNotFound(index.status())) continue;
    // If the lock cannot be asked for, somebody may be reading.
    CAIRN_RETURN_IF_ERROR(index.status());
    const absl::Status status = (*index)->LockByte(kReaderLockByte, LockMode::kExclusive);
    if (absl::IsUnavailable(status)) return IsBusy(old, "read");
    CAIRN_RETURN_IF_ERROR(status);
    held.push_back(*std::move(index));
  }
  return held;
}

absl::StatusOr<HeldFiles> LockForReplacement(const std::shared_ptr<FileSystem>& files,
                                             const std::string& path) {
  CAIRN_ASSIGN_OR_RETURN(const FrameLocation old, LocateFrame(files, path));
  CAIRN_ASSIGN_OR_RETURN(HeldFiles held, LockFromWriters(old));
  CAIRN_ASSIGN_OR_RETURN(HeldFiles unread, LockFromReaders(old));
  std::ranges::move(unread, std::back_inserter(held));
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

std::shared_ptr<FileSystem> FilesForCopyOf(const FrameLocation& source,
                                           std::shared_ptr<FileSystem> target) {
  if (target != PosixFileSystem()) return target;
  const bool sparse = source.is_sparse();
  const std::string& path = sparse ? source.outer_path : source.path;
  FileSystem& files = sparse ? *source.outer_files : *source.files;
  if (files.ObjectsIn(path).store != nullptr) return target;
  // A frame of another file system may have the path of an unrelated file here. The copy of a file
  // that no longer exists is open to its owner alone.
  const absl::StatusOr<FileIdentity> there = files.Identity(path);
  const absl::StatusOr<FileIdentity> here = PosixFileSystem()->Identity(path);
  const bool same = there.ok() && here.ok() ? *there == *here : there.ok() == here.ok();
  if (!same) return target;
  return cairn::FilesForCopyOf(path);
}

std::shared_ptr<FileSystem> FilesForCopyOf(const std::vector<std::string>& sources,
                                           std::shared_ptr<FileSystem> target) {
  if (target != PosixFileSystem()) return target;
  std::vector<std::string> there;
  for (const std::string& path : sources) {
    if (target->Identity(path).ok()) there.push_back(path);
  }
  return storage::MakeLimitedFiles(storage::LimitsOf(there, /*apply_umask=*/true));
}

}  // namespace cairn::frame

namespace cairn {

std::shared_ptr<FileSystem> FilesForCopyOf(const std::string& source,
                                           CopiedPermissions permissions) {
  // For a sparse frame, the index decides who may read it, and its directory who may reach it.
  const std::array<std::string, 2> paths = {frame::FileOfFrame(*PosixFileSystem(), source), source};
  const std::span<const std::string> all(paths);
  return storage::MakeLimitedFiles(storage::LimitsOf(
      paths[0] == paths[1] ? all.first(1) : all, permissions == CopiedPermissions::kWithinUmask));
}

}  // namespace cairn
