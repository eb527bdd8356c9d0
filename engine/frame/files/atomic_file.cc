#include "engine/frame/files/atomic_file.h"

#include <utility>

#include "engine/base/status.h"
#include "engine/frame/files/frame_location.h"
#include "engine/frame/files/replacement.h"
#include "engine/frame/files/temporary_name.h"
#include "engine/storage/memory_file.h"

namespace cairn::frame {

AtomicFile::AtomicFile(FileSystem* files, std::string path, std::string name,
                       std::shared_ptr<File> file)
    : files_(files), path_(std::move(path)), name_(std::move(name)), file_(std::move(file)) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : files_(other.files_),
      path_(std::move(other.path_)),
      name_(std::exchange(other.name_, {})),
      file_(std::move(other.file_)) {}

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  if (this == &other) return *this;
  Remove();
  files_ = other.files_;
  path_ = std::move(other.path_);
  name_ = std::exchange(other.name_, {});
  file_ = std::move(other.file_);
  return *this;
}

AtomicFile::~AtomicFile() { Remove(); }

absl::StatusOr<AtomicFile> AtomicFile::CreateBeside(FileSystem* files, const std::string& path) {
  const std::string target = TargetOf(*files, path);
  return MakeUntilLocked([&] { return TryToCreate(files, target); });
}

absl::StatusOr<AtomicFile> AtomicFile::TryToCreate(FileSystem* files, const std::string& target) {
  const std::string name = TemporaryName(target);
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<File> file,
                         files->CreateFor(name, FileOfFrame(*files, target)));
  AtomicFile made(files, target, name, std::move(file));
  CAIRN_RETURN_IF_ERROR(LockNamed(*files, name, *made.file_));
  return made;
}

absl::StatusOr<AtomicFile> AtomicFile::InMemory() {
  AtomicFile made(nullptr, {}, {}, std::make_shared<storage::MemoryFile>());
  CAIRN_RETURN_IF_ERROR(made.file_->LockByte(kWriterLockByte, LockMode::kExclusive));
  return made;
}

absl::Status AtomicFile::Publish(bool replace) {
  CAIRN_RETURN_IF_ERROR(file_->Sync(SyncMode::kAll));
  return files_ == nullptr ? absl::OkStatus() : PublishName(files_, name_, path_, replace);
}

absl::StatusOr<std::string> AtomicFile::PublishBySwap() {
  CAIRN_RETURN_IF_ERROR(file_->Sync(SyncMode::kAll));
  CAIRN_RETURN_IF_ERROR(files_->Exchange(name_, path_));
  const std::string old = std::exchange(name_, {});
  CAIRN_RETURN_IF_ERROR(files_->SyncDirectoryOf(path_));
  return old;
}

void AtomicFile::Remove() {
  if (files_ == nullptr || name_.empty() || !owner_.is_here()) return;
  // Nothing can be done about a failure here: the name is a temporary one.
  files_->Remove(name_).IgnoreError();
  name_.clear();
}

}  // namespace cairn::frame
