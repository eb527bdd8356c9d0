// Unpredictable numbers: no two files share one.
#ifndef CAIRN_ENGINE_BASE_RANDOM_H_
#define CAIRN_ENGINE_BASE_RANDOM_H_

#include <cstdint>

namespace cairn {

uint64_t RandomNumber();

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_RANDOM_H_
