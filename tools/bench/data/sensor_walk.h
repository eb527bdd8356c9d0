// Makes records like those of sensors, for questions about records and their fields.
#ifndef CAIRN_TOOLS_BENCH_DATA_SENSOR_WALK_H_
#define CAIRN_TOOLS_BENCH_DATA_SENSOR_WALK_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace cairn::bench {

// A record of four sensors, each of which walks at random.
struct Reading {
  int64_t time = 0;  // microseconds
  double values[4] = {};
};

constexpr int64_t kYear = int64_t{365} * 86'400 * 1'000'000;  // microseconds

// Returns a year of records, at times that jitter by half a millisecond. The values are rounded to
// this many decimals, if it is given.
std::vector<Reading> SensorWalk(int64_t records, std::optional<int> decimals = {});

}  // namespace cairn::bench

#endif  // CAIRN_TOOLS_BENCH_DATA_SENSOR_WALK_H_
