// Random numbers of a seed, equal on every machine.
#ifndef CAIRN_TESTS_SUPPORT_DICE_H_
#define CAIRN_TESTS_SUPPORT_DICE_H_

#include <cstddef>
#include <cstdint>

namespace cairn::test {

class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed) {}

  // Uses SplitMix64.
  uint64_t Next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  size_t Below(size_t limit) { return static_cast<size_t>(Next() % limit); }
  bool Percent(size_t chance) { return Below(100) < chance; }

 private:
  uint64_t state_;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_DICE_H_
