#include "engine/storage/posix/lock_queue.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <optional>
#include <pthread.h>

#include "engine/base/deadline.h"
#include "engine/base/mutex.h"
#include "engine/base/status.h"
#include "engine/storage/posix/fd.h"

namespace cairn::storage {

namespace {

// Numbers go up until the queue is empty. There are enough of them for years.
constexpr int64_t kTickets = kQueueSize;

struct flock Range(short type, int64_t begin, int64_t count) {
  return {.l_type = type, .l_whence = SEEK_SET, .l_start = begin, .l_len = count, .l_pid = 0};
}

// Returns 0 or an errno: EAGAIN if another open file holds a part of the range.
int TryLock(int fd, int64_t begin, int64_t count) {
  struct flock lock = Range(F_WRLCK, begin, count);
  if (RetryInterrupted([&] { return ::fcntl(fd, F_OFD_SETLK, &lock); }) == 0) return 0;
  return errno == EACCES ? EAGAIN : errno;
}

void Unlock(int fd, int64_t begin, int64_t count) {
  struct flock lock = Range(F_UNLCK, begin, count);
  RetryInterrupted([&] { return ::fcntl(fd, F_OFD_SETLK, &lock); });
}

// Returns 1 if a ticket further than `distance` from the byte is held, 0 if none is, or a negative
// errno.
int IsHeldBeyond(int fd, int64_t byte, int64_t distance) {
  if (distance == kTickets) return 0;
  struct flock lock = Range(F_WRLCK, byte - kTickets, kTickets - distance);
  if (RetryInterrupted([&] { return ::fcntl(fd, F_OFD_GETLK, &lock); }) != 0) return -errno;
  return lock.l_type == F_UNLCK ? 0 : 1;
}

// Takes the first ticket that lies further away than all held ones. Returns 0 or an errno.
int TakeTicket(int fd, int64_t byte, int64_t& ticket) {
  for (;;) {
    int64_t near = 0;
    int64_t far = kTickets;  // nothing was held beyond
    // The distances double, because most queues are short.
    for (int64_t middle = 1; near < far; middle = std::min(2 * middle, near + (far - near) / 2)) {
      const int held = IsHeldBeyond(fd, byte, middle);
      if (held < 0) return -held;
      (held == 1 ? near : far) = middle + held;
    }
    if (far == kTickets) return EAGAIN;
    ticket = byte - far - 1;
    // Another process may have taken the ticket since.
    const int error = TryLock(fd, ticket, 1);
    if (error != EAGAIN) return error;
  }
}

// A thread that blocks on a range for another thread, which waits no longer than a timeout.
class BlockedLock {
 public:
  BlockedLock(int fd, int64_t begin, int64_t count)
      : fd_(fd), range_(Range(F_WRLCK, begin, count)) {}

  // Returns 0 or an errno: EAGAIN if the timeout has elapsed, EBUSY if no thread could be started.
  // Unless it returns 0, a part of the range may be locked.
  int Wait(std::chrono::milliseconds timeout) {
    if (!Start()) return EBUSY;
    std::optional<int> error;
    {
      const MutexLock lock(mutex_);
      const auto end = std::chrono::steady_clock::now() + timeout;
      while (!error_.has_value() && changed_.WaitUntil(mutex_, end)) {
      }
      error = error_;
    }
    // A thread can be cancelled during the system call.
    if (!error.has_value()) ::pthread_cancel(thread_);
    ::pthread_join(thread_, nullptr);
    return error.value_or(EAGAIN);
  }

 private:
  // Starts the thread without the program's signals, which are not for it.
  bool Start() {
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = ::pthread_create(&thread_, nullptr, &Run, this);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return error == 0;
  }

  static void* Run(void* self) {
    auto* const lock = static_cast<BlockedLock*>(self);
    lock->Report(lock->Block());
    return nullptr;
  }

  // A cancelled thread has nothing to clean up.
  int Block() {
    int error = 0;
    do {
      error = ::fcntl(fd_, F_OFD_SETLKW, &range_) == 0 ? 0 : errno;
    } while (error == EINTR);
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    return error;
  }

  void Report(int error) {
    const MutexLock lock(mutex_);
    error_ = error;
    changed_.NotifyOne();
  }

  const int fd_;
  struct flock range_;
  pthread_t thread_ = {};
  Mutex mutex_;
  CondVar changed_;
  std::optional<int> error_ ABSL_GUARDED_BY(mutex_);  // set once the lock was taken or refused
};

}  // namespace

int LockInQueue(int fd, int64_t byte, std::chrono::milliseconds timeout) {
  const Deadline deadline(timeout);
  int held = IsHeldBeyond(fd, byte, 0);
  if (held < 0) return -held;
  if (held == 0) {
    const int error = TryLock(fd, byte, 1);
    if (error != EAGAIN) return error;
  }
  if (deadline.left().count() == 0) return EAGAIN;
  int64_t ticket = 0;
  if (const int error = TakeTicket(fd, byte, ticket); error != 0) return error;
  int error = BlockedLock(fd, ticket + 1, byte - ticket).Wait(deadline.left());
  while (error == EBUSY && deadline.left().count() > 0) {
    Pause();
    error = TryLock(fd, ticket + 1, byte - ticket) == 0 ? 0 : EBUSY;
  }
  Unlock(fd, ticket, byte - ticket + (error == 0 ? 0 : 1));
  return error == EBUSY ? EAGAIN : error;
}

}  // namespace cairn::storage
