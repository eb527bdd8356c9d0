// Checks that numbers are an order of things.
#ifndef CAIRN_ENGINE_BASE_PERMUTATION_H_
#define CAIRN_ENGINE_BASE_PERMUTATION_H_

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace cairn {

// Returns the first number that is not below the count of numbers, or that came before. Returns
// nothing for a permutation.
template <typename T>
std::optional<T> FindNonPermutation(std::span<const T> order) {
  std::vector<bool> seen(order.size());
  for (const T number : order) {
    if (number < 0 || static_cast<size_t>(number) >= seen.size()) return number;
    if (seen[static_cast<size_t>(number)]) return number;
    seen[static_cast<size_t>(number)] = true;
  }
  return std::nullopt;
}

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_PERMUTATION_H_
