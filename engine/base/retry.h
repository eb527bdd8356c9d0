// Trying again while somebody else holds what is wanted.
#ifndef CAIRN_ENGINE_BASE_RETRY_H_
#define CAIRN_ENGINE_BASE_RETRY_H_

#include <algorithm>
#include <chrono>
#include <thread>
#include <type_traits>

#include "absl/status/status.h"

namespace cairn::frame {

// The first result that is not kUnavailable, or the last one when the time is over. Years are for
// ever.
template <typename Try>
std::invoke_result_t<Try> RetryUnavailable(std::chrono::milliseconds wait, Try attempt) {
  constexpr std::chrono::milliseconds kPause(1);
  constexpr std::chrono::years kForEver(10);  // the clock has no room for all that `wait` has
  const auto end =
      std::chrono::steady_clock::now() + std::clamp<std::chrono::milliseconds>(wait, {}, kForEver);
  for (;;) {
    auto result = attempt();
    if (!absl::IsUnavailable(result.status()) || std::chrono::steady_clock::now() >= end) {
      return result;
    }
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_BASE_RETRY_H_
