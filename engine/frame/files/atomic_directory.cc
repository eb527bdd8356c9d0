#include "engine/frame/files/atomic_directory.h"

#include <utility>

#include "engine/base/status.h"
#include "engine/format/sparse_names.h"
#include "engine/frame/files/frame_location.h"
#include "engine/frame/files/replacement.h"
#include "engine/frame/files/temporary_name.h"

namespace cairn::frame {

AtomicDirectory::AtomicDirectory(FileSystem* files, std::string path, std::string name)
    : files_(files), path_(std::move(path)), name_(std::move(name)) {}

AtomicDirectory::AtomicDirectory(AtomicDirectory&& other) noexcept
    : files_(other.files_),
      path_(std::move(other.path_)),
      name_(std::exchange(other.name_, {})),
      directory_(std::move(other.directory_)),
      index_(std::move(other.index_)) {}

AtomicDirectory::~AtomicDirectory() {
  if (!name_.empty() && owner_.is_here()) RemoveSparseFrame(files_, name_);
}

absl::StatusOr<AtomicDirectory> AtomicDirectory::CreateBeside(FileSystem* files,
                                                              const std::string& path) {
  const std::string target = TargetOf(*files, path);
  return MakeUntilLocked([&] { return TryToCreate(files, target); });
}

absl::StatusOr<AtomicDirectory> AtomicDirectory::TryToCreate(FileSystem* files,
                                                             const std::string& target) {
  const std::string name = TemporaryName(target);
  CAIRN_RETURN_IF_ERROR(files->MakeDirectoryFor(name, target));
  AtomicDirectory made(files, target, name);
  const absl::Status filled = made.Fill();
  // Without the lock of an index it may have been taken for what a dead writer left.
  if (absl::IsNotFound(filled) || absl::IsAlreadyExists(filled)) {
    return absl::AbortedError(filled.message());
  }
  CAIRN_RETURN_IF_ERROR(filled);
  return made;
}

absl::Status AtomicDirectory::Fill() {
  CAIRN_ASSIGN_OR_RETURN(directory_, files_->OpenDirectory(name_));
  const std::string index = absl::StrFormat("%s/%s", name_, format::kIndexFileName);
  CAIRN_ASSIGN_OR_RETURN(index_, files_->CreateFor(index, FileOfFrame(*files_, path_)));
  CAIRN_RETURN_IF_ERROR(LockNamed(*files_, index, *index_));
  return index_->LockByte(kReaderLockByte, LockMode::kShared);
}

absl::Status AtomicDirectory::Publish(bool replace) {
  CAIRN_RETURN_IF_ERROR(directory_->SyncDirectoryOf("."));
  return PublishName(files_, name_, path_, replace);
}

}  // namespace cairn::frame
