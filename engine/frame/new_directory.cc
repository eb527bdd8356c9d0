#include "engine/frame/new_directory.h"

#include <utility>

#include "engine/base/status.h"
#include "engine/frame/old_frame.h"
#include "engine/frame/random.h"

namespace cairn::frame {

NewDirectory::NewDirectory(FileSystem* files, std::string path, std::string name,
                           std::shared_ptr<FileSystem> directory)
    : files_(files),
      path_(std::move(path)),
      name_(std::move(name)),
      directory_(std::move(directory)) {}

NewDirectory::NewDirectory(NewDirectory&& other) noexcept
    : files_(other.files_),
      path_(std::move(other.path_)),
      name_(std::exchange(other.name_, {})),
      directory_(std::move(other.directory_)) {}

NewDirectory::~NewDirectory() {
  if (!name_.empty() && owner_.is_here()) RemoveSparse(files_, name_);
}

absl::StatusOr<NewDirectory> NewDirectory::CreateBeside(FileSystem* files,
                                                        const std::string& path) {
  std::string target = files->Resolve(path);
  while (target.size() > 1 && target.ends_with('/')) target.pop_back();
  std::string name = absl::StrFormat("%s.%016x.tmp", target, RandomNumber());
  CAIRN_RETURN_IF_ERROR(files->MakeDirectory(name));
  absl::StatusOr<std::shared_ptr<FileSystem>> directory = files->OpenDirectory(name);
  if (!directory.ok()) {
    files->RemoveDirectory(name).IgnoreError();
    return directory.status();
  }
  return NewDirectory(files, std::move(target), std::move(name), *std::move(directory));
}

absl::Status NewDirectory::Publish(bool replace) {
  CAIRN_RETURN_IF_ERROR(directory_->SyncDirectoryOf("."));
  CAIRN_RETURN_IF_ERROR(TakeName(files_, name_, path_, replace));
  return files_->SyncDirectoryOf(path_);
}

}  // namespace cairn::frame
