// Loops over numbers that a query compares and sums up, with SIMD. `chosen` has a byte for each
// number: 1 if its record counts, or else 0.
#ifndef CAIRN_ENGINE_LOG_QUERY_NUMBER_KERNELS_H_
#define CAIRN_ENGINE_LOG_QUERY_NUMBER_KERNELS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "cairn/log.h"

namespace cairn::log {

// Each number is added to the lane of its place, so all processors round sums of doubles alike.
inline constexpr size_t kSumLanes = 8;

// The sum of numbers that are double, int64_t or uint64_t, for each lane. NaNs do not count.
template <typename T>
struct LaneSums {
  using Limits = std::numeric_limits<T>;
  static constexpr bool kReal = std::is_floating_point_v<T>;
  // Integers are added in two parts: times 2^32, and below that. 2^31 numbers fit.
  using High = std::conditional_t<kReal, double, T>;

  std::array<int64_t, kSumLanes> count = {};
  std::array<T, kSumLanes> least;
  std::array<T, kSumLanes> greatest;
  std::array<High, kSumLanes> high = {};  // of doubles, the sum
  std::array<uint64_t, kSumLanes> low = {};

  LaneSums() {
    least.fill(kReal ? Limits::infinity() : Limits::max());
    greatest.fill(kReal ? -Limits::infinity() : Limits::min());
  }
};

// The loops for one kind of processor. `count` is a multiple of kSumLanes.
template <typename T>
struct NumberKernels {
  void (*add)(const T* numbers, const uint8_t* chosen, size_t count, LaneSums<T>& sums);
  void (*clear)(const T* numbers, Comparison comparison, T wanted, size_t count, uint8_t* chosen);
};

// Adds the chosen numbers.
template <typename T>
void AddChosen(std::span<const T> numbers, std::span<const uint8_t> chosen, LaneSums<T>& sums);

// Clears the byte of each number of which the comparison with `wanted` does not hold.
template <typename T>
void ClearUnless(std::span<const T> numbers, Comparison comparison, T wanted,
                 std::span<uint8_t> chosen);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_QUERY_NUMBER_KERNELS_H_
