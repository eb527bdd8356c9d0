// The lock of readers in C-Blosc2's locking.
#ifndef CAIRN_ENGINE_BLOSC2_API_FILES_READING_LOCK_H_
#define CAIRN_ENGINE_BLOSC2_API_FILES_READING_LOCK_H_

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cairn::blosc2_api {

class LockFile;

// The lock file of a frame, for one handle that reads it. C-Blosc2 overwrites chunks where they
// are, under this file. Readers share it, and let a writer go first that waits for it: one of Cairn
// at once, and one of C-Blosc2 within a tenth of a second. So a thread that holds the lock must
// not wait for it through another handle.
class ReadingLock {
 public:
  explicit ReadingLock(std::string path) : path_(std::move(path)) {}

  // Waits until no program edits the frame, and keeps them from it until the returned object ends.
  // A thread that has such an object of this handle gets another one at once. Returns null if there
  // is no lock file: then nobody has edited the frame under it. Not thread-safe, but the objects
  // may end in any thread at any time.
  //
  // Errors: kUnavailable if a program edits the frame for longer than `wait`; kPermissionDenied if
  // this process may not open the lock file.
  absl::StatusOr<std::shared_ptr<const void>> Hold(std::chrono::milliseconds wait);

 private:
  // Opens the lock file, unless it is open or there is none.
  absl::Status Open();

  std::string path_;
  std::shared_ptr<LockFile> file_;
};

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_FILES_READING_LOCK_H_
