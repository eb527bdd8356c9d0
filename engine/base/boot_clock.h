// A steady clock that goes on while the machine sleeps.
#ifndef CAIRN_ENGINE_BASE_BOOT_CLOCK_H_
#define CAIRN_ENGINE_BASE_BOOT_CLOCK_H_

#include <chrono>
#include <time.h>

namespace cairn {

// For times that are compared with those of other machines. Where the system has no such clock, the
// steady one, which stands still meanwhile.
struct BootClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock>;
  static constexpr bool is_steady = true;

  static time_point now() noexcept {
#ifdef CLOCK_BOOTTIME
    timespec now{};
    if (::clock_gettime(CLOCK_BOOTTIME, &now) == 0) {
      return time_point(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
    }
#endif
    return time_point(std::chrono::steady_clock::now().time_since_epoch());
  }
};

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_BOOT_CLOCK_H_
