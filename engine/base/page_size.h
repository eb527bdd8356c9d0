// The unit in which the kernel caches files and frees their space.
#ifndef CAIRN_ENGINE_BASE_PAGE_SIZE_H_
#define CAIRN_ENGINE_BASE_PAGE_SIZE_H_

#include <cstdint>

namespace cairn {

inline constexpr int64_t kPageSize = 4096;

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_PAGE_SIZE_H_
