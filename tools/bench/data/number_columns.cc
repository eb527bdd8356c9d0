#include "tools/bench/data/number_columns.h"

#include <cmath>
#include <cstring>
#include <random>
#include <utility>

namespace cairn::bench {

namespace {

template <typename T, typename Next>
NumberColumn Column(std::string name, uint8_t kind, int64_t count, const Next& next) {
  NumberColumn column = {.name = std::move(name), .size = sizeof(T), .kind = kind};
  column.bytes.resize(static_cast<size_t>(count) * sizeof(T));
  for (size_t i = 0; i < column.bytes.size(); i += sizeof(T)) {
    const T value = static_cast<T>(next());
    std::memcpy(column.bytes.data() + i, &value, sizeof(T));
  }
  return column;
}

}  // namespace

std::vector<NumberColumn> NumberColumns(int64_t count) {
  constexpr uint8_t kUnsigned = 1;
  constexpr uint8_t kSigned = 2;
  constexpr uint8_t kFloat = 3;
  std::mt19937_64 dice(43);
  // Distributions of the standard library differ between implementations, and this does not.
  const auto uniform = [&] { return std::ldexp(static_cast<double>(dice() >> 11), -53); };
  const auto step = [&] { return uniform() + uniform() + uniform() - 1.5; };
  double walk = 20;
  int64_t time = 1'700'000'000'000'000;
  uint64_t counter = 0;
  double level = 0;
  std::vector<NumberColumn> columns;
  columns.push_back(Column<double>("decimals", kFloat, count, [&] {
    walk += step();
    return std::round(walk * 100) / 100;
  }));
  columns.push_back(Column<double>("walk", kFloat, count, [&] { return walk += step(); }));
  columns.push_back(Column<float>("single", kFloat, count, [&] {
    walk += step();
    return std::round(walk * 10) / 10;
  }));
  columns.push_back(Column<int64_t>("times", kSigned, count, [&] {
    return time += 1'000'000 + static_cast<int64_t>(dice() % 1000) - 500;
  }));
  columns.push_back(
      Column<uint64_t>("counter", kUnsigned, count, [&] { return counter += dice() % 1000; }));
  columns.push_back(
      Column<int32_t>("level", kSigned, count, [&] { return level += std::round(10 * step()); }));
  columns.push_back(Column<uint32_t>("ids", kUnsigned, count,
                                     [&] { return std::floor(50'000 * std::pow(uniform(), 3)); }));
  return columns;
}

}  // namespace cairn::bench
