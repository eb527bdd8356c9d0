// Tests options of logs, frames that other programs wrote, queries and bad input.
#include "cairn/log.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/log_writer.h"
#include "cairn/time_text.h"
#include "tests/log/sensor_log.h"
#include "tests/support/cost.h"
#include "tests/support/files.h"
#include "tests/support/hex.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn {
namespace {

using absl::StatusCode;
using test::LittleEndian;
using test::Reading;
using test::Readings;
using test::RunQuery;
using test::SensorOptions;
using test::TempDir;

void Write(Log& log, const std::vector<Reading>& readings) {
  LogWriter writer = log.OpenWriter({}).value();
  ASSERT_TRUE(IsOk(writer.Append(readings)));
  ASSERT_TRUE(IsOk(writer.Close()));
}

TEST(Log, IsAnArrayOfRecordsToOthers) {
  const TempDir temp;
  Log log = Log::Create(temp.Path("log"), SensorOptions()).value();
  Write(log, Readings(250));
  const Frame frame = Frame::Open(temp.Path("log")).value();
  ASSERT_TRUE(frame.snapshot().array().has_value());
  EXPECT_EQ(frame.snapshot().array()->shape, std::vector<int64_t>{250});
  EXPECT_EQ(frame.snapshot().array()->dtype,
            "[('time', '<M8[us]'), ('temp', '<f8'), ('count', '<i4')]");
  EXPECT_EQ(frame.snapshot().info().split_mode, SplitMode::kAlways);
}

// The header was made to deceive: 2^50 records where there are 250.
TEST(Log, OfMoreRecordsThanItsChunksHoldDoesNotOpen) {
  const TempDir temp;
  {
    Log log = Log::Create(temp.Path("log"), SensorOptions()).value();
    Write(log, Readings(250));
  }
  test::Buffer bytes = test::FileBytes(temp.Path("log"));
  const test::Buffer shape = Hex("d3 00000000000000fa");
  const auto at = std::search(bytes.begin(), bytes.end(), shape.begin(), shape.end());
  ASSERT_NE(at, bytes.end());
  at[2] = std::byte{4};
  test::PutFileBytes(temp.Path("log"), bytes);
  EXPECT_FALSE(Log::Open(temp.Path("log")).ok());
}

TEST(Log, RefusesToBeCreatedWithoutWhatALogNeeds) {
  const TempDir temp;
  LogCreateOptions options;
  EXPECT_TRUE(
      Fails(Log::Create(temp.Path("a"), options), StatusCode::kInvalidArgument, "without fields"));
  options = SensorOptions();
  options.time_field = "clock";
  EXPECT_TRUE(Fails(Log::Create(temp.Path("a"), options), StatusCode::kNotFound, "clock"));
  options.time_field = "temp";
  EXPECT_TRUE(Fails(Log::Create(temp.Path("a"), options), StatusCode::kInvalidArgument,
                    "cannot be the time"));
  ASSERT_TRUE(IsOk(Log::Create(temp.Path("a"), SensorOptions())));
  EXPECT_TRUE(Fails(Log::Create(temp.Path("a"), SensorOptions()), StatusCode::kAlreadyExists, ""));
}

TEST(Log, TakesAnyNameForItsTimeThatItCanStore) {
  const TempDir temp;
  const std::string name(300, 't');
  LogCreateOptions options;
  options.schema = Schema::Make({{.name = "x"},
                                 {.name = name, .type = FieldType::kTimestamp},
                                 {.name = name + "2", .type = FieldType::kTimestamp}})
                       .value();
  Log log = Log::Create(temp.Path("log"), options).value();
  ASSERT_EQ(log.snapshot().time_field()->name, name);
  const std::vector<std::array<LittleEndian<int64_t>, 3>> records = {{0, 5, 6}};
  LogWriter writer = log.OpenWriter({}).value();
  ASSERT_TRUE(IsOk(writer.Append(records)));
  ASSERT_TRUE(IsOk(writer.Close()));
  const absl::StatusOr<Log> again = Log::Open(temp.Path("log"));
  ASSERT_TRUE(IsOk(again));
  EXPECT_EQ(again->snapshot().FindTime(6).value(), 1);
  options.time_field = name + "2";
  EXPECT_TRUE(
      Fails(Log::Create(temp.Path("other"), options), StatusCode::kInvalidArgument, "301 bytes"));
  Log chosen = Log::Open(temp.Path("log"), {}, name + "2").value();
  EXPECT_TRUE(Fails(chosen.OpenWriter({}), StatusCode::kInvalidArgument, "301 bytes"));
}

TEST(Log, OpensNoOtherFrame) {
  const TempDir temp;
  EXPECT_TRUE(Fails(Log::Open(temp.Path("none")), StatusCode::kNotFound, "none"));
  ASSERT_TRUE(IsOk(Frame::Create(temp.Path("plain"))));
  EXPECT_TRUE(Fails(Log::Open(temp.Path("plain")), StatusCode::kFailedPrecondition, "not a log"));
  CreateOptions options = {.compression = {.typesize = 4},
                           .array = ArrayInfo{.shape = {3}, .dtype = "[('a', '>i4')]"}};
  ASSERT_TRUE(IsOk(Frame::Create(temp.Path("big"), options)));
  EXPECT_TRUE(Fails(Log::Open(temp.Path("big")), StatusCode::kUnimplemented, "big endian"));
}

TEST(Log, OfAnyTypedFrameReadsItsRecords) {
  const TempDir temp;
  const CreateOptions options = {
      .compression = {.typesize = static_cast<int32_t>(sizeof(Reading))},
      .array = ArrayInfo{.shape = {0}, .dtype = test::SensorSchema().ToDtype()}};
  {
    Frame frame = Frame::Create(temp.Path("frame"), options).value();
    Writer writer = frame.OpenWriter().value();
    ASSERT_TRUE(IsOk(writer.AppendSlices(0, Readings(1000))));
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  const Log log = Log::Open(temp.Path("frame")).value();
  EXPECT_EQ(log.snapshot().time_field()->name, "time");
  EXPECT_EQ(log.snapshot().FindTime(5000).value(), 500);
  const auto found = RunQuery(log.snapshot(), {.times = {.begin = 100, .end = 130}});
  ASSERT_TRUE(IsOk(found));
  ASSERT_EQ(found->size(), 3);
  EXPECT_EQ((*found)[0].record, 10);
}

TEST(Log, RecordsWithoutTimeAreFoundByNumber) {
  const TempDir temp;
  LogCreateOptions options;
  options.schema = Schema::Make({{.name = "x"}}).value();
  Log log = Log::Create(temp.Path("log"), options).value();
  {
    LogWriter writer = log.OpenWriter({}).value();
    ASSERT_TRUE(IsOk(writer.Append(std::vector<LittleEndian<double>>{3, 1, 2})));
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  const LogSnapshot snapshot = log.Refresh().value();
  EXPECT_EQ(snapshot.time_field(), nullptr);
  LogCursor cursor =
      snapshot.Query({.where = {{.field = "x", .comparison = Comparison::kGreater, .value = 1.5}}})
          .value();
  EXPECT_EQ(cursor.Next()->records, (std::vector<int64_t>{0, 2}));
  EXPECT_TRUE(Fails(snapshot.FindTime(0), StatusCode::kFailedPrecondition, "no time"));
  EXPECT_TRUE(
      Fails(snapshot.Query({.times = {.begin = 0}}), StatusCode::kFailedPrecondition, "no time"));
  EXPECT_TRUE(Fails(snapshot.Aggregate({}), StatusCode::kFailedPrecondition, "no time"));
}

TEST(LogBatch, HasColumnsOfTheTypesOfTheirFields) {
  const TempDir temp;
  LogCreateOptions options;
  options.schema = Schema::FromDtype(
                       "[('time', '<M8[us]'), ('temp', '<f4'), ('n', '<u2'), "
                       "('ok', '|b1'), ('host', '|S4')]",
                       19)
                       .value();
  Log log = Log::Create(temp.Path("log"), options).value();
  LogWriter writer = log.OpenWriter({}).value();
  const std::vector<std::byte> record =
      Hex("0500000000000000"
          "0000c03f"
          "0102"
          "01"
          "61620000");
  ASSERT_TRUE(IsOk(writer.Append(record)));
  ASSERT_TRUE(IsOk(writer.Close()));
  LogCursor cursor = log.Refresh()->Query({.fields = {"temp", "time", "n", "ok", "host"}}).value();
  const LogBatch batch = cursor.Next().value();
  EXPECT_EQ(batch.Column<float>("temp").value(), std::vector<float>{1.5F});
  EXPECT_EQ(batch.Column<int64_t>("time").value(), std::vector<int64_t>{5});
  EXPECT_EQ(batch.Column<uint16_t>("n").value(), std::vector<uint16_t>{0x201});
  EXPECT_EQ(batch.Column<uint8_t>("ok").value(), std::vector<uint8_t>{1});
  EXPECT_EQ(batch.Column<std::string>("host").value(), std::vector<std::string>{"ab"});
  EXPECT_TRUE(Fails(batch.Column<double>("temp"), StatusCode::kInvalidArgument, "'temp'"));
  EXPECT_TRUE(Fails(batch.Column<int16_t>("n"), StatusCode::kInvalidArgument, "'n'"));
  EXPECT_TRUE(Fails(batch.Column<float>("host"), StatusCode::kInvalidArgument, "'host'"));
  EXPECT_TRUE(Fails(batch.Column<std::string>("n"), StatusCode::kInvalidArgument, "'n'"));
  EXPECT_TRUE(Fails(batch.Column<float>("room"), StatusCode::kNotFound, "'room'"));
  const LogBatch end = cursor.Next().value();
  EXPECT_EQ(end.Column<float>("temp").value(), std::vector<float>{});
}

TEST(Log, WaitsForACommitThatTheCallerHasNotSeen) {
  const TempDir temp;
  Log log = Log::Create(temp.Path("log"), SensorOptions()).value();
  const LogSnapshot seen = log.snapshot();
  Write(log, Readings(1));
  ASSERT_TRUE(IsOk(log.Refresh()));  // as another thread may
  EXPECT_EQ(log.WaitForCommit(seen, std::chrono::hours(1))->end_record(), 1);
}

TEST(LogSnapshot, ReadsRecordsFromAnyNumberOn) {
  const TempDir temp;
  Log log = Log::Create(temp.Path("log"), SensorOptions()).value();
  Write(log, Readings(250));
  std::vector<Reading> read(120);
  ASSERT_TRUE(IsOk(log.Refresh()->ReadRecords(90, read)));
  EXPECT_EQ(read, Readings(120, 90));
}

TEST(LogSnapshot, RefusesWhatItDoesNotHold) {
  const TempDir temp;
  Log log = Log::Create(temp.Path("log"), SensorOptions()).value();
  Write(log, Readings(10));
  const LogSnapshot snapshot = log.Refresh().value();
  std::vector<Reading> one(1);
  std::vector<double> temps(1);
  EXPECT_TRUE(Fails(snapshot.ReadRecords(10, one), StatusCode::kOutOfRange,
                    "the log holds 10 records from 0 on"));
  EXPECT_TRUE(Fails(snapshot.ReadRecords(-1, one), StatusCode::kOutOfRange,
                    "the log holds 10 records from 0 on"));
  EXPECT_TRUE(Fails(snapshot.ReadColumn("none", 0, temps), StatusCode::kNotFound, "none"));
  EXPECT_TRUE(Fails(snapshot.ReadColumn("count", 0, temps), StatusCode::kInvalidArgument,
                    "values of 8 bytes"));
  EXPECT_TRUE(Fails(snapshot.Query({.fields = {"none"}}), StatusCode::kNotFound, "none"));
  EXPECT_TRUE(Fails(snapshot.Query({.where = {{.field = "temp", .value = std::string("hot")}}}),
                    StatusCode::kInvalidArgument, "compared with a text"));
  EXPECT_TRUE(
      Fails(snapshot.Aggregate({.bucket = -1}), StatusCode::kInvalidArgument, "bucket: expected"));
}

TEST(LogSnapshot, FindsTheLeastAndTheGreatestTime) {
  const TempDir temp;
  LogCreateOptions options;
  options.schema = Schema::Make({{.name = "step", .type = FieldType::kInt}, {.name = "x"}}).value();
  options.time_field = "step";
  options.chunksize = 3 * 16;
  Log log = Log::Create(temp.Path("log"), options).value();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();
  const std::vector<std::array<LittleEndian<int64_t>, 2>> records = {
      {kLeast, 0}, {-1, 0}, {0, 0}, {1, 0}, {kGreatest, 0}, {kGreatest, 0}, {kGreatest, 0}};
  LogWriter writer = log.OpenWriter({.reorder_window = 10}).value();
  ASSERT_TRUE(IsOk(writer.Append(records)));
  ASSERT_TRUE(IsOk(writer.Close()));
  const LogSnapshot snapshot = log.Refresh().value();
  const auto found = [&](const TimeRange& times) {
    LogCursor cursor = snapshot.Query({.times = times}).value();
    int64_t count = 0;
    for (absl::StatusOr<LogBatch> batch = cursor.Next(); batch.ok() && batch->size() > 0;
         batch = cursor.Next()) {
      count += batch->size();
    }
    return count;
  };
  EXPECT_EQ(found({}), 7);
  EXPECT_EQ(found({.begin = 1}), 4);
  EXPECT_EQ(found({.begin = kGreatest}), 3);
  EXPECT_EQ(found({.end = kGreatest - 1}), 4);
  EXPECT_EQ(snapshot.FindTime(kGreatest).value(), 4);
  EXPECT_EQ((*snapshot.Aggregate({}))[0].records, 7);
  EXPECT_EQ(snapshot.Aggregate({.bucket = 1})->size(), 5);
  EXPECT_EQ((*snapshot.Times())->begin, kLeast);
  EXPECT_EQ((*snapshot.Times())->end, kGreatest);
  EXPECT_EQ(snapshot.GreatestTime().value(), kGreatest);
}

TEST(LogSnapshot, QueriesInOrderOfTimeCostNoMoreForChunksThatOverlap) {
  // Each chunk has a record from before all others.
  test::ExpectLinear(100, [](int64_t nchunks) {
    const auto temp = std::make_shared<TempDir>();
    const auto log = std::make_shared<Log>(Log::Create(temp->Path("log"), SensorOptions()).value());
    LogWriter writer = log->OpenWriter({}).value();
    for (int64_t i = 0; i < nchunks; ++i) {
      std::vector<Reading> readings = Readings(test::kChunkRecords, i * test::kChunkRecords);
      readings.back().time = -i;
      EXPECT_TRUE(IsOk(writer.Append(readings)));
      EXPECT_TRUE(IsOk(writer.Commit()));
    }
    return [=] {
      const auto found = RunQuery(log->Refresh().value(), {});
      ASSERT_TRUE(IsOk(found));
      EXPECT_EQ(std::ssize(*found), nchunks * test::kChunkRecords);
      const auto time = [](const test::NumberedReading& row) { return test::TimeOf(row.reading); };
      EXPECT_TRUE(std::ranges::is_sorted(*found, {}, time));
    };
  });
}

TEST(LogSnapshot, StopsAtTheLimitOfAQuery) {
  const TempDir temp;
  Log log = Log::Create(temp.Path("log"), SensorOptions()).value();
  Write(log, Readings(500));
  const auto found = RunQuery(log.Refresh().value(), {.times = {.begin = 50}, .limit = 230});
  ASSERT_TRUE(IsOk(found));
  ASSERT_EQ(found->size(), 230);
  EXPECT_EQ(found->back().record, 234);
}

TEST(LogSnapshot, ReadsChunksThatAreNoWholeNumberOfBlocks) {
  const TempDir temp;
  constexpr int32_t kSize = sizeof(Reading);
  const CreateOptions options = {.compression = {.typesize = kSize},
                                 .array = ArrayInfo{.shape = {0},
                                                    .chunkshape = {100},
                                                    .blockshape = {30},
                                                    .dtype = test::SensorSchema().ToDtype()}};
  ASSERT_TRUE(IsOk(Frame::Create(temp.Path("log"), options)));
  Log log = Log::Open(temp.Path("log")).value();
  const std::vector<Reading> readings = Readings(350);
  Write(log, readings);
  const LogSnapshot snapshot = log.Refresh().value();
  std::vector<Reading> read(350);
  ASSERT_TRUE(IsOk(snapshot.ReadRecords(0, read)));
  EXPECT_EQ(read, readings);
  std::vector<Reading> middle(150);
  ASSERT_TRUE(IsOk(snapshot.ReadRecords(180, middle)));
  EXPECT_TRUE(std::ranges::equal(middle, std::span(readings).subspan(180, 150)));
  std::vector<LittleEndian<int32_t>> counts(150);
  ASSERT_TRUE(IsOk(snapshot.ReadColumn("count", 180, counts)));
  EXPECT_EQ(counts[149], 329);
  EXPECT_EQ(counts[20], 200);
  const auto found = RunQuery(snapshot, {.times = {.begin = 2990}});
  ASSERT_TRUE(IsOk(found));
  ASSERT_EQ(found->size(), 51);
  EXPECT_EQ((*found)[1].reading, readings[300]);
  EXPECT_EQ((*snapshot.Aggregate({.fields = {"count"}}))[0].fields[0].sum, 349 * 350 / 2);
  EXPECT_TRUE(snapshot.VerifyStatistics()->empty());
}

TEST(LogSnapshot, TouchesNoChunkThatTheStatisticsExclude) {
  const TempDir temp;
  Log log = Log::Create(temp.Path("log"), SensorOptions()).value();
  Write(log, Readings(500));
  {
    const Snapshot frame = log.Refresh()->frames().front();
    const int64_t offset = frame.GetEntry(1)->offset.value() + 40;
    std::fstream file(temp.Path("log"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(offset).write("damaged", 7);
  }
  const LogSnapshot damaged = Log::Open(temp.Path("log")).value().snapshot();
  const auto rows = [&](int64_t begin, int64_t end) {
    return RunQuery(damaged, {.times = {.begin = begin, .end = end}});
  };
  EXPECT_TRUE(IsDamage(rows(1500, 1600), "chunk 1"));
  EXPECT_EQ(rows(2000, 2500)->size(), 50);
  const auto whole = damaged.Aggregate({.fields = {"count"}});
  ASSERT_TRUE(IsOk(whole));
  EXPECT_EQ((*whole)[0].records, 500);
  EXPECT_EQ((*whole)[0].fields[0].sum, 499 * 500 / 2);
  EXPECT_TRUE(IsDamage(damaged.VerifyStatistics(), "chunk 1"));
}

// Damage tells which chunks were read.
TEST(LogSnapshot, SumsUpDaysOfAZoneFromTheStatistics) {
  const TempDir temp;
  LogCreateOptions options = SensorOptions();
  Log log = Log::Create(temp.Path("log"), options).value();
  std::vector<Reading> readings = Readings(2000);
  const int64_t start = ParseTime("2026-03-27", TimeUnit::kMicroseconds).value();
  for (size_t i = 0; i < readings.size(); ++i) {
    readings[i].time = start + static_cast<int64_t>(i) * 180'000'000;  // 3 minutes
  }
  Write(log, readings);
  {
    // Its records are of 27 March from 15:00 to 20:00.
    const int64_t offset = log.Refresh()->frames().front().GetEntry(3)->offset.value() + 40;
    std::fstream file(temp.Path("log"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(offset).write("damaged", 7);
  }
  const LogSnapshot damaged = Log::Open(temp.Path("log")).value().snapshot();
  LogAggregation days = {.bucket = 1,
                         .calendar = CalendarUnit::kDay,
                         .time_zone = "Europe/Berlin",
                         .fields = {"count"}};
  const absl::StatusOr<std::vector<LogBucket>> found = damaged.Aggregate(days);
  ASSERT_TRUE(IsOk(found));
  std::vector<int64_t> counts;
  for (const LogBucket& day : *found) counts.push_back(day.records);
  EXPECT_EQ(counts, (std::vector<int64_t>{460, 480, 460, 480, 120}));
  EXPECT_EQ((*found)[2].end - (*found)[2].begin, int64_t{23} * 3600 * 1'000'000);
  EXPECT_EQ((*found)[1].begin, start + int64_t{23} * 3600 * 1'000'000);
  days.bucket = 12;
  days.calendar = CalendarUnit::kHour;
  EXPECT_TRUE(IsOk(damaged.Aggregate(days)));
  days.time_zone = "Asia/Kathmandu";  // a bucket begins at 18:15
  EXPECT_TRUE(IsDamage(damaged.Aggregate(days), "chunk 3"));
  days.time_zone = "Europe/Nowhere";
  EXPECT_TRUE(
      Fails(damaged.Aggregate(days), absl::StatusCode::kInvalidArgument, "'Europe/Nowhere'"));
  days = {.bucket = 1, .calendar = CalendarUnit::kDay, .time_zone = "Europe/Berlin"};
  for (const LogBucket& day : *found) {
    const absl::StatusOr<TimeRange> bounds = damaged.BucketAt(days, day.end - 1);
    ASSERT_TRUE(IsOk(bounds));
    EXPECT_EQ(bounds->begin, day.begin);
    EXPECT_EQ(bounds->end, day.end);
  }
  const std::vector<LogBucket> all = damaged.Aggregate({.fields = {"count"}}).value();
  EXPECT_EQ(all[0].end, readings.back().time + 1);
}

TEST(LogSnapshot, ComparesIntegersExactly) {
  const TempDir temp;
  LogCreateOptions options;
  options.schema = Schema::Make({{.name = "time", .type = FieldType::kTimestamp},
                                 {.name = "n", .type = FieldType::kUint, .size = 8}})
                       .value();
  Log log = Log::Create(temp.Path("log"), options).value();
  constexpr uint64_t kLarge = (uint64_t{1} << 53) + 1;
  {
    LogWriter writer = log.OpenWriter({}).value();
    const std::vector<std::array<LittleEndian<uint64_t>, 2>> records = {
        {0, kLarge - 1}, {1, kLarge}, {2, kLarge + 1}, {3, ~uint64_t{0}}};
    ASSERT_TRUE(IsOk(writer.Append(records)));
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  const LogSnapshot snapshot = log.Refresh().value();
  const auto count = [&](Comparison comparison, FieldValue value) {
    LogCursor cursor =
        snapshot.Query({.where = {{.field = "n", .comparison = comparison, .value = value}}})
            .value();
    return cursor.Next()->size();
  };
  EXPECT_EQ(count(Comparison::kEqual, kLarge), 1);
  EXPECT_EQ(count(Comparison::kGreater, int64_t{kLarge}), 2);
  EXPECT_EQ(count(Comparison::kGreater, int64_t{-1}), 4);
  EXPECT_EQ(count(Comparison::kGreater, 9007199254740992.0), 3) << "2^53";
  EXPECT_EQ(count(Comparison::kGreaterOrEqual, 1e30), 0);
}

}  // namespace
}  // namespace cairn
