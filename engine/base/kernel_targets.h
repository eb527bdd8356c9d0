// The instruction sets that kernels are compiled for, and the choice among them. Sources with
// kernels include this before Highway, all of them: where its functions are not inlined, one
// source's idea of the sets would choose from the tables of another.
#ifndef CAIRN_ENGINE_BASE_KERNEL_TARGETS_H_
#define CAIRN_ENGINE_BASE_KERNEL_TARGETS_H_

#include <bit>
#include <cstddef>
#include <cstdint>

// AVX-512 as of 2019, which Highway leaves out unless asked.
#define HWY_WANT_AVX3_DL 1

// The choice below is for x86. Elsewhere there is one set: what the compiler may use anyway.
#if !defined(__x86_64__) && !defined(HWY_COMPILE_ONLY_STATIC)
#define HWY_COMPILE_ONLY_STATIC
#endif

// With sanitizers kernels take minutes to compile: there one set of each width of vectors is
// enough.
#if defined(__SANITIZE_ADDRESS__)
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3)
#endif

// Highway's own checks and its own choice are in its library, which measures clocks for five
// milliseconds in each program that is linked to it.
#define HWY_IS_DEBUG_BUILD 0

#include "hwy/targets.h"

namespace cairn {

// The sets that this processor has and kernels are compiled for, as bits of HWY_TARGETS: a better
// set has a lower bit. Thread-safe.
int64_t SupportedTargets();
// SupportedTargets gives these from now on; with 0 what is true again.
void SetSupportedTargetsForTest(int64_t targets);

#if (HWY_TARGETS & (HWY_TARGETS - 1)) == 0

#define CAIRN_EXPORT_KERNEL(name) static_assert(true)
#define CAIRN_KERNEL(name) HWY_STATIC_DISPATCH(name)

#else

// Where a kernel's table has the function for the best set; the last one is for every processor.
inline size_t KernelIndex() {
  constexpr int kFirstBit = HWY_HIGHEST_TARGET_BIT + 1 - HWY_MAX_DYNAMIC_TARGETS;
  constexpr uint64_t kLast = uint64_t{1} << HWY_MAX_DYNAMIC_TARGETS;
  const auto targets = static_cast<uint64_t>(SupportedTargets());
  return static_cast<size_t>(std::countr_zero(targets >> kFirstBit | kLast));
}

// Makes the function `name` of HWY_NAMESPACE callable as CAIRN_KERNEL(name)(...), in the namespace
// around that one and where HWY_ONCE is true.
#define CAIRN_EXPORT_KERNEL(name)                                                                 \
  constexpr decltype(&HWY_STATIC_DISPATCH(name)) name##Kernels[] = {HWY_CHOOSE_TARGET_LIST(name), \
                                                                    HWY_CHOOSE_FALLBACK(name)}
#define CAIRN_KERNEL(name) (*name##Kernels[KernelIndex()])

#endif

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_KERNEL_TARGETS_H_
