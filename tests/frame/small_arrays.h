// Arrays that tests of this folder share.
#ifndef CAIRN_TESTS_FRAME_SMALL_ARRAYS_H_
#define CAIRN_TESTS_FRAME_SMALL_ARRAYS_H_

#include <cstdint>

#include "cairn/options.h"

namespace cairn::test {

inline CreateOptions OfArray(const ArrayInfo& array, int32_t typesize = 1) {
  CreateOptions options;
  options.compression.typesize = typesize;
  options.array = array;
  return options;
}

// Of bytes: four chunks of 24, each of four blocks of 6.
inline ArrayInfo SmallArray() {
  return {.shape = {5, 7}, .chunkshape = {3, 5}, .blockshape = {2, 3}};
}

}  // namespace cairn::test

#endif  // CAIRN_TESTS_FRAME_SMALL_ARRAYS_H_
