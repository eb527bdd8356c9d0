#include "engine/frame/files/atomic_file.h"

#include "engine/base/status.h"
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

}  // namespace cairn::frame
