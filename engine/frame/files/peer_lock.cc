#include "engine/frame/files/peer_lock.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "absl/strings/str_cat.h"

#include "engine/base/retry.h"
#include "engine/base/status.h"
#include "engine/format/sparse_names.h"
#include "engine/storage/lock_file.h"

namespace cairn::frame {

namespace {

constexpr char kLockFileSuffix[] = ".b2lock";
constexpr std::chrono::milliseconds kLockFileWait(100);

// A link beside a frame that came from elsewhere may lead to any file, which would be written to:
// it has to lead to the lock of the frame that its own path leads to.
absl::Status CheckLockLink(FileSystem& files, const std::string& frame, const std::string& lock) {
  const size_t name = lock.rfind('/') + 1;
  const std::string directory = files.Resolve(name == 0 ? "." : lock.substr(0, name));
  const std::string file = files.Resolve(lock);
  if (file == lock || file == absl::StrCat(directory, "/", lock.substr(name)) ||
      file == files.Resolve(frame) + kLockFileSuffix) {
    return absl::OkStatus();
  }
  return FailedPrecondition("%s is a symbolic link to %s", lock, file);
}

}  // namespace

absl::StatusOr<std::unique_ptr<File>> TakePeerLock(const FrameLocation& location,
                                                   const WriterOptions& options) {
  const std::string path =
      location.is_sparse() ? std::string(format::kLockFileName) : location.path + kLockFileSuffix;
  if (!location.is_sparse()) {
    CAIRN_RETURN_IF_ERROR(CheckLockLink(*location.files, location.path, path));
  }
  // Other programs hold it for the moment of one call.
  return RetryUnavailable(std::max(options.wait, kLockFileWait), [&] {
    return storage::TakeLockFile(*location.files, path, options.make_lock_file);
  });
}

}  // namespace cairn::frame
