// The instruction sets that kernels are compiled for. Sources with kernels include this before
// Highway, all of them: where its functions are not inlined, one source's idea of the sets would
// choose from the tables of another.
#ifndef CAIRN_ENGINE_BASE_KERNEL_TARGETS_H_
#define CAIRN_ENGINE_BASE_KERNEL_TARGETS_H_

// AVX-512 as of 2019, which Highway leaves out unless asked.
#define HWY_WANT_AVX3_DL 1

#endif  // CAIRN_ENGINE_BASE_KERNEL_TARGETS_H_
