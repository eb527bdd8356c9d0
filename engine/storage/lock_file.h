// The lock file of C-Blosc2's locking protocol.
#ifndef CAIRN_ENGINE_STORAGE_LOCK_FILE_H_
#define CAIRN_ENGINE_STORAGE_LOCK_FILE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

#include "cairn/file_system.h"

namespace cairn::storage {

// Takes the lock at `path` and increments its counter. Returns null if there is no such file and
// `make` is false. While the file is open, it keeps every program of that protocol, readers too,
// from the frame. The counter shows these programs that the frame changed: a program that takes the
// lock later drops what it cached.
//
// Errors: kUnavailable while another program holds the lock. Readers hold it only during a call.
absl::StatusOr<std::unique_ptr<File>> TakeLockFile(FileSystem& files, const std::string& path,
                                                   bool make);

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_LOCK_FILE_H_
