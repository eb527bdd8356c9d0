// Arithmetic on numbers that come from a file.
#ifndef CAIRN_ENGINE_BASE_CHECKED_H_
#define CAIRN_ENGINE_BASE_CHECKED_H_

#include <concepts>
#include <cstdint>
#include <optional>

namespace cairn {

// Returns nothing if the result does not fit.
template <std::integral T>
constexpr std::optional<T> CheckedAdd(T a, T b) {
  T result;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}

template <std::integral T>
constexpr std::optional<T> CheckedMul(T a, T b) {
  T result;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

// Returns ceil(a / b) for a >= 0, b > 0. Cannot overflow.
template <std::integral T>
constexpr T CeilDiv(T a, T b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

// Returns true if [offset, offset + size) lies inside [0, limit). All three may be any number.
constexpr bool RangeFits(int64_t offset, int64_t size, int64_t limit) {
  return offset >= 0 && size >= 0 && offset <= limit && size <= limit - offset;
}

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_CHECKED_H_
