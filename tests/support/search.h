// How long random searches go on.
#ifndef CAIRN_TESTS_SUPPORT_SEARCH_H_
#define CAIRN_TESTS_SUPPORT_SEARCH_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace cairn::test {

// A build that looks at every access of memory takes longer.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr int64_t kUsualPercent = 25;
#else
inline constexpr int64_t kUsualPercent = 100;
#endif

// As many of `runs` as CAIRN_SEARCH_PERCENT says, at least one.
inline int64_t SearchRuns(int64_t runs) {
  const char* const text = std::getenv("CAIRN_SEARCH_PERCENT");
  const int64_t percent = text == nullptr ? kUsualPercent : std::strtoll(text, nullptr, 10);
  return std::max<int64_t>(1, runs * percent / 100);
}

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_SEARCH_H_
