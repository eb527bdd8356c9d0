// Brings memory closer before it is read.
#ifndef CAIRN_ENGINE_BASE_PREFETCH_H_
#define CAIRN_ENGINE_BASE_PREFETCH_H_

#include <algorithm>
#include <cstddef>

#include "cairn/types.h"

namespace cairn {

// Prefetches up to 2 KiB that may be cold, so that their cache misses overlap. Beyond that the
// hardware prefetcher keeps up.
inline void Prefetch(Bytes bytes) {
  constexpr size_t kLine = 64;
  constexpr size_t kMost = 2048;
  for (size_t at = 0; at < std::min(bytes.size(), kMost); at += kLine) {
    __builtin_prefetch(bytes.data() + at);
  }
}

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_PREFETCH_H_
