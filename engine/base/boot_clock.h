// A steady clock that also counts the time during which the machine sleeps.
#ifndef CAIRN_ENGINE_BASE_BOOT_CLOCK_H_
#define CAIRN_ENGINE_BASE_BOOT_CLOCK_H_

#include <chrono>
#include <time.h>

namespace cairn {

// Serves for times that are compared with those of other machines. On a system without such a
// clock, this is the steady clock, which stands still while the machine sleeps.
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
