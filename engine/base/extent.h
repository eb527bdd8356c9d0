// A range of bytes of a file.
#ifndef CAIRN_ENGINE_BASE_EXTENT_H_
#define CAIRN_ENGINE_BASE_EXTENT_H_

#include <cstdint>

namespace cairn {

// Bytes [begin, end).
struct Extent {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
};

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_EXTENT_H_
