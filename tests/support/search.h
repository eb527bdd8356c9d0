// Tools that make random searches longer or shorter.
#ifndef CAIRN_TESTS_SUPPORT_SEARCH_H_
#define CAIRN_TESTS_SUPPORT_SEARCH_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "absl/functional/function_ref.h"

namespace cairn::test {

// A build that checks every access of memory takes fifteen times as long. So it runs fewer of the
// searches, and tries every seventh bit or byte where others try all. Seven is odd, so that all
// bits of a byte are met.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr int64_t kUsualPercent = 25;
inline constexpr int kTryEach = 7;
#else
inline constexpr int64_t kUsualPercent = 100;
inline constexpr int kTryEach = 1;
#endif

// Returns the part of `count` that CAIRN_SEARCH_PERCENT says, rounded down.
inline int64_t SearchShare(int64_t count) {
  const char* const text = std::getenv("CAIRN_SEARCH_PERCENT");
  const int64_t percent = text == nullptr ? kUsualPercent : std::strtoll(text, nullptr, 10);
  return count * percent / 100;
}

// Returns that part of `runs`, at least one.
inline int64_t SearchRuns(int64_t runs) { return std::max<int64_t>(1, SearchShare(runs)); }

inline uint64_t NumberIn(const char* variable, uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Calls `run` with the seeds of `count` runs, of which a share leaves `least`: a search that has to
// come upon something needs that many. The environment may change it:
//   CAIRN_CRASH_SEED=2      other seeds (1 is the default)
//   CAIRN_SEARCH_PERCENT=500 five times as many runs
//   CAIRN_CRASH_RUN=1000033 that seed alone, as a message names it, and prints every operation
inline void ForEachSeed(int64_t count, int64_t least, absl::FunctionRef<void(uint64_t seed)> run) {
  if (const uint64_t only = NumberIn("CAIRN_CRASH_RUN", 0); only != 0) return run(only);
  const uint64_t first = NumberIn("CAIRN_CRASH_SEED", 1) * 1000003;
  const int64_t runs = std::max(least, SearchRuns(count));
  for (int64_t i = 0; i < runs; ++i) run(first + static_cast<uint64_t>(i));
}

inline void ForEachSeed(int64_t count, absl::FunctionRef<void(uint64_t seed)> run) {
  ForEachSeed(count, 1, run);
}

// Searches with up to `count` seeds until `run` says that it found what must be there. No
// percentage shortens the search, because it would miss rare things.
inline bool FindSeed(int64_t count, absl::FunctionRef<bool(uint64_t seed)> run) {
  bool found = false;
  ForEachSeed(count, count, [&](uint64_t seed) { found = found || run(seed); });
  return found;
}

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_SEARCH_H_
