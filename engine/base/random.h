// Unpredictable numbers: no two files share one.
#ifndef CAIRN_ENGINE_BASE_RANDOM_H_
#define CAIRN_ENGINE_BASE_RANDOM_H_

#include <cstdint>
#include <random>
#include <unistd.h>

namespace cairn {

inline uint64_t RandomNumber() {
  uint64_t number = 0;
  // This is far faster than the instruction that std::random_device prefers.
  if (::getentropy(&number, sizeof(number)) == 0) return number;
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_RANDOM_H_
