// Ranges of bytes of a file.
#ifndef CAIRN_ENGINE_BASE_EXTENT_H_
#define CAIRN_ENGINE_BASE_EXTENT_H_

#include <cstdint>

namespace cairn {

// The unit in which the kernel caches files and frees their space.
inline constexpr int64_t kPageSize = 4096;

// Bytes [begin, end).
struct Extent {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
  bool operator==(const Extent&) const = default;
};

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_EXTENT_H_
