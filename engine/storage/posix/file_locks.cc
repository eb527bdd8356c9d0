#include "engine/storage/posix/file_locks.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"

#include "engine/base/retry.h"
#include "engine/storage/posix/fd.h"
#include "engine/storage/posix/kept_descriptors.h"
#include "engine/storage/posix/lock_queue.h"

namespace cairn::storage {

namespace {

// 0 or an errno.
int SetLock(int fd, short type, int64_t offset, int64_t count) {
  struct flock lock = {
      .l_type = type, .l_whence = SEEK_SET, .l_start = offset, .l_len = count, .l_pid = 0};
  return RetryInterrupted([&] { return ::fcntl(fd, F_OFD_SETLK, &lock); }) == 0 ? 0 : errno;
}

int LockOne(int fd, int64_t offset, LockMode mode) {
  return SetLock(fd, mode == LockMode::kExclusive ? F_WRLCK : F_RDLCK, offset, 1);
}

}  // namespace

void FileLocks::End() {
  if (!is_here()) return;
  if (!forks_.saw_fork()) {
    // Maps may keep the description.
    if (!held_.empty()) SetLock(fd_, F_UNLCK, 0, 0);
  } else {
    for (const Held& held : held_) {
      if (held.mode == LockMode::kExclusive) SetLock(fd_, F_UNLCK, held.offset, 1);
    }
  }
  if (holds_whole_) ::flock(fd_, LOCK_UN);
}

std::unique_lock<std::mutex> FileLocks::Enter() {
  constexpr std::chrono::milliseconds kLongest(1000);  // far longer than any call of the system
  if (is_here()) return std::unique_lock(mutex_);
  std::unique_lock lock(mutex_, std::try_to_lock);
  for (const Deadline deadline(kLongest); !lock.owns_lock() && !deadline.has_passed();) {
    Pause();
    lock.try_lock();
  }
  return lock;
}

bool FileLocks::HasExclusive() const {
  return std::ranges::find(held_, LockMode::kExclusive, &Held::mode) != held_.end();
}

void FileLocks::Note(int64_t offset, LockMode mode) {
  were_taken_.store(true, std::memory_order_relaxed);
  const auto held = std::ranges::find(held_, offset, &Held::offset);
  if (held == held_.end()) {
    held_.push_back({.offset = offset, .mode = mode});
  } else {
    held->mode = mode;
  }
}

// A new description of the same file, or nothing; errno says why.
UniqueFd FileLocks::Reopen() const {
  const int mode = ::fcntl(fd_, F_GETFL) & O_ACCMODE;
  const int flags = mode | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  const std::string link = absl::StrCat("/proc/self/fd/", fd_);
  UniqueFd same = OpenAt(AT_FDCWD, link, flags);
  if (same.ok()) return same;
  UniqueFd there = OpenAt(AT_FDCWD, path_, flags);
  if (!there.ok()) return {};
  const auto info = StatAt(there.get(), "", AT_EMPTY_PATH);
  if (info.has_value() && info->identity == identity_) return there;
  errno = ENOENT;
  return {};
}

int FileLocks::Own() {
  const bool is_child = !is_here();
  if (!is_child && !forks_.saw_fork()) return 0;
  // The lock on the description that there is could not be had on another one.
  if (!is_child && (HasExclusive() || holds_whole_)) return EBUSY;
  // The descriptor that is closed would take POSIX locks of other code with it.
  if (!is_child && IsLockedByOthers(fd_)) return EBUSY;
  const ForkObserver forks;
  const UniqueFd fresh = Reopen();
  if (!fresh.ok()) return errno;
  for (const Held& held : held_) {
    if (held.mode == LockMode::kExclusive) continue;  // the parent's
    if (const int error = LockOne(fresh.get(), held.offset, held.mode); error != 0) return error;
  }
  if (RetryInterrupted([&] { return ::dup3(fresh.get(), fd_, O_CLOEXEC); }) < 0) return errno;
  std::erase_if(held_, [](const Held& held) { return held.mode == LockMode::kExclusive; });
  holds_whole_ = false;
  process_ = ThisProcess();
  forks_ = forks;
  return 0;
}

int FileLocks::Lock(int64_t offset, LockMode mode) {
  const auto lock = Enter();
  if (!lock.owns_lock()) return EDEADLK;
  // What a parent cannot open again it locks as it is; a child would lock for its parent.
  if (const int error = Own(); error != 0 && !is_here()) return error;
  const int error = LockOne(fd_, offset, mode);
  if (error == 0) Note(offset, mode);
  return error;
}

int FileLocks::WaitFor(int64_t offset, std::chrono::milliseconds timeout) {
  {
    const auto lock = Enter();
    if (!lock.owns_lock()) return EDEADLK;
    if (const int error = Own(); error != 0 && !is_here()) return error;
    Note(offset, LockMode::kExclusive);  // so that the description stays
  }
  const int error = LockInQueue(fd_, offset, timeout);
  if (error != 0) {
    const auto lock = Enter();
    std::erase_if(held_, [&](const Held& held) { return held.offset == offset; });
  }
  return error;
}

int FileLocks::Unlock(int64_t offset) {
  const auto lock = Enter();
  if (!lock.owns_lock()) return 0;
  const auto held = std::ranges::find(held_, offset, &Held::offset);
  const bool is_child = !is_here();
  const bool is_shared = held != held_.end() && held->mode == LockMode::kShared;
  if (is_child || (is_shared && forks_.saw_fork())) {
    const std::vector<Held> before = held_;
    if (held != held_.end()) held_.erase(held);
    const int error = Own();
    if (error != 0) held_ = before;
    return is_child ? 0 : error;
  }
  if (held != held_.end()) held_.erase(held);
  return SetLock(fd_, F_UNLCK, offset, 1);
}

int FileLocks::LockWhole() {
  const auto lock = Enter();
  if (!lock.owns_lock()) return EDEADLK;
  if (!is_here()) return EAGAIN;
  if (RetryInterrupted([&] { return ::flock(fd_, LOCK_EX | LOCK_NB); }) != 0) return errno;
  holds_whole_ = true;
  were_taken_.store(true, std::memory_order_relaxed);
  return 0;
}

}  // namespace cairn::storage
