// The instruction sets that kernels are compiled for, and the choice among them. Every source with
// kernels must include this before Highway. Otherwise, if Highway's functions are not inlined, one
// source's idea of the sets would choose from the tables of another.
#ifndef CAIRN_ENGINE_BASE_KERNEL_TARGETS_H_
#define CAIRN_ENGINE_BASE_KERNEL_TARGETS_H_

#include <bit>
#include <cstddef>
#include <cstdint>

// Asks for AVX-512 as of 2019, which Highway leaves out by default.
#define HWY_WANT_AVX3_DL 1

// The choice below is for x86. Elsewhere there is one set: what the compiler may use anyway.
#if !defined(__x86_64__) && !defined(HWY_COMPILE_ONLY_STATIC)
#define HWY_COMPILE_ONLY_STATIC
#endif

// Kernels take minutes to compile with sanitizers, so sanitizer builds have only one set for each
// width of vectors.
#if defined(__SANITIZE_ADDRESS__)
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3)
#endif

// Highway's own checks and its own choice are in its library, which the engine does not link: it
// measures clocks for five milliseconds in each program that uses it.
#define HWY_IS_DEBUG_BUILD 0

#include "hwy/targets.h"

namespace cairn {

// Returns the sets that this processor has and that kernels are compiled for, as bits of
// HWY_TARGETS. A better set has a lower bit. Thread-safe.
int64_t SupportedTargets();
// Makes SupportedTargets return these. With 0 it returns the sets of the processor again.
void SetSupportedTargetsForTest(int64_t targets);

#if (HWY_TARGETS & (HWY_TARGETS - 1)) == 0

#define CAIRN_EXPORT_KERNEL(name) static_assert(true)
#define CAIRN_KERNEL(name) HWY_STATIC_DISPATCH(name)

#else

// Returns the index, in a kernel's table, of the function for the best set. The last function is
// for every processor.
inline size_t KernelIndex() {
  constexpr int kFirstBit = HWY_HIGHEST_TARGET_BIT + 1 - HWY_MAX_DYNAMIC_TARGETS;
  constexpr uint64_t kLast = uint64_t{1} << HWY_MAX_DYNAMIC_TARGETS;
  const auto targets = static_cast<uint64_t>(SupportedTargets());
  return static_cast<size_t>(std::countr_zero(targets >> kFirstBit | kLast));
}

// Makes the function `name` of HWY_NAMESPACE callable as CAIRN_KERNEL(name)(...). It stands in the
// namespace around HWY_NAMESPACE, where HWY_ONCE is true.
#define CAIRN_EXPORT_KERNEL(name)                                                                 \
  constexpr decltype(&HWY_STATIC_DISPATCH(name)) name##Kernels[] = {HWY_CHOOSE_TARGET_LIST(name), \
                                                                    HWY_CHOOSE_FALLBACK(name)}
#define CAIRN_KERNEL(name) (*name##Kernels[KernelIndex()])

#endif

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_KERNEL_TARGETS_H_
