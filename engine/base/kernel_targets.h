// The instruction sets that kernels are compiled for. Sources with kernels include this before
// Highway, all of them: where its functions are not inlined, one source's idea of the sets would
// choose from the tables of another.
#ifndef CAIRN_ENGINE_BASE_KERNEL_TARGETS_H_
#define CAIRN_ENGINE_BASE_KERNEL_TARGETS_H_

// AVX-512 as of 2019, which Highway leaves out unless asked.
#define HWY_WANT_AVX3_DL 1

// With sanitizers kernels take minutes to compile: there one set of each width of vectors is
// enough.
#if defined(__SANITIZE_ADDRESS__)
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3)
#endif

#endif  // CAIRN_ENGINE_BASE_KERNEL_TARGETS_H_
