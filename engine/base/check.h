// Checks of invariants, which hold whatever is in the files and whatever callers do.
#ifndef CAIRN_ENGINE_BASE_CHECK_H_
#define CAIRN_ENGINE_BASE_CHECK_H_

#include <cstdio>
#include <cstdlib>

namespace cairn {

[[noreturn, gnu::cold, gnu::noinline]] inline void CheckFailed(const char* condition,
                                                               const char* file, int line) {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}

// True in debug builds, which also run the checks that take longer than the code they check.
#if defined(NDEBUG) || defined(__OPTIMIZE__)
inline constexpr bool kChecksAll = false;
#else
inline constexpr bool kChecksAll = true;
#endif

}  // namespace cairn

// Ends the program if the condition does not hold. That is always a fault of Cairn: a damaged or
// forged file gets an absl::Status instead. Releases (NDEBUG) compile the condition but do not run
// it. All other builds run it, so it takes at most O(log n).
#ifdef NDEBUG
#define CAIRN_DCHECK(condition) static_cast<void>(sizeof((condition) ? 1 : 0))
#else
#define CAIRN_DCHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::cairn::CheckFailed(#condition, __FILE__, __LINE__))
#endif

#endif  // CAIRN_ENGINE_BASE_CHECK_H_
