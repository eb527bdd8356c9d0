// Waits, which the tool reports, and which a signal ends although it is held back.
#ifndef CAIRN_TOOLS_CAIRN_IO_PATIENCE_H_
#define CAIRN_TOOLS_CAIRN_IO_PATIENCE_H_

#include <algorithm>
#include <chrono>
#include <string>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "tools/cairn/io/held_signals.h"
#include "tools/cairn/text/complain.h"

namespace cairn::tool {

// A wait is silent for this long.
inline constexpr std::chrono::milliseconds kSilence{2000};

inline absl::Status AdviseToWait(const absl::Status& status) {
  return absl::UnavailableError(
      absl::StrCat(status.message(), "; --wait SECONDS waits for it to end"));
}

// Waits for another writer: calls attempt(part of `wait`) until it returns anything except
// kUnavailable or the time is over. Returns the last result, or kAborted after a signal.
template <typename Attempt>
std::invoke_result_t<Attempt, std::chrono::milliseconds> WaitForTurn(std::chrono::milliseconds wait,
                                                                     Attempt attempt) {
  constexpr std::chrono::milliseconds kPart{500};
  const auto begin = std::chrono::steady_clock::now();
  bool told = false;
  for (;;) {
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begin);
    const auto left = std::max(wait - passed, std::chrono::milliseconds(0));
    auto result = attempt(std::min(left, kPart));
    if (!absl::IsUnavailable(result.status())) return result;
    if (wait.count() == 0) return AdviseToWait(result.status());
    if (left <= kPart) return result;
    if (SignalHasCome()) return StoppedBySignal();
    if (!told && passed >= kSilence) {
      told = true;
      Complain("waiting: " + std::string(result.status().message()));
    }
  }
}

// Returns the writer of a frame or a log, when its turn has come.
template <typename Written, typename Options>
auto OpenWriterInTurn(Written& written, Options options) {
  return WaitForTurn(options.wait, [&](std::chrono::milliseconds part) {
    options.wait = part;
    return written.OpenWriter(options);
  });
}

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_IO_PATIENCE_H_
