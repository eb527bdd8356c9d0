#include "engine/blosc2_api/files/reading_lock.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

#include "absl/status/status.h"

namespace cairn::blosc2_api {

namespace {

namespace fs = std::filesystem;

// An open file, whose lock ends with it.
class LockFile {
 public:
  explicit LockFile(const std::string& name)
      : fd_(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {}
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;
  ~LockFile() {
    if (fd_ < 0) return;
    ::flock(fd_, LOCK_UN);  // a forked child may have the file open, too
    ::close(fd_);
  }

  bool ok() const { return fd_ >= 0; }
  // Returns false, and sets errno, if the file is locked, or if it cannot be.
  bool Share() const { return ::flock(fd_, LOCK_SH | LOCK_NB) == 0; }

 private:
  int fd_;
};

// Opens the lock file. A link may lead to the lock file of the frame that the path leads to, and to
// no file of somebody else.
std::shared_ptr<const LockFile> OpenLockFile(const std::string& path, const std::string& name) {
  auto file = std::make_shared<const LockFile>(name);
  if (file->ok() || errno != ELOOP) return file;
  std::error_code error;
  const std::string own = fs::canonical(path, error).string() + ".b2lock";
  if (fs::canonical(name, error) == own) return std::make_shared<const LockFile>(own);
  errno = ELOOP;
  return file;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const void>> LockForReading(const std::string& path,
                                                           std::chrono::milliseconds wait) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds kFirstPause(5);
  constexpr std::chrono::microseconds kLongestPause(200);
  std::error_code error;
  const std::string name = path + (fs::is_directory(path, error) ? "/.b2lock" : ".b2lock");
  const std::shared_ptr<const LockFile> file = OpenLockFile(path, name);
  if (!file->ok() && errno == ENOENT) return nullptr;
  if (!file->ok()) return absl::ErrnoToStatus(errno, name + ": cannot be opened for locking");
  const Clock::time_point end = Clock::now() + wait;
  for (auto pause = kFirstPause; !file->Share(); pause = std::min(2 * pause, kLongestPause)) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return absl::ErrnoToStatus(errno, name + ": cannot be locked");
    }
    if (Clock::now() >= end) return absl::UnavailableError(name + ": another program holds it");
    std::this_thread::sleep_for(pause);
  }
  return file;
}

}  // namespace cairn::blosc2_api
