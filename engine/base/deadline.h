// Waits for a resource that another process or thread holds.
#ifndef CAIRN_ENGINE_BASE_DEADLINE_H_
#define CAIRN_ENGINE_BASE_DEADLINE_H_

#include <algorithm>
#include <chrono>
#include <thread>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cairn {

// The end of a wait. Timeouts are capped at ten years so that the deadline does not overflow.
class Deadline {
 public:
  explicit Deadline(std::chrono::milliseconds timeout)
      : end_(Clock::now() + std::clamp<std::chrono::milliseconds>(timeout, {}, kMaxTimeout)) {}

  // Returns the time that is left, or 0 once the deadline has passed.
  std::chrono::milliseconds left() const {
    return std::max(std::chrono::ceil<std::chrono::milliseconds>(end_ - Clock::now()),
                    std::chrono::milliseconds(0));
  }
  bool has_passed() const { return Clock::now() >= end_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::years kMaxTimeout{10};

  const Clock::time_point end_;
};

// Waits 1 ms between two attempts.
inline void Pause() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

// Waits between attempts that are cheap: 5 us at first, then longer, up to 200 us. What others hold
// again and again may be free for as short a time.
class ShortPause {
 public:
  void operator()() {
    std::this_thread::sleep_for(next_);
    next_ = std::min<std::chrono::microseconds>(2 * next_, kLongest);
  }

 private:
  static constexpr std::chrono::microseconds kLongest{200};
  std::chrono::microseconds next_{5};
};

namespace internal {
inline const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}
}  // namespace internal

// Calls `attempt` until it returns anything except kUnavailable or `timeout` elapses, and `pause`
// in between. Returns the last result.
template <typename Try, typename Wait = void (*)()>
std::invoke_result_t<Try> RetryUnavailable(std::chrono::milliseconds timeout, Try attempt,
                                           Wait pause = Pause) {
  const Deadline deadline(timeout);
  for (;;) {
    auto result = attempt();
    if (!absl::IsUnavailable(internal::StatusOf(result)) || deadline.has_passed()) return result;
    pause();
  }
}

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_DEADLINE_H_
