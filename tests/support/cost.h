// Measures how the cost of work grows with its input.
#ifndef CAIRN_TESTS_SUPPORT_COST_H_
#define CAIRN_TESTS_SUPPORT_COST_H_

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <functional>

#include <gtest/gtest.h>

namespace cairn::test {

// Under a sanitizer a round takes so long that no disturbance lasts for all of it.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr int kRounds = 1;
#else
inline constexpr int kRounds = 3;
#endif

// Expects that processor time grows no faster than input. `prepare` makes the work for a size. The
// work for `size` is compared with that for four times the size, which takes four times as long if
// it is linear and 16 times if it is quadratic. The best of kRounds rounds counts; if others
// disturb them, up to 20 rounds run. Choose a size whose work takes milliseconds.
inline void ExpectLinear(int64_t size,
                         const std::function<std::function<void()>(int64_t)>& prepare) {
  const std::function<void()> few = prepare(size);
  const std::function<void()> many = prepare(4 * size);
  const auto shorter = [](std::clock_t best, const std::function<void()>& run) {
    const std::clock_t begin = std::clock();
    run();
    return std::min(best, std::clock() - begin);
  };
  constexpr std::clock_t kForever = std::clock_t{3600} * CLOCKS_PER_SEC;
  std::clock_t took_few = kForever;
  std::clock_t took_many = kForever;
  constexpr std::clock_t kNoise = CLOCKS_PER_SEC / 500;
  const auto is_linear = [&] { return took_many < 9 * took_few + kNoise; };
  for (int round = 0; round < kRounds || (round < 20 && !is_linear()); ++round) {
    took_few = shorter(took_few, few);
    took_many = shorter(took_many, many);
  }
  EXPECT_TRUE(is_linear()) << took_few << " ticks for " << size << ", " << took_many << " for "
                           << 4 * size;
}

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_COST_H_
