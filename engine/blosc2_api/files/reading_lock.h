// The lock of readers in C-Blosc2's locking.
#ifndef CAIRN_ENGINE_BLOSC2_API_FILES_READING_LOCK_H_
#define CAIRN_ENGINE_BLOSC2_API_FILES_READING_LOCK_H_

#include <chrono>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace cairn::blosc2_api {

// Waits until no program edits the frame of this path under its lock file, and keeps them from it
// until the returned object ends. C-Blosc2 overwrites chunks where they are. Returns null if there
// is no lock file: then nobody has edited the frame under it.
//
// Errors: kUnavailable if a program edits it for longer than `wait`; kPermissionDenied if this
// process may not open the lock file.
absl::StatusOr<std::shared_ptr<const void>> LockForReading(const std::string& path,
                                                           std::chrono::milliseconds wait);

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_FILES_READING_LOCK_H_
