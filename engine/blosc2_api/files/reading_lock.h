// The lock of readers in C-Blosc2's locking.
#ifndef CAIRN_ENGINE_BLOSC2_API_FILES_READING_LOCK_H_
#define CAIRN_ENGINE_BLOSC2_API_FILES_READING_LOCK_H_

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace cairn::blosc2_api {

class LockFile;

// The lock file of a frame, for one handle that reads it. C-Blosc2 overwrites chunks where they
// are, under this file. Readers share it, and let those go first that wait for it: a writer of
// Cairn at once, and one of C-Blosc2 after some tenths of a second. So a thread that holds it must
// not wait for it through another handle.
class ReadingLock {
 public:
  explicit ReadingLock(std::string path) : path_(std::move(path)) {}

  // Waits until no program edits the frame, and keeps them from it until the returned object ends,
  // in any thread. Returns null if there is no lock file: then nobody has edited the frame under
  // it. Not thread-safe.
  //
  // Errors: kUnavailable if a program edits it for longer than `wait`; kPermissionDenied if this
  // process may not open the lock file.
  absl::StatusOr<std::shared_ptr<const void>> Hold(std::chrono::milliseconds wait);

 private:
  std::string path_;
  std::shared_ptr<LockFile> file_;  // null before the first Hold that found it
};

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_FILES_READING_LOCK_H_
