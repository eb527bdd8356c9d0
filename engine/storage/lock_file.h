// The lock file of C-Blosc2's locking protocol.
#ifndef CAIRN_ENGINE_STORAGE_LOCK_FILE_H_
#define CAIRN_ENGINE_STORAGE_LOCK_FILE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

#include "cairn/file_system.h"

namespace cairn::storage {

// Programs of Cairn that wait for the lock tell each other so. A writer holds kWriterWaits, and
// readers that come meanwhile let it go first: those whose calls overlap would keep it out for
// ever. Readers share kReadersWait, and a writer that edits again and again lets them go first.
// C-Blosc2 knows nothing of these bytes.
inline constexpr int64_t kWriterWaits = int64_t{1} << 62;
inline constexpr int64_t kReadersWait = kWriterWaits - 1;

// Takes the lock at `path` and increments its counter. Returns null if there is no such file and
// `make` is false. While the file is open, it keeps every program of that protocol, readers too,
// from the frame. The counter shows these programs that the frame changed: a program that takes the
// lock later drops what it cached.
//
// Errors: kUnavailable if other programs hold the lock for longer than `wait`. Readers hold it only
// during a call.
absl::StatusOr<std::unique_ptr<File>> TakeLockFile(FileSystem& files, const std::string& path,
                                                   bool make, std::chrono::milliseconds wait);

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_LOCK_FILE_H_
