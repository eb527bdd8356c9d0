#include "engine/storage/memory_file_system.h"

#include <cerrno>
#include <utility>

#include "engine/base/status.h"
#include "engine/storage/errors.h"

namespace cairn::storage {

MemoryFileSystem::MemoryFileSystem(const std::string& name, Bytes bytes) {
  files_[name] = std::make_unique<MemoryFile>(name, bytes);
}

absl::StatusOr<std::unique_ptr<File>> MemoryFileSystem::Open(const std::string& path,
                                                             FileMode mode) {
  const std::lock_guard lock(mutex_);
  auto found = files_.find(path);
  if (mode == FileMode::kCreateNew) {
    if (found != files_.end()) return ErrnoStatus(EEXIST, path, "create");
    found = files_.emplace(path, std::make_unique<MemoryFile>(path)).first;
  }
  if (found == files_.end()) return ErrnoStatus(ENOENT, path, "open");
  std::unique_ptr<MemoryFile> file = found->second->Reopen(path, mode != FileMode::kRead);
  if (mode == FileMode::kRead || file->writable()) return file;
  return FailedPrecondition("%s is read-only", path);
}

absl::Status MemoryFileSystem::Rename(const std::string& from, const std::string& to,
                                      bool replace) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(from);
  if (found == files_.end()) return ErrnoStatus(ENOENT, from, "rename");
  if (!replace && files_.contains(to)) return ErrnoStatus(EEXIST, to, "rename to");
  std::unique_ptr<MemoryFile> file = std::move(found->second);
  files_.erase(found);
  files_[to] = std::move(file);
  return absl::OkStatus();
}

absl::Status MemoryFileSystem::Remove(const std::string& path) {
  const std::lock_guard lock(mutex_);
  return files_.erase(path) > 0 ? absl::OkStatus() : ErrnoStatus(ENOENT, path, "remove");
}

absl::StatusOr<FileIdentity> MemoryFileSystem::Identity(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(path);
  if (found == files_.end()) return ErrnoStatus(ENOENT, path, "look up");
  return found->second->Identity();
}

}  // namespace cairn::storage
