#include "tests/sqlite/failing_calls.h"

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

namespace cairn::test {

namespace {

constinit std::atomic<int> error_to_give = 0;  // 0: all calls work
constinit std::atomic<int> good_calls = 0;
constinit std::atomic<bool> all_fail = false;
constinit std::atomic<bool> failed = false;

bool Fails() {
  const int error = error_to_give;
  if (error == 0 || good_calls-- > 0 || (failed && !all_fail)) return false;
  failed = true;
  errno = error;
  return true;
}

constinit std::atomic<bool> unlocks_are_slow = false;
constinit std::atomic<bool> unlocking = false;
thread_local bool is_watcher = false;

void UnlockSlowly(const struct flock& lock) {
  if (!unlocks_are_slow || is_watcher || lock.l_type != F_UNLCK) return;
  unlocking = true;
  usleep(200000);
}

template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

FailingCalls::FailingCalls(int good, int error, bool all) {
  good_calls = good;
  all_fail = all;
  failed = false;
  error_to_give = error;
}

FailingCalls::~FailingCalls() { error_to_give = 0; }

bool FailingCalls::has_failed() const { return failed; }

SlowUnlocks::SlowUnlocks() {
  is_watcher = true;
  unlocking = false;
  unlocks_are_slow = true;
}

SlowUnlocks::~SlowUnlocks() { unlocks_are_slow = false; }

void SlowUnlocks::WaitForOne() const {
  while (!unlocking) usleep(100);
}

}  // namespace cairn::test

// In place of those of the C library.
extern "C" {

__attribute__((visibility("default"))) ssize_t pwrite64(int fd, const void* data, size_t size,
                                                        off64_t offset) {
  static auto* const next = cairn::test::Next<decltype(pwrite64)>("pwrite64");
  return cairn::test::Fails() ? -1 : next(fd, data, size, offset);
}

__attribute__((visibility("default"))) int fsync(int fd) {
  static auto* const next = cairn::test::Next<decltype(fsync)>("fsync");
  return cairn::test::Fails() ? -1 : next(fd);
}

__attribute__((visibility("default"))) int fdatasync(int fd) {
  static auto* const next = cairn::test::Next<decltype(fdatasync)>("fdatasync");
  return cairn::test::Fails() ? -1 : next(fd);
}

// All that the extension and SQLite ask for takes one argument, or none.
__attribute__((visibility("default"))) int fcntl64(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  static auto* const next = cairn::test::Next<decltype(fcntl64)>("fcntl64");
  if (command == F_OFD_SETLK) {
    cairn::test::UnlockSlowly(*static_cast<const struct flock*>(argument));
  }
  return next(fd, command, argument);
}

}  // extern "C"
