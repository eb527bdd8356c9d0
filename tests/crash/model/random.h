// SplitMix64.
#ifndef CAIRN_TESTS_CRASH_MODEL_RANDOM_H_
#define CAIRN_TESTS_CRASH_MODEL_RANDOM_H_

#include <cstdint>

namespace cairn::model {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    state_ += 0x9E3779B97F4A7C15u;
    uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return mixed ^ (mixed >> 31);
  }
  uint64_t Below(uint64_t bound) { return Next() % bound; }
  bool Percent(uint64_t percent) { return Below(100) < percent; }

 private:
  uint64_t state_;
};

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_RANDOM_H_
