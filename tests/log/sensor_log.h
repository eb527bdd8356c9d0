// Logs of a sensor, and what they should hold.
#ifndef CAIRN_TESTS_LOG_SENSOR_LOG_H_
#define CAIRN_TESTS_LOG_SENSOR_LOG_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "tests/support/little_endian.h"
#include "tests/support/status.h"

namespace cairn::test {

struct Reading {
  LittleEndian<int64_t> time = 0;
  LittleEndian<double> temp = 0;
  LittleEndian<int32_t> count = 0;
  bool operator==(const Reading&) const = default;
};
inline int64_t TimeOf(const Reading& reading) { return reading.time; }

inline Schema SensorSchema() {
  return Schema::Make({{.name = "time", .type = FieldType::kTimestamp},
                       {.name = "temp", .type = FieldType::kFloat, .size = 8},
                       {.name = "count", .type = FieldType::kInt, .size = 4}})
      .value();
}

inline constexpr int64_t kChunkRecords = 100;

inline LogCreateOptions SensorOptions() {
  LogCreateOptions options;
  options.schema = SensorSchema();
  options.chunksize = static_cast<int32_t>(kChunkRecords * sizeof(Reading));
  return options;
}

// Readings whose times are 10 apart and whose counts number them.
inline std::vector<Reading> Readings(int64_t count, int64_t from = 0) {
  std::vector<Reading> readings;
  for (int64_t i = from; i < from + count; ++i) {
    readings.push_back({.time = i * 10, .temp = 1.5, .count = static_cast<int32_t>(i)});
  }
  return readings;
}

// Readings with these counts and another temperature.
inline std::vector<Reading> Corrected(int64_t count, int64_t from, double temp = 2.5) {
  std::vector<Reading> readings = Readings(count, from);
  for (Reading& reading : readings) reading.temp = temp;
  return readings;
}

template <typename T>
std::vector<T> Joined(std::vector<T> a, const std::vector<T>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

struct NumberedReading {
  int64_t record = 0;
  Reading reading;
  bool operator==(const NumberedReading&) const = default;
};

// Returns the result that a query over these readings must give. The first reading has this number.
template <typename Matches>
std::vector<NumberedReading> Expected(const std::vector<Reading>& all, int64_t first,
                                      const TimeRange& range, const Matches& matches,
                                      LogOrder order) {
  std::vector<NumberedReading> found;
  for (size_t i = 0; i < all.size(); ++i) {
    const Reading& reading = all[i];
    if (reading.time < range.begin || reading.time >= range.end || !matches(reading)) continue;
    found.push_back({.record = first + static_cast<int64_t>(i), .reading = reading});
  }
  if (order == LogOrder::kTime) {
    std::ranges::stable_sort(found, {}, [](const NumberedReading& r) { return TimeOf(r.reading); });
  }
  return found;
}

// Runs a query and returns all fields.
inline absl::StatusOr<std::vector<NumberedReading>> RunQuery(const LogSnapshot& log,
                                                             const LogQuery& query) {
  absl::StatusOr<LogCursor> cursor = log.Query(query);
  if (!cursor.ok()) return cursor.status();
  std::vector<NumberedReading> found;
  while (true) {
    const absl::StatusOr<LogBatch> batch = cursor->Next();
    if (!batch.ok()) return batch.status();
    if (batch->size() == 0) return found;
    for (size_t i = 0; i < batch->records.size(); ++i) {
      NumberedReading& row = found.emplace_back();
      row.record = batch->records[i];
      Reading reading;
      std::memcpy(&reading.time, batch->columns[0].data() + i * 8, 8);
      std::memcpy(&reading.temp, batch->columns[1].data() + i * 8, 8);
      std::memcpy(&reading.count, batch->columns[2].data() + i * 4, 4);
      row.reading = reading;
    }
  }
}

// Returns all readings of a log, by time.
inline std::vector<Reading> AllOf(const LogSnapshot& log) {
  std::vector<Reading> all;
  const absl::StatusOr<std::vector<NumberedReading>> rows = RunQuery(log, {});
  EXPECT_TRUE(IsOk(rows));
  for (const NumberedReading& row : rows.value_or(std::vector<NumberedReading>())) {
    all.push_back(row.reading);
  }
  return all;
}

}  // namespace cairn::test

#endif  // CAIRN_TESTS_LOG_SENSOR_LOG_H_
