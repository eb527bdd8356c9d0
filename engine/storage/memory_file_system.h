// Files that live in memory, for one process.
#ifndef CAIRN_ENGINE_STORAGE_MEMORY_FILE_SYSTEM_H_
#define CAIRN_ENGINE_STORAGE_MEMORY_FILE_SYSTEM_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "cairn/types.h"
#include "engine/storage/memory_file.h"

namespace cairn::storage {

// Files by name, without directories, links or durability. A file that was removed lives as long as
// it is open or mapped. Thread-safe.
class MemoryFileSystem final : public FileSystem {
 public:
  MemoryFileSystem() = default;
  // With one file: the caller's bytes, which stay alive and the same. Read-only.
  MemoryFileSystem(const std::string& name, Bytes bytes);

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override;
  absl::Status Rename(const std::string& from, const std::string& to, bool replace) override;
  absl::Status Remove(const std::string& path) override;
  absl::Status SyncDirectoryOf(const std::string& /*path*/) override { return absl::OkStatus(); }
  absl::StatusOr<FileIdentity> Identity(const std::string& path) override;

 private:
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<MemoryFile>>
      files_;  // each opened by no caller: without locks
};

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_MEMORY_FILE_SYSTEM_H_
