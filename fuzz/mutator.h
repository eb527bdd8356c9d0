// Declares the functions that libFuzzer calls, and those that it gives the mutators of structured
// inputs.
#ifndef CAIRN_FUZZ_MUTATOR_H_
#define CAIRN_FUZZ_MUTATOR_H_

#include <cstddef>
#include <cstdint>

#include "cairn/types.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
// If a target defines it, it is called instead of libFuzzer's own.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed);
// libFuzzer's own mutation; gives the new size.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace cairn::fuzz {

inline MutableBytes AsBytes(uint8_t* data, size_t size) {
  return {reinterpret_cast<std::byte*>(data), size};
}
inline Bytes AsBytes(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const std::byte*>(data), size};
}

}  // namespace cairn::fuzz

#endif  // CAIRN_FUZZ_MUTATOR_H_
