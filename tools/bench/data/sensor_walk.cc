#include "tools/bench/data/sensor_walk.h"

#include <cmath>
#include <random>

namespace cairn::bench {

std::vector<Reading> SensorWalk(int64_t records, std::optional<int> decimals) {
  const double scale = std::pow(10, decimals.value_or(0));
  std::mt19937_64 random(1);
  std::normal_distribution<double> step(0, 0.05);
  std::vector<Reading> walk(static_cast<size_t>(records));
  Reading now = {.time = 1'700'000'000'000'000, .values = {20, 50, 1013, 230}};
  for (Reading& reading : walk) {
    now.time += kYear / records + static_cast<int64_t>(random() % 1000) - 500;
    for (double& value : now.values) {
      value += step(random);
      if (decimals.has_value()) value = std::round(value * scale) / scale;
    }
    reading = now;
  }
  return walk;
}

}  // namespace cairn::bench
