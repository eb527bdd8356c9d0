#include "engine/blosc2_api/files/reading_lock.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"

#include "engine/base/deadline.h"
#include "engine/base/mutex.h"
#include "engine/base/status.h"
#include "engine/storage/lock_file.h"
#include "engine/storage/posix/fd.h"
#include "engine/storage/posix/unshared_fd.h"

namespace cairn::blosc2_api {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// How long a reader lets others go first. If they have not gone then, because a reader is stopped
// or reads for longer, this handle lets nobody go first for a while.
constexpr std::chrono::seconds kMostPoliteness{2};
constexpr std::chrono::seconds kImpoliteness{10};
// How often a reader looks for programs that wait without a word. That takes some 30 us. Shorter
// calls leave them enough moments between readers.
constexpr std::chrono::milliseconds kLookEvery{100};
constexpr std::chrono::microseconds kShortCall{100};

// Returns true if a program waits for the exclusive lock of a file, as C-Blosc2 does. The kernel
// lists those that wait with an arrow (proc_locks(5)).
bool IsWaitedFor(uint64_t inode) {
  const std::string file = absl::StrCat(":", inode, " ");
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    const auto has = [&](std::string_view word) { return line.find(word) != std::string::npos; };
    if (has("-> FLOCK") && has(" WRITE ") && has(file)) return true;
  }
  return false;
}

}  // namespace

// An open lock file. Threads that hold it at once share one lock. A forked child does not get it.
// Thread-safe.
class LockFile {
 public:
  // Without success, the file is not ok(), and errno says why.
  explicit LockFile(const std::string& name) {
    constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    fd_.Open([&] { return storage::OpenAt(AT_FDCWD, name, kFlags); });
  }

  bool ok() const { return fd_.ok(); }
  // Returns true if the file has no name any more, so that others lock another one.
  bool is_removed() const {
    const auto info = storage::StatAt(fd_.get(), "", AT_EMPTY_PATH);
    return info.has_value() && info->names == 0;
  }

  // Shares the file until Leave, if this thread does so already.
  bool ShareAgain();
  // Shares the file until Leave. Returns false, and sets errno, if it is locked, or if it cannot
  // be.
  bool Share();
  void Leave();
  // Tells writers of Cairn whether a reader waits for them.
  void SetWaiting(bool waits);

  // Returns true if a writer of Cairn waits for the readers of now.
  bool IsWanted() const;
  // Holds other readers up until a program that waits without a word has the lock.
  void LetInWhoWaits();
  // Lets nobody go first for a while, because that has not helped.
  void StopBeingPolite() {
    const MutexLock lock(mutex_);
    polite_from_ = Clock::now() + kImpoliteness;
  }

 private:
  // Returns the type of lock that the kernel gives back.
  int LockByte(int command, int type, int64_t byte) const {
    struct flock lock = {.l_type = static_cast<int16_t>(type),
                         .l_whence = SEEK_SET,
                         .l_start = byte,
                         .l_len = 1,
                         .l_pid = 0};
    return ::fcntl(fd_.get(), command, &lock) == 0 ? lock.l_type : F_UNLCK;
  }
  bool is_polite() const {
    const MutexLock lock(mutex_);
    return Clock::now() >= polite_from_;
  }

  storage::UnsharedFd fd_;
  mutable Mutex mutex_;
  std::vector<std::thread::id> holders_ ABSL_GUARDED_BY(mutex_);
  bool waits_ ABSL_GUARDED_BY(mutex_) = false;
  Clock::time_point begin_ ABSL_GUARDED_BY(mutex_);  // when the first of them began
  bool is_slow_ ABSL_GUARDED_BY(mutex_) = false;     // the last ones were
  Clock::time_point looked_ ABSL_GUARDED_BY(mutex_);
  Clock::time_point polite_from_ ABSL_GUARDED_BY(mutex_);
};

bool LockFile::ShareAgain() {
  const MutexLock lock(mutex_);
  const std::thread::id here = std::this_thread::get_id();
  if (std::ranges::find(holders_, here) == holders_.end()) return false;
  holders_.push_back(here);
  return true;
}

bool LockFile::Share() {
  const MutexLock lock(mutex_);
  if (holders_.empty()) {
    if (::flock(fd_.get(), LOCK_SH | LOCK_NB) != 0) return false;
    begin_ = Clock::now();
  }
  holders_.push_back(std::this_thread::get_id());
  return true;
}

void LockFile::Leave() {
  if (!ok()) return;  // the lock is that of the parent
  const MutexLock lock(mutex_);
  const auto mine = std::ranges::find(holders_, std::this_thread::get_id());
  holders_.erase(mine == holders_.end() ? holders_.begin() : mine);
  if (!holders_.empty()) return;
  ::flock(fd_.get(), LOCK_UN);
  is_slow_ = Clock::now() - begin_ > kShortCall;
}

void LockFile::SetWaiting(bool waits) {
  const MutexLock lock(mutex_);
  if (waits == waits_) return;
  LockByte(F_OFD_SETLK, waits ? F_RDLCK : F_UNLCK, storage::kReadersWait);
  waits_ = waits;
}

bool LockFile::IsWanted() const {
  return LockByte(F_OFD_GETLK, F_WRLCK, storage::kWriterWaits) != F_UNLCK && is_polite();
}

void LockFile::LetInWhoWaits() {
  {
    const MutexLock lock(mutex_);
    const Clock::time_point now = Clock::now();
    if (!is_slow_ || now - looked_ < kLookEvery || now < polite_from_) return;
    looked_ = now;
  }
  const auto info = storage::StatAt(fd_.get(), "", AT_EMPTY_PATH);
  if (!info.has_value() || !IsWaitedFor(info->identity.inode)) return;
  LockByte(F_OFD_SETLK, F_RDLCK, storage::kWriterWaits);
  const Deadline politeness(kMostPoliteness);
  while (IsWaitedFor(info->identity.inode) && !politeness.has_passed()) Pause();
  LockByte(F_OFD_SETLK, F_UNLCK, storage::kWriterWaits);
  if (politeness.has_passed()) StopBeingPolite();
}

namespace {

// Waits for the lock file of a path.
absl::Status Share(LockFile& file, const std::string& path, std::chrono::milliseconds wait) {
  file.LetInWhoWaits();
  const Deadline politeness(kMostPoliteness);
  absl::Status status = RetryUnavailable(
      wait,
      [&] {
        const bool is_wanted = file.IsWanted();
        if (is_wanted && politeness.has_passed()) file.StopBeingPolite();
        if (!is_wanted && file.Share()) return absl::OkStatus();
        if (!is_wanted && errno != EWOULDBLOCK && errno != EINTR) {
          return absl::ErrnoToStatus(errno, path + ": its lock file cannot be locked");
        }
        if (!is_wanted) file.SetWaiting(true);
        return absl::UnavailableError(path + ": another program holds its lock file");
      },
      ShortPause());
  file.SetWaiting(false);
  return status;
}

}  // namespace

// A link may lead to the lock file of the frame that the path leads to, and to no file of somebody
// else.
absl::Status ReadingLock::Open() {
  if (file_ != nullptr) return absl::OkStatus();
  std::error_code error;
  const std::string name = path_ + (fs::is_directory(path_, error) ? "/.b2lock" : ".b2lock");
  auto file = std::make_shared<LockFile>(name);
  if (!file->ok() && errno == ELOOP) {
    const std::string own = fs::canonical(path_, error).string() + ".b2lock";
    if (fs::canonical(name, error) == own) file = std::make_shared<LockFile>(own);
    if (!file->ok()) errno = ELOOP;
  }
  if (file->ok()) {
    file_ = std::move(file);
  } else if (errno != ENOENT) {
    return absl::ErrnoToStatus(errno, name + ": cannot be opened for locking");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const void>> ReadingLock::Hold(std::chrono::milliseconds wait) {
  while (true) {
    CAIRN_RETURN_IF_ERROR(Open());
    if (file_ == nullptr) return nullptr;
    if (!file_->ShareAgain()) CAIRN_RETURN_IF_ERROR(Share(*file_, path_, wait));
    std::shared_ptr<const void> held(file_.get(), [file = file_](const void*) { file->Leave(); });
    if (!file_->is_removed()) return held;
    file_.reset();
  }
}

}  // namespace cairn::blosc2_api
