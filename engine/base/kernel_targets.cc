#include "engine/base/kernel_targets.h"

#include <atomic>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace cairn {

namespace {

#if defined(__x86_64__)

// Features that some compilers have no name for.
struct Unnamed {
  bool f16c = false;
  bool lzcnt = false;
  bool vaes = false;
};

Unnamed AskProcessor() {
  Unnamed has;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) != 0) has.f16c = (c >> 29 & 1) != 0;
  if (__get_cpuid(0x80000001, &a, &b, &c, &d) != 0) has.lzcnt = (c >> 5 & 1) != 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) has.vaes = (c >> 9 & 1) != 0;
  return has;
}

// Returns the sets whose features the processor has, and whose registers the system saves. Highway
// compiles each set with exactly the features that are tested here. A set is there only if the one
// before it is.
int64_t TargetsOfProcessor() {
  __builtin_cpu_init();
  const Unnamed has = AskProcessor();
  int64_t targets = 0;
  if (!__builtin_cpu_supports("ssse3")) return targets;
  targets |= HWY_SSSE3;
  if (!__builtin_cpu_supports("sse4.1") || !__builtin_cpu_supports("sse4.2") ||
      !__builtin_cpu_supports("pclmul") || !__builtin_cpu_supports("aes")) {
    return targets;
  }
  targets |= HWY_SSE4;
  if (!__builtin_cpu_supports("avx") || !__builtin_cpu_supports("avx2") ||
      !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2") ||
      !__builtin_cpu_supports("fma") || !has.f16c || !has.lzcnt) {
    return targets;
  }
  targets |= HWY_AVX2;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512vl") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512cd")) {
    return targets;
  }
  targets |= HWY_AVX3;
  if (!__builtin_cpu_supports("avx512vnni") || !__builtin_cpu_supports("avx512vbmi") ||
      !__builtin_cpu_supports("avx512vbmi2") || !__builtin_cpu_supports("avx512bitalg") ||
      !__builtin_cpu_supports("avx512vpopcntdq") || !__builtin_cpu_supports("vpclmulqdq") ||
      !__builtin_cpu_supports("gfni") || !has.vaes) {
    return targets;
  }
  return targets | HWY_AVX3_DL;
}

#else

int64_t TargetsOfProcessor() { return 0; }

#endif

// 0: not yet asked. NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<int64_t> supported_targets = 0;

}  // namespace

int64_t SupportedTargets() {
  int64_t targets = supported_targets.load(std::memory_order_relaxed);
  if (targets != 0) return targets;
  targets = (TargetsOfProcessor() & HWY_TARGETS) | HWY_STATIC_TARGET;
  supported_targets.store(targets, std::memory_order_relaxed);
  return targets;
}

void SetSupportedTargetsForTest(int64_t targets) {
  supported_targets.store(targets, std::memory_order_relaxed);
}

}  // namespace cairn
