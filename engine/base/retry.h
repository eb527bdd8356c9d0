// Trying again while another process or thread holds what is wanted.
#ifndef CAIRN_ENGINE_BASE_RETRY_H_
#define CAIRN_ENGINE_BASE_RETRY_H_

#include <algorithm>
#include <chrono>
#include <thread>
#include <type_traits>

#include "absl/status/status.h"

namespace cairn {

// Calls `attempt` until it returns anything but kUnavailable or `timeout` elapses; returns the last
// result. Timeouts are capped at ten years so that the deadline does not overflow.
template <typename Try>
std::invoke_result_t<Try> RetryUnavailable(std::chrono::milliseconds timeout, Try attempt) {
  constexpr std::chrono::milliseconds kPause(1);
  constexpr std::chrono::years kMaxTimeout(10);
  const auto deadline = std::chrono::steady_clock::now() +
                        std::clamp<std::chrono::milliseconds>(timeout, {}, kMaxTimeout);
  for (;;) {
    auto result = attempt();
    if (!absl::IsUnavailable(result.status()) || std::chrono::steady_clock::now() >= deadline) {
      return result;
    }
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_RETRY_H_
