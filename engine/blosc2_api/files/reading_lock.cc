#include "engine/blosc2_api/files/reading_lock.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "absl/status/status.h"

#include "engine/base/deadline.h"
#include "engine/base/mutex.h"
#include "engine/base/owner_process.h"
#include "engine/base/status.h"
#include "engine/storage/lock_file.h"

namespace cairn::blosc2_api {

namespace {

namespace fs = std::filesystem;

using Clock = std::chrono::steady_clock;

// Readers take turns of this length, so that their calls cannot overlap for ever: those of a turn
// begin when the calls of earlier turns have ended. C-Blosc2 waits for that moment.
constexpr std::chrono::milliseconds kTurn{100};
// Shorter calls leave many such moments, and do not say in which turn they began.
constexpr std::chrono::microseconds kShortCall{100};
// The time from then on until the first reader of the turn begins.
constexpr std::chrono::microseconds kGap{200};
// A reader waits no longer for those that go first. They may be stopped in a debugger.
constexpr std::chrono::seconds kMostPoliteness{1};
// The first byte that readers of a turn share. A writer's lies right before it.
constexpr int64_t kFirstTurn = storage::kWriterWaits + 1;

// Returns the number of the turn, which is the same in all processes.
int64_t TurnOf(Clock::time_point time) { return time.time_since_epoch() / kTurn; }

}  // namespace

// An open lock file. Threads that hold it at once share one lock. Thread-safe.
class LockFile {
 public:
  explicit LockFile(const std::string& name)
      : fd_(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {}
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;
  ~LockFile() {
    if (fd_ >= 0) ::close(fd_);
  }

  bool ok() const { return fd_ >= 0; }
  // Shares the file until Leave. Returns false, and sets errno, if it is locked, or if it cannot
  // be.
  bool Share(Clock::time_point now) {
    const MutexLock lock(mutex_);
    if (holders_ == 0) {
      if (::flock(fd_, LOCK_SH | LOCK_NB) != 0) return false;
      begin_ = now;
      if (is_slow_) LockBytes(F_OFD_SETLK, F_RDLCK, kFirstTurn + TurnOf(begin_), 1);
    }
    ++holders_;
    return true;
  }
  // Tells writers of Cairn whether a reader waits for them.
  void SetWaiting(bool waits) {
    const MutexLock lock(mutex_);
    if (waits == waits_) return;
    LockBytes(F_OFD_SETLK, waits ? F_RDLCK : F_UNLCK, storage::kReadersWait, 1);
    waits_ = waits;
  }
  // Returns true if a writer waits for the readers of now, or if readers of earlier turns read.
  bool LetsOthersGoFirst(Clock::time_point now) {
    const MutexLock lock(mutex_);
    const int64_t turn = TurnOf(now);
    return (holders_ > 0 && TurnOf(begin_) < turn) ||
           LockBytes(F_OFD_GETLK, F_WRLCK, storage::kWriterWaits, 1 + turn) != F_UNLCK;
  }
  void Leave() {
    if (!owner_.is_here()) return;  // the lock is that of the parent
    const MutexLock lock(mutex_);
    if (--holders_ > 0) return;
    if (is_slow_) LockBytes(F_OFD_SETLK, F_UNLCK, kFirstTurn + TurnOf(begin_), 1);
    ::flock(fd_, LOCK_UN);
    is_slow_ = Clock::now() - begin_ > kShortCall;
  }

 private:
  // Returns the type of lock that the kernel gives back.
  int LockBytes(int command, int type, int64_t first, int64_t count) const {
    struct flock lock = {.l_type = static_cast<int16_t>(type),
                         .l_whence = SEEK_SET,
                         .l_start = first,
                         .l_len = count,
                         .l_pid = 0};
    return ::fcntl(fd_, command, &lock) == 0 ? lock.l_type : F_UNLCK;
  }

  const int fd_;
  const OwnerProcess owner_;
  Mutex mutex_;
  int holders_ ABSL_GUARDED_BY(mutex_) = 0;
  bool waits_ ABSL_GUARDED_BY(mutex_) = false;
  Clock::time_point begin_ ABSL_GUARDED_BY(mutex_);  // when the first of them began
  bool is_slow_ ABSL_GUARDED_BY(mutex_) = false;     // the last ones were, so these may be, too
};

namespace {

// Opens the lock file. A link may lead to the lock file of the frame that the path leads to, and to
// no file of somebody else.
std::shared_ptr<LockFile> OpenLockFile(const std::string& path, const std::string& name) {
  auto file = std::make_shared<LockFile>(name);
  if (file->ok() || errno != ELOOP) return file;
  std::error_code error;
  const std::string own = fs::canonical(path, error).string() + ".b2lock";
  if (fs::canonical(name, error) == own) return std::make_shared<LockFile>(own);
  errno = ELOOP;
  return file;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const void>> ReadingLock::Hold(std::chrono::milliseconds wait) {
  std::error_code error;
  const auto name_of = [&] {
    return path_ + (fs::is_directory(path_, error) ? "/.b2lock" : ".b2lock");
  };
  if (file_ == nullptr) {
    const std::string name = name_of();
    std::shared_ptr<LockFile> file = OpenLockFile(path_, name);
    if (!file->ok() && errno == ENOENT) return nullptr;
    if (!file->ok()) return absl::ErrnoToStatus(errno, name + ": cannot be opened for locking");
    file_ = std::move(file);
  }
  const Deadline politeness(kMostPoliteness);
  bool was_polite = false;
  const absl::Status shared = RetryUnavailable(
      wait,
      [&] {
        const Clock::time_point now = Clock::now();
        if (file_->LetsOthersGoFirst(now) && !politeness.has_passed()) {
          was_polite = true;
          return absl::UnavailableError(name_of() + ": others go first");
        }
        if (std::exchange(was_polite, false)) std::this_thread::sleep_for(kGap);
        if (file_->Share(now)) return absl::OkStatus();
        if (errno != EWOULDBLOCK && errno != EINTR) {
          return absl::ErrnoToStatus(errno, name_of() + ": cannot be locked");
        }
        file_->SetWaiting(true);
        return absl::UnavailableError(name_of() + ": another program holds it");
      },
      ShortPause());
  file_->SetWaiting(false);
  CAIRN_RETURN_IF_ERROR(shared);
  return std::shared_ptr<const void>(file_.get(), [file = file_](const void*) { file->Leave(); });
}

}  // namespace cairn::blosc2_api
