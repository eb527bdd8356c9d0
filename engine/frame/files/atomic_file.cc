#include "engine/frame/files/atomic_file.h"

#include "engine/base/status.h"
#include "engine/format/sparse_names.h"
#include "engine/frame/files/lock_bytes.h"
#include "engine/frame/files/replacement.h"

namespace cairn::frame {

absl::StatusOr<AtomicFile> AtomicFile::CreateBeside(const std::shared_ptr<FileSystem>& files,
                                                    const std::string& path) {
  return MakeBeside(files, path, [](TemporaryName name) -> absl::StatusOr<AtomicFile> {
    FileSystem& files = name.files();
    CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<File> file,
                           files.CreateFor(name.name(), FileOfFrame(files, name.target())));
    CAIRN_RETURN_IF_ERROR(LockNamed(files, name.name(), *file));
    return AtomicFile(std::move(name), std::move(file));
  });
}

absl::Status AtomicFile::Publish(bool replace) {
  CAIRN_RETURN_IF_ERROR(file_->Sync(SyncMode::kAll));
  return name_.RenameIntoPlace(replace);
}

absl::StatusOr<std::string> AtomicFile::PublishBySwap() {
  CAIRN_RETURN_IF_ERROR(file_->Sync(SyncMode::kAll));
  return name_.SwapIntoPlace();
}

absl::StatusOr<AtomicDirectory> AtomicDirectory::CreateBeside(
    const std::shared_ptr<FileSystem>& files, const std::string& path) {
  return MakeBeside(files, path, [](TemporaryName name) -> absl::StatusOr<AtomicDirectory> {
    CAIRN_RETURN_IF_ERROR(name.files().MakeDirectoryFor(name.name(), name.target()));
    AtomicDirectory made(std::move(name));
    const absl::Status filled = made.Fill();
    // Without the lock of an index it may have been taken for what a dead writer left.
    if (absl::IsNotFound(filled) || absl::IsAlreadyExists(filled)) {
      return absl::AbortedError(filled.message());
    }
    CAIRN_RETURN_IF_ERROR(filled);
    return made;
  });
}

absl::Status AtomicDirectory::Fill() {
  FileSystem& files = name_.files();
  CAIRN_ASSIGN_OR_RETURN(directory_, files.OpenDirectory(name_.name()));
  const std::string index = absl::StrFormat("%s/%s", name_.name(), format::kIndexFileName);
  CAIRN_ASSIGN_OR_RETURN(index_, files.CreateFor(index, FileOfFrame(files, name_.target())));
  CAIRN_RETURN_IF_ERROR(LockNamed(files, index, *index_));
  return index_->LockByte(kReaderLockByte, LockMode::kShared);
}

absl::Status AtomicDirectory::Publish(bool replace) {
  CAIRN_RETURN_IF_ERROR(directory_->SyncDirectoryOf("."));
  return name_.RenameIntoPlace(replace);
}

}  // namespace cairn::frame
