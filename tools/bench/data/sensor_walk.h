// Records as sensors give them, for questions about records and their fields.
#ifndef CAIRN_TOOLS_BENCH_DATA_SENSOR_WALK_H_
#define CAIRN_TOOLS_BENCH_DATA_SENSOR_WALK_H_

#include <cstdint>
#include <vector>

namespace cairn::bench {

// Of four sensors, each walking at random in steps of its resolution.
struct Reading {
  int64_t time = 0;  // microseconds
  double values[4] = {};
};

constexpr int64_t kYear = int64_t{365} * 86'400 * 1'000'000;  // microseconds

// A year of records, at times that jitter by half a millisecond.
std::vector<Reading> SensorWalk(int64_t records);

}  // namespace cairn::bench

#endif  // CAIRN_TOOLS_BENCH_DATA_SENSOR_WALK_H_
