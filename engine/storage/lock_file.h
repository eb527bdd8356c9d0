// The lock file of C-Blosc2's locking protocol.
#ifndef CAIRN_ENGINE_STORAGE_LOCK_FILE_H_
#define CAIRN_ENGINE_STORAGE_LOCK_FILE_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

#include "cairn/file_system.h"

namespace cairn::storage {

// Keeps every program of that protocol, readers too, from a frame as long as it lives. Its counter
// shows them that the frame changed: a program that takes the lock later drops what it cached.
class LockFile {
 public:
  // Takes the lock at `path` and counts up. Empty when there is no such file, unless `make` asks to
  // create it. kUnavailable while another program holds the lock, which readers do for the
  // moment of one call.
  static absl::StatusOr<std::optional<LockFile>> Acquire(FileSystem& files, const std::string& path,
                                                         bool make);

 private:
  explicit LockFile(std::unique_ptr<File> file) : file_(std::move(file)) {}

  std::unique_ptr<File> file_;  // holds the lock
};

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_LOCK_FILE_H_
