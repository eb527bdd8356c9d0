// Numbers that nobody can know before: no two files share one.
#ifndef CAIRN_ENGINE_BASE_RANDOM_H_
#define CAIRN_ENGINE_BASE_RANDOM_H_

#include <cstdint>

namespace cairn::frame {

uint64_t RandomNumber();

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_BASE_RANDOM_H_
