#include "engine/frame/sync/chunk_file_sync.h"

#include "engine/base/status.h"

namespace cairn::frame {

void ChunkFileSync::Add(std::span<const ChunkFile> files) {
  const MutexLock lock(mutex_);
  files_.insert(files_.end(), files.begin(), files.end());
}

int64_t ChunkFileSync::count() const {
  const MutexLock lock(mutex_);
  return std::ssize(files_);
}

absl::Status ChunkFileSync::Sync() {
  std::vector<ChunkFile> files;
  {
    const MutexLock lock(mutex_);
    files.swap(files_);
  }
  if (files.empty()) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(SyncChunkFiles(*location_.files, files));
  return location_.files->SyncDirectoryOf(location_.path);
}

}  // namespace cairn::frame
