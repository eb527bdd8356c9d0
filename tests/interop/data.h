// Data to compress: like what people store, and worse.
#ifndef CAIRN_TESTS_INTEROP_DATA_H_
#define CAIRN_TESTS_INTEROP_DATA_H_

#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "cairn/types.h"

namespace cairn::interop {

using Buffer = std::vector<std::byte>;
using Random = std::mt19937_64;

enum class DataKind { kZeros, kConstant, kRandom, kWalk, kSine, kText, kSparse, kRecords };
inline constexpr DataKind kAllDataKinds[] = {
    DataKind::kZeros, DataKind::kConstant, DataKind::kRandom, DataKind::kWalk,
    DataKind::kSine,  DataKind::kText,     DataKind::kSparse, DataKind::kRecords};
std::string_view ToString(DataKind kind);

// `size` bytes of items of `typesize` bytes; the last item may be cut.
Buffer MakeData(DataKind kind, size_t size, int32_t typesize, Random& random);

// Uniform in [low, high].
int64_t Between(Random& random, int64_t low, int64_t high);

template <typename Range>
auto Pick(Random& random, const Range& range) {
  return range[static_cast<size_t>(Between(random, 0, std::ssize(range) - 1))];
}

}  // namespace cairn::interop

#endif  // CAIRN_TESTS_INTEROP_DATA_H_
