#include "engine/storage/posix/file_locks.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

#include "absl/strings/str_cat.h"

#include "engine/base/deadline.h"
#include "engine/storage/posix/fd.h"
#include "engine/storage/posix/kept_descriptors.h"
#include "engine/storage/posix/lock_queue.h"

namespace cairn::storage {

namespace {

// Returns 0 or an errno.
int Call(int fd, int command, struct flock& lock) {
  return RetryInterrupted([&] { return ::fcntl(fd, command, &lock); }) == 0 ? 0 : errno;
}

// Returns 0 or an errno: EAGAIN if another open file holds a part of the range.
int SetLock(int fd, short type, int64_t offset, int64_t count) {
  struct flock lock = {
      .l_type = type, .l_whence = SEEK_SET, .l_start = offset, .l_len = count, .l_pid = 0};
  const int error = Call(fd, F_OFD_SETLK, lock);
  return error == EACCES ? EAGAIN : error;
}

int LockOne(int fd, int64_t offset, LockMode mode) {
  return SetLock(fd, mode == LockMode::kExclusive ? F_WRLCK : F_RDLCK, offset, 1);
}

// Moves a lock so that a shared lock is held at every moment.
int Move(int64_t offset, int from, int to) {
  const int error = LockOne(to, offset, LockMode::kShared);
  return error == 0 ? SetLock(from, F_UNLCK, offset, 1) : error;
}

}  // namespace

UnsharedFd& FileLocks::End() {
  if (is_here()) {
    const bool shares = std::ranges::count(held_, LockMode::kShared, &Held::mode) > 0;
    // Mappings may keep the description, so the locks are ended here.
    if (shares && !forks_.saw_fork()) SetLock(fd_, F_UNLCK, 0, 0);
    // The descriptor may be kept open, so the locks are ended here.
    if (exclusive_.ok()) SetLock(exclusive_.get(), F_UNLCK, 0, 0);
    if (holds_whole_) ::flock(exclusive_.get(), LOCK_UN);
  }
  return exclusive_;
}

FileLocks::Entry::Entry(const FileLocks& locks) : locks_(locks) {
  constexpr std::chrono::milliseconds kLongest(1000);  // far longer than any system call
  if (locks_.is_here()) {
    locks_.mutex_.Lock();
    has_mutex_ = true;
    return;
  }
  has_mutex_ = locks_.mutex_.TryLock();
  for (const Deadline deadline(kLongest); !has_mutex_ && !deadline.has_passed();) {
    Pause();
    has_mutex_ = locks_.mutex_.TryLock();
  }
}

FileLocks::Entry::~Entry() {
  if (has_mutex_) locks_.mutex_.Unlock();
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

std::string FileLocks::Link() const { return absl::StrCat("/proc/self/fd/", fd_); }

UniqueFd FileLocks::Reopen(const std::string& link) const {
  const int mode = ::fcntl(fd_, F_GETFL) & O_ACCMODE;
  const int flags = mode | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  UniqueFd same = OpenAt(AT_FDCWD, link, flags);
  if (same.ok()) return same;
  UniqueFd there = OpenAt(AT_FDCWD, path_, flags);
  if (!there.ok()) return {};
  const auto info = StatAt(there.get(), "", AT_EMPTY_PATH);
  if (info.has_value() && info->identity == file_.file()) return there;
  errno = ENOENT;
  return {};
}

int FileLocks::Own() {
  const bool is_child = !is_here();
  if (!is_child && !forks_.saw_fork()) return 0;
  // The descriptor that Reopen replaces would take POSIX locks of other code with it.
  if (!is_child && IsLockedByOthers(fd_)) return EBUSY;
  const ForkObserver forks;
  const UniqueFd fresh = Reopen(Link());
  if (!fresh.ok()) return errno;
  for (const Held& held : held_) {
    if (held.mode == LockMode::kExclusive) continue;
    if (const int error = LockOne(fresh.get(), held.offset, held.mode); error != 0) return error;
  }
  if (RetryInterrupted([&] { return ::dup3(fresh.get(), fd_, O_CLOEXEC); }) < 0) return errno;
  if (is_child) {  // exclusive locks belong to the parent
    exclusive_.Release();
    std::erase_if(held_, [](const Held& held) { return held.mode == LockMode::kExclusive; });
    holds_whole_ = false;
  }
  process_ = ThisProcess();
  forks_ = forks;
  return 0;
}

int FileLocks::OpenExclusive() {
  if (exclusive_.ok()) return 0;
  const std::string link = Link();
  exclusive_.Open([&] {
    UniqueFd kept = file_.TakeAnother();
    return kept.ok() ? std::move(kept) : Reopen(link);
  });
  return exclusive_.ok() ? 0 : errno;
}

int FileLocks::Change(int64_t offset, LockMode mode) {
  if (mode == LockMode::kShared) {
    const int error = LockOne(exclusive_.get(), offset, LockMode::kShared);
    return error == 0 ? Move(offset, exclusive_.get(), fd_) : error;
  }
  int error = Move(offset, fd_, exclusive_.get());
  if (error != 0) return error;
  error = LockOne(exclusive_.get(), offset, LockMode::kExclusive);
  if (error != 0) Move(offset, exclusive_.get(), fd_);
  return error;
}

int FileLocks::Lock(int64_t offset, LockMode mode) {
  const Entry entry(*this);
  if (!entry.has_mutex()) return EDEADLK;
  const bool exclusive = mode == LockMode::kExclusive;
  int error = Own();
  const auto held = std::ranges::find(held_, offset, &Held::offset);
  const bool changes = held != held_.end() && held->mode != mode;
  // A parent that cannot open the file again takes the lock on the old description. A child must
  // not, because it would lock for its parent.
  if (error != 0 && (changes || !is_here())) return error;
  error = exclusive ? OpenExclusive() : 0;
  if (error != 0) return error;
  error =
      changes ? Change(offset, mode) : LockOne(exclusive ? exclusive_.get() : fd_, offset, mode);
  if (error == 0) Note(offset, mode);
  return error;
}

int FileLocks::WaitFor(int64_t offset, std::chrono::milliseconds timeout) {
  int fd = -1;
  {
    const Entry entry(*this);
    if (!entry.has_mutex()) return EDEADLK;
    if (const int error = Own(); error != 0 && !is_here()) return error;
    if (const int error = OpenExclusive(); error != 0) return error;
    fd = exclusive_.get();
  }
  if (const int error = LockInQueue(fd, offset, timeout); error != 0) return error;
  const Entry entry(*this);
  Note(offset, LockMode::kExclusive);
  return 0;
}

int FileLocks::Unlock(int64_t offset) {
  const Entry entry(*this);
  if (!entry.has_mutex()) return 0;
  const auto found = std::ranges::find(held_, offset, &Held::offset);
  if (found == held_.end()) return 0;
  const Held held = *found;
  held_.erase(found);
  const bool is_child = !is_here();
  if (held.mode == LockMode::kExclusive) {
    return is_child ? 0 : SetLock(exclusive_.get(), F_UNLCK, offset, 1);
  }
  if (!is_child && !forks_.saw_fork()) return SetLock(fd_, F_UNLCK, offset, 1);
  const int error = Own();
  if (error != 0) held_.push_back(held);
  return is_child ? 0 : error;
}

int FileLocks::LockWhole() {
  const Entry entry(*this);
  if (!entry.has_mutex()) return EDEADLK;
  if (const int error = Own(); error != 0 && !is_here()) return error;
  if (const int error = OpenExclusive(); error != 0) return error;
  const int fd = exclusive_.get();
  if (RetryInterrupted([&] { return ::flock(fd, LOCK_EX | LOCK_NB); }) != 0) return errno;
  holds_whole_ = true;
  were_taken_.store(true, std::memory_order_relaxed);
  return 0;
}

// No other file can have the bytes that this one has locked exclusively, so the kernel is asked
// only for the bytes between them.
int FileLocks::FindLocked(int64_t first, int64_t last, std::optional<int64_t>& byte) const {
  byte.reset();
  const MutexLockIf lock(is_here(), mutex_);
  for (;;) {
    const std::optional<int64_t> own = lock.is_held() ? NextExclusive(first, last) : std::nullopt;
    const int64_t count = own.has_value() ? *own - first : last - first + 1;
    struct flock found = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = first, .l_len = count, .l_pid = 0};
    // The kernel takes a count of 0 for everything that follows.
    if (const int error = count > 0 ? Call(fd_, F_OFD_GETLK, found) : 0; error != 0) return error;
    if (count > 0 && found.l_type != F_UNLCK) {
      byte = std::max<int64_t>(found.l_start, first);
      return 0;
    }
    if (!own.has_value() || *own == last) return 0;
    first = *own + 1;
  }
}

bool FileLocks::Holds(int64_t first, int64_t last) const {
  const Entry entry(*this);
  return !entry.has_mutex() || std::ranges::any_of(held_, [&](const Held& held) {
    return first <= held.offset && held.offset <= last;
  });
}

std::optional<int64_t> FileLocks::NextExclusive(int64_t first, int64_t last) const {
  std::optional<int64_t> next;
  for (const Held& held : held_) {
    if (held.mode == LockMode::kShared || held.offset < first || held.offset > last) continue;
    if (!next.has_value() || held.offset < *next) next = held.offset;
  }
  return next;
}

}  // namespace cairn::storage
