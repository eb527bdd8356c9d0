#include "engine/log/stats/stats_table.h"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "tests/log/sensor_log.h"
#include "tests/support/little_endian.h"
#include "tests/support/status.h"

namespace cairn::log {
namespace {

using test::SensorSchema;

// Times in steps of 20 minutes, so that a chunk of 10 lasts three hours.
ChunkStats TenReadings(int64_t begin, bool in_order = true) {
  constexpr int64_t kStep = int64_t{20} * 60 * 1'000'000;
  Columns columns = {.fields = {{}, {}, {}}, .nrecords = 10};
  for (int64_t i = 0; i < 10; ++i) {
    const int64_t time = begin + (in_order ? i : 9 - i) * kStep;
    const auto temp = static_cast<double>(i * i);
    const auto count = static_cast<int32_t>(-i);
    const auto append = [](std::vector<std::byte>& column, auto value) {
      const test::LittleEndian stored = value;
      const Bytes bytes = std::as_bytes(std::span(&stored, 1));
      column.insert(column.end(), bytes.begin(), bytes.end());
    };
    append(columns.fields[0], time);
    append(columns.fields[1], temp);
    append(columns.fields[2], count);
  }
  static const Schema& schema = *new Schema(SensorSchema());
  ChunkStats stats = MakeStats(schema, &schema.fields()[0], columns);
  stats.fingerprint = static_cast<uint64_t>(begin) + 1;
  return stats;
}

StatsTable SomeTable() {
  StatsTable table = {.first = 7};
  table.Add(TenReadings(0));
  table.Add(TenReadings(5, /*in_order=*/false));
  table.Add(TenReadings(std::numeric_limits<int64_t>::min() + 1));
  return table;
}

TEST(ChunkStats, CutsAChunkAtFullHours) {
  const ChunkStats stats = TenReadings(0);
  ASSERT_EQ(stats.pieces.size(), 4);
  EXPECT_EQ(stats.pieces[0].nrecords, 3);
  EXPECT_EQ(stats.pieces[1].min_time, int64_t{3600} * 1'000'000);
  EXPECT_EQ(stats.pieces[3].nrecords, 1);
  EXPECT_EQ(stats.pieces[1].fields[1].values.sum, 9 + 16 + 25);
  EXPECT_EQ(stats.pieces[1].fields[2].values.first, -3);
}

TEST(ChunkStats, TimestampThatIsNoneIsNoValue) {
  constexpr int64_t kNone = std::numeric_limits<int64_t>::min();
  const Field seen = {.name = "seen", .type = FieldType::kTimestamp, .size = 8};
  const std::vector<int64_t> times = {1, 2, 3, 4};
  const auto sum_up = [&](const Field& field,
                          const std::vector<test::LittleEndian<int64_t>>& items) {
    return SumUp(field, std::as_bytes(std::span(items)), times).values;
  };
  const FieldAggregate some = sum_up(seen, {kNone, 30, 20, kNone});
  EXPECT_EQ(some.count, 2);
  EXPECT_EQ(some.min, 20);
  EXPECT_EQ(some.sum, 50);
  EXPECT_EQ(some.first, 30);
  EXPECT_EQ(some.last, 20);
  EXPECT_EQ(sum_up(seen, {kNone, kNone, kNone, kNone}).count, 0);
  const Field number = {.name = "n", .type = FieldType::kInt, .size = 8};
  EXPECT_EQ(sum_up(number, {kNone, 1, 2, 3}).count, 4);
}

TEST(ChunkStats, LeavesAChunkWholeWhoseRecordsAreNotInOrder) {
  const ChunkStats stats = TenReadings(0, /*in_order=*/false);
  EXPECT_FALSE(stats.in_order);
  ASSERT_EQ(stats.pieces.size(), 1);
  EXPECT_EQ(stats.pieces[0].fields[1].values.first, 81) << "the value of the least time";
  EXPECT_EQ(stats.pieces[0].fields[1].values.last, 0);
}

TEST(StatsTable, ReadsWhatItWrote) {
  const StatsTable table = SomeTable();
  const std::vector<std::byte> content = EncodeStatsTable(SensorSchema(), table);
  const absl::StatusOr<StatsTable> parsed = ParseStatsTable(SensorSchema(), content);
  ASSERT_TRUE(IsOk(parsed));
  EXPECT_EQ(parsed->first, 7);
  const auto rows = DecodeRows(SensorSchema(), *parsed, 10);
  ASSERT_TRUE(IsOk(rows));
  StatsTable again = {.first = 7};
  for (const ChunkStats& stats : *rows) again.Add(stats);
  EXPECT_EQ(again.rows, table.rows);
  EXPECT_EQ((*rows)[1].fingerprint, 6);
  EXPECT_FALSE((*rows)[1].in_order);
}

TEST(StatsTable, RefusesEveryCut) {
  const std::vector<std::byte> content = EncodeStatsTable(SensorSchema(), SomeTable());
  for (size_t size = 0; size < content.size(); ++size) {
    const auto table = ParseStatsTable(SensorSchema(), Bytes(content).first(size));
    if (!table.ok()) continue;
    EXPECT_TRUE(IsDamage(DecodeRows(SensorSchema(), *table, 10), "statistics")) << size;
  }
}

TEST(StatsTable, RefusesTheRowsOfOtherChunks) {
  const StatsTable table = SomeTable();
  EXPECT_TRUE(IsDamage(DecodeRows(SensorSchema(), table, 11), "fewer than the chunk has"));
  EXPECT_TRUE(IsDamage(DecodeRows(SensorSchema(), table, 9), "not as many as the chunk has"));
  const Schema other = Schema::Make({{.name = "x"}}).value();
  const std::vector<std::byte> content = EncodeStatsTable(SensorSchema(), table);
  EXPECT_TRUE(IsDamage(ParseStatsTable(other, content), "numbers"));
}

TEST(StatsTable, RefusesMoreRowsThanItsBytesCanHold) {
  StatsTable table = SomeTable();
  table.nrows = int64_t{1} << 60;
  const std::vector<std::byte> content = EncodeStatsTable(SensorSchema(), table);
  EXPECT_TRUE(IsDamage(ParseStatsTable(SensorSchema(), content), "rows"));
}

}  // namespace
}  // namespace cairn::log
