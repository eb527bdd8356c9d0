// Tests measures and groups of aggregations beside a simple model.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "cairn/writer.h"
#include "engine/log/state/log_layer.h"
#include "engine/log/stats/stats_table.h"
#include "tests/support/little_endian.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn {
namespace {

using test::LittleEndian;
using test::TempDir;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

#pragma pack(push, 1)
struct Row {
  LittleEndian<int64_t> time = 0;
  LittleEndian<double> temp = 0;
  LittleEndian<uint64_t> counter = 0;
  LittleEndian<int16_t> room = 0;
  char host[4] = {};
  uint8_t ok = 0;
};
#pragma pack(pop)

Log MakeLog(const std::string& path, const std::vector<Row>& rows, int64_t chunk_records = 20) {
  LogCreateOptions options;
  options.schema =
      Schema::Make(
          {{.name = "time", .type = FieldType::kTimestamp, .unit = TimeUnit::kMilliseconds},
           {.name = "temp", .type = FieldType::kFloat, .size = 8},
           {.name = "counter", .type = FieldType::kUint, .size = 8},
           {.name = "room", .type = FieldType::kInt, .size = 2},
           {.name = "host", .type = FieldType::kBytes, .size = 4},
           {.name = "ok", .type = FieldType::kBool, .size = 1}})
          .value();
  options.chunksize = static_cast<int32_t>(chunk_records * sizeof(Row));
  Log log = Log::Create(path, options).value();
  LogWriter writer = log.OpenWriter({}).value();
  EXPECT_TRUE(IsOk(writer.Append(rows)));
  EXPECT_TRUE(IsOk(writer.Close()));
  EXPECT_TRUE(IsOk(log.Refresh()));
  return log;
}

std::vector<Row> RandomRows(size_t count) {
  std::mt19937_64 random(3);
  std::vector<Row> rows(count);
  uint64_t counter = (uint64_t{1} << 60) + 1;
  for (size_t i = 0; i < count; ++i) {
    Row& row = rows[i];
    row.time = static_cast<int64_t>(i) * 100 - static_cast<int64_t>(random() % 500);
    row.temp = random() % 5 == 0 ? kNaN : static_cast<double>(random() % 1000) / 8;
    counter = random() % 50 == 0 ? 0 : counter + random() % 10;
    row.counter = counter;
    row.room = static_cast<int16_t>(random() % 3) - 1;
    row.host[0] = random() % 2 == 0 ? 'a' : 'b';
    row.ok = static_cast<uint8_t>(random() % 3);
  }
  return rows;
}

// Returns the records that the model sorts by time.
std::vector<Row> InTime(std::vector<Row> rows) {
  std::ranges::stable_sort(rows, {}, [](const Row& row) { return int64_t{row.time}; });
  return rows;
}

double QuantileOf(std::vector<double> values, double quantile) {
  if (values.empty()) return kNaN;
  std::ranges::sort(values);
  const double place = quantile * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (values[above] - values[below]) * (place - static_cast<double>(below));
}

double DeviationOf(const std::vector<double>& values) {
  if (values.size() < 2) return kNaN;
  double mean = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

bool IsNear(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= 1e-9 * std::max(1.0, std::abs(b));
}

TEST(LogMeasures, AreThoseOfAModel) {
  const TempDir temp;
  const std::vector<Row> rows = RandomRows(2000);
  const Log log = MakeLog(temp.Path("log"), rows);
  LogAggregation aggregation = {.bucket = 3000, .fields = {"temp"}};
  aggregation.measures = {
      {"temp", MeasureKind::kQuantile, 0.5}, {"temp", MeasureKind::kQuantile, 0},
      {"counter", MeasureKind::kIncrease},   {"temp", MeasureKind::kQuantile, 0.999},
      {"temp", MeasureKind::kDeviation},     {"counter", MeasureKind::kRate}};
  const absl::StatusOr<std::vector<LogBucket>> found = log.snapshot().Aggregate(aggregation);
  ASSERT_TRUE(IsOk(found));
  std::map<int64_t, std::vector<Row>> buckets;
  for (const Row& row : InTime(rows)) {
    buckets[(int64_t{row.time} + 3000) / 3000 * 3000 - 3000].push_back(row);
  }
  ASSERT_EQ(found->size(), buckets.size());
  const Row* before = nullptr;
  size_t number = 0;
  for (const auto& [begin, inside] : buckets) {
    const LogBucket& bucket = (*found)[number++];
    ASSERT_EQ(bucket.begin, begin);
    ASSERT_EQ(bucket.records, std::ssize(inside));
    std::vector<double> values;
    double increase = 0;
    int64_t since = before == nullptr ? int64_t{inside[0].time} : int64_t{before->time};
    for (const Row& row : inside) {
      if (!std::isnan(double{row.temp})) values.push_back(row.temp);
      if (before != nullptr) {
        const uint64_t now = row.counter;
        const uint64_t then = before->counter;
        increase += static_cast<double>(now < then ? now : now - then);
      }
      before = &row;
    }
    EXPECT_EQ(bucket.fields[0].count, std::ssize(values));
    EXPECT_TRUE(IsNear(bucket.measures[0], QuantileOf(values, 0.5)));
    EXPECT_TRUE(IsNear(bucket.measures[1], QuantileOf(values, 0)));
    EXPECT_TRUE(IsNear(bucket.measures[2], increase)) << bucket.measures[2] << " " << increase;
    EXPECT_TRUE(IsNear(bucket.measures[3], QuantileOf(values, 0.999)));
    EXPECT_TRUE(IsNear(bucket.measures[4], DeviationOf(values)));
    const double seconds = static_cast<double>(before->time - since) / 1000;
    EXPECT_TRUE(IsNear(bucket.measures[5], increase / seconds));
  }
}

TEST(LogMeasures, CountAResetFromZeroAndNoFirstValue) {
  const TempDir temp;
  std::vector<Row> rows(4);
  const uint64_t counters[] = {100, 130, 7, 9};
  for (size_t i = 0; i < 4; ++i) {
    rows[i].time = static_cast<int64_t>(i) * 1000;
    rows[i].counter = counters[i];
  }
  const Log log = MakeLog(temp.Path("log"), rows);
  const auto measures = [&](int64_t bucket) {
    std::vector<std::string> found;
    const std::vector<LogMeasure> wanted = {{"counter", MeasureKind::kIncrease},
                                            {"counter", MeasureKind::kRate},
                                            {"counter", MeasureKind::kDeviation}};
    const std::vector<LogBucket> buckets =
        log.snapshot().Aggregate({.bucket = bucket, .measures = wanted}).value();
    for (const LogBucket& one : buckets) {
      for (const double value : one.measures) found.push_back(std::to_string(value));
    }
    return found;
  };
  EXPECT_EQ(measures(0)[0], "39.000000") << "30 + 7 + 2";
  EXPECT_EQ(measures(0)[1], "13.000000");
  EXPECT_EQ(measures(1000), (std::vector<std::string>{"nan", "nan", "nan", "30.000000", "30.000000",
                                                      "nan", "7.000000", "7.000000", "nan",
                                                      "2.000000", "2.000000", "nan"}));
}

TEST(LogGroups, HaveBucketsOfTheirOwn) {
  const TempDir temp;
  const std::vector<Row> rows = RandomRows(2000);
  const Log log = MakeLog(temp.Path("log"), rows);
  LogAggregation aggregation = {.bucket = 10'000, .fields = {"temp", "counter"}};
  aggregation.by = {"host", "room", "ok"};
  aggregation.measures = {{"temp", MeasureKind::kQuantile, 0.5},
                          {"counter", MeasureKind::kIncrease}};
  aggregation.filters = {"temp < 100 or counter > 5"};
  const absl::StatusOr<std::vector<LogBucket>> found = log.snapshot().Aggregate(aggregation);
  ASSERT_TRUE(IsOk(found));
  std::map<std::tuple<std::string, int64_t, int64_t, int64_t>, std::vector<Row>> buckets;
  for (const Row& row : InTime(rows)) {
    if (!(row.temp < 100 || row.counter > 5)) continue;
    const int64_t begin = (int64_t{row.time} + 10'000) / 10'000 * 10'000 - 10'000;
    buckets[{row.host, row.room, row.ok != 0 ? 1 : 0, begin}].push_back(row);
  }
  ASSERT_EQ(found->size(), buckets.size());
  size_t number = 0;
  for (const auto& [key, inside] : buckets) {
    const LogBucket& bucket = (*found)[number++];
    const auto& [host, room, ok, begin] = key;
    EXPECT_EQ(bucket.group, (std::vector<FieldValue>{host, room, ok}));
    EXPECT_EQ(bucket.begin, begin);
    EXPECT_EQ(bucket.records, std::ssize(inside));
    std::vector<double> values;
    for (const Row& row : inside) {
      if (!std::isnan(double{row.temp})) values.push_back(row.temp);
    }
    EXPECT_EQ(bucket.fields[0].count, std::ssize(values));
    EXPECT_TRUE(IsNear(bucket.measures[0], QuantileOf(values, 0.5)));
    EXPECT_EQ(bucket.wholes[1].last, absl::int128(uint64_t{inside.back().counter}));
    EXPECT_EQ(bucket.wholes[1].first, absl::int128(uint64_t{inside.front().counter}));
  }
}

TEST(LogGroups, SumUpAsEverythingDoes) {
  const TempDir temp;
  std::vector<Row> rows = RandomRows(500);
  for (Row& row : rows) row.room = 7;
  const Log log = MakeLog(temp.Path("log"), rows);
  for (const int64_t bucket : {0, 700}) {
    const std::vector<LogBucket> all = log.snapshot().Aggregate({.bucket = bucket}).value();
    LogAggregation grouped = {.bucket = bucket};
    grouped.by = {"room"};
    const std::vector<LogBucket> groups = log.snapshot().Aggregate(grouped).value();
    ASSERT_EQ(groups.size(), all.size());
    for (size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(groups[i].group, std::vector<FieldValue>{int64_t{7}});
      EXPECT_EQ(groups[i].begin, all[i].begin);
      EXPECT_EQ(groups[i].end, all[i].end);
      ASSERT_EQ(groups[i].fields.size(), all[i].fields.size());
      for (size_t j = 0; j < all[i].fields.size(); ++j) {
        const FieldAggregate& a = groups[i].fields[j];
        const FieldAggregate& b = all[i].fields[j];
        EXPECT_EQ(std::tie(a.count, a.min, a.max, a.first, a.last),
                  std::tie(b.count, b.min, b.max, b.first, b.last));
        EXPECT_EQ(groups[i].wholes[j].sum, all[i].wholes[j].sum);
        EXPECT_EQ(groups[i].wholes[j].max, all[i].wholes[j].max);
      }
    }
  }
}

TEST(LogMeasures, RefuseWhatTheyCannotDo) {
  const TempDir temp;
  const Log log = MakeLog(temp.Path("log"), RandomRows(100));
  const auto refuses = [&](const LogAggregation& aggregation, absl::StatusCode code,
                           std::string_view part) {
    return Fails(log.snapshot().Aggregate(aggregation), code, part);
  };
  using enum absl::StatusCode;
  EXPECT_TRUE(refuses({.measures = {{"nothing"}}}, kNotFound, "'nothing'"));
  EXPECT_TRUE(refuses({.measures = {{"host"}}}, kInvalidArgument, "'host' is not numeric"));
  for (const double quantile : {-0.1, 1.1, kNaN}) {
    EXPECT_TRUE(refuses({.measures = {{"temp", MeasureKind::kQuantile, quantile}}},
                        kInvalidArgument, "expected 0 to 1"));
  }
  EXPECT_TRUE(refuses({.by = {"nothing"}}, kNotFound, "'nothing'"));
  EXPECT_TRUE(refuses({.by = {"temp"}}, kInvalidArgument, "'temp' has floats"));
  EXPECT_TRUE(refuses({.by = {"time"}, .max_groups = 99}, kResourceExhausted, "more than 99"));
  EXPECT_TRUE(IsOk(log.snapshot().Aggregate({.by = {"time"}, .max_groups = 100})));
  const LogAggregation tight = {.measures = {{"counter"}}, .max_memory = 799};
  EXPECT_TRUE(refuses(tight, kResourceExhausted, "more than 799 bytes"));
  LogAggregation enough = tight;
  enough.max_memory = 800;
  EXPECT_TRUE(IsOk(log.snapshot().Aggregate(enough)));
  enough.bucket = 1000;
  enough.max_memory = 200;
  EXPECT_TRUE(IsOk(log.snapshot().Aggregate(enough))) << "only one bucket is in memory";
}

TEST(LogMeasures, LeaveOutDeletedRecords) {
  const TempDir temp;
  std::vector<Row> rows = RandomRows(500);
  for (Row& row : rows) row.counter = 7;
  Log log = MakeLog(temp.Path("log"), rows);
  {
    LogWriter writer = log.OpenWriter({}).value();
    EXPECT_GT(writer.Delete({.times = {.begin = 5000, .end = 20'000}}).value(), 100);
    EXPECT_GT(writer.Delete({.filters = {"temp < 60"}}).value(), 100);
    EXPECT_TRUE(IsOk(writer.Close()));
  }
  std::erase_if(rows, [](const Row& row) {
    return (row.time >= 5000 && row.time < 20'000) || row.temp < 60;
  });
  const Log rest = MakeLog(temp.Path("rest"), rows);
  LogAggregation aggregation = {.bucket = 1000, .fields = {"temp"}};
  aggregation.measures = {{"temp"}, {"counter", MeasureKind::kDeviation}};
  for (const bool grouped : {false, true}) {
    if (grouped) aggregation.by = {"host"};
    const auto found = log.Refresh().value().Aggregate(aggregation);
    const auto expected = rest.snapshot().Aggregate(aggregation);
    ASSERT_TRUE(IsOk(found));
    ASSERT_EQ(found->size(), expected->size());
    for (size_t i = 0; i < found->size(); ++i) {
      EXPECT_EQ((*found)[i].begin, (*expected)[i].begin);
      EXPECT_EQ((*found)[i].records, (*expected)[i].records);
      EXPECT_TRUE(IsNear((*found)[i].measures[0], (*expected)[i].measures[0]));
      EXPECT_TRUE(IsNear((*found)[i].measures[1], (*expected)[i].measures[1]));
      EXPECT_EQ((*found)[i].group, (*expected)[i].group);
    }
  }
}

// A file may come from anywhere.
TEST(LogMeasures, FindOutThatStatisticsLie) {
  const TempDir temp;
  MakeLog(temp.Path("log"), RandomRows(100));
  {
    const Schema schema = Log::Open(temp.Path("log")).value().snapshot().schema();
    Frame frame = Frame::Open(temp.Path("log")).value();
    Writer writer = frame.OpenWriter({}).value();
    int tables = 0;
    for (const std::string_view name : log::kStatsLayers) {
      if (!frame.snapshot().HasVlmetalayer(name)) continue;
      ++tables;
      const auto table =
          log::ParseStatsTable(schema, frame.snapshot().GetVlmetalayer(name).value()).value();
      log::StatsTable lies = {.first = table.first};
      std::vector<log::ChunkStats> chunks = log::DecodeRows(schema, table, 20).value();
      for (log::ChunkStats& stats : chunks) {
        for (log::Piece& piece : stats.pieces) {
          piece.max_time = piece.min_time += 500;
          for (log::FieldSum& sum : piece.fields) sum.first_time = sum.last_time = piece.min_time;
        }
        lies.Add(stats);
      }
      ASSERT_TRUE(IsOk(writer.SetVlmetalayer(name, log::EncodeStatsTable(schema, lies))));
    }
    ASSERT_GT(tables, 0);
    ASSERT_TRUE(IsOk(writer.Commit()));
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  const LogSnapshot lying = Log::Open(temp.Path("log")).value().snapshot();
  LogAggregation aggregation = {.bucket = 1000, .fields = {"temp"}};
  EXPECT_TRUE(IsOk(lying.Aggregate(aggregation)));
  aggregation.measures = {{"temp"}};
  EXPECT_TRUE(IsDamage(lying.Aggregate(aggregation), "statistics"));
}

TEST(LogMeasures, OfAnEmptyLogAreNone) {
  const TempDir temp;
  const Log log = MakeLog(temp.Path("log"), {});
  EXPECT_TRUE(log.snapshot().Aggregate({.measures = {{"temp"}}})->empty());
  EXPECT_TRUE(log.snapshot().Aggregate({.by = {"host"}})->empty());
}

}  // namespace
}  // namespace cairn
