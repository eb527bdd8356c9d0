#include "tests/support/shifted_boot_clock.h"

#include <atomic>
#include <cstdint>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace {

std::atomic<int64_t> slept_seconds = 0;

}  // namespace

// Replaces the function of the C library.
extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const long result = ::syscall(SYS_clock_gettime, clock, now);
  if (result == 0 && clock == CLOCK_BOOTTIME) now->tv_sec += slept_seconds.load();
  return static_cast<int>(result);
}

namespace cairn::test {

void SleepMachine(std::chrono::seconds time) { slept_seconds += time.count(); }

}  // namespace cairn::test
