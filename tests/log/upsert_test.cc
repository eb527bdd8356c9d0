// Records that replace those of a log, by time and key, also on a full disk and beside a map.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "tests/log/sensor_log.h"
#include "tests/support/dice.h"
#include "tests/support/little_endian.h"
#include "tests/support/simulated_disk.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn {
namespace {

using absl::StatusCode;
using test::AllOf;
using test::Corrected;
using test::Joined;
using test::LittleEndian;
using test::Reading;
using test::Readings;
using test::SensorOptions;
using test::TempDir;

class LogUpsert : public testing::TestWithParam<bool> {
 protected:
  LogUpsert() {
    LogCreateOptions options = SensorOptions();
    if (GetParam()) options.rotation.period = 2000;  // files of 200 readings
    log_.emplace(Log::Create(temp_.Path("log"), options).value());
    writer_.emplace(log_->OpenWriter({}).value());
    EXPECT_TRUE(IsOk(writer_->Append(Readings(450))));
    EXPECT_TRUE(IsOk(writer_->Commit()));
  }

  const TempDir temp_;
  std::optional<Log> log_;
  std::optional<LogWriter> writer_;
};

TEST_P(LogUpsert, ReplacesRecordsOfTheSameTimeAndInsertsOthers) {
  const LogSnapshot before = log_->Refresh().value();
  Log reader = Log::Open(temp_.Path("log")).value();
  EXPECT_EQ(writer_->Upsert(Corrected(90, 410)).value(),
            (UpsertReport{.inserted = 50, .replaced = 40, .removed = 40}));
  const std::vector<Reading> expected = Joined(Readings(410), Corrected(90, 410));
  EXPECT_EQ(AllOf(log_->Refresh().value()), expected);
  EXPECT_EQ(AllOf(reader.Refresh().value()), expected);
  EXPECT_EQ(AllOf(before), Readings(450));
  EXPECT_EQ(reader.snapshot().ChangesSince(before).deleted,
            (std::vector<RecordRange>{{.begin = 410, .end = 450}}));
  EXPECT_EQ(reader.snapshot().end_record(), 540);
  EXPECT_EQ(writer_->end_record(), 540);
}

TEST_P(LogUpsert, CanBeRepeatedAndChangesNothingThen) {
  const std::vector<Reading> records = Joined(Corrected(200, 150), Corrected(300, 400));
  ASSERT_TRUE(IsOk(writer_->Upsert(records)));
  const LogSnapshot before = writer_->snapshot();
  EXPECT_EQ(writer_->Upsert(records).value(), (UpsertReport{.unchanged = 500}));
  EXPECT_EQ(writer_->snapshot().end_record(), before.end_record());
  EXPECT_EQ(writer_->snapshot().deleted(), before.deleted());
}

TEST_P(LogUpsert, LastOfSeveralRecordsWithOneKeyStays) {
  std::vector<Reading> records = Corrected(3, 449, 7);
  records = Joined(records, Corrected(1, 450, 8));
  records = Joined(records, Corrected(1, 20, 6));
  records = Joined(records, Corrected(1, 450, 9));
  EXPECT_EQ(writer_->Upsert(records).value(),
            (UpsertReport{.inserted = 2, .replaced = 2, .removed = 2}));
  std::vector<Reading> expected = Joined(Readings(449), Corrected(3, 449, 7));
  expected[20].temp = 6;
  expected[450].temp = 9;
  EXPECT_EQ(AllOf(log_->Refresh().value()), expected);
}

// The log may hold several records of one key, in one file or in several.
TEST_P(LogUpsert, ReplacesAllRecordsOfOneKey) {
  ASSERT_TRUE(IsOk(writer_->Append(Corrected(2, 30))));
  ASSERT_TRUE(IsOk(writer_->Append(Readings(2, 30))));
  EXPECT_EQ(writer_->Upsert(Corrected(1, 30, 4)).value(),
            (UpsertReport{.replaced = 1, .removed = 3}));
  // Only one of those that are equal to the new record stays.
  EXPECT_EQ(writer_->Upsert(Corrected(1, 31)).value(), (UpsertReport{.replaced = 1, .removed = 2}));
  std::vector<Reading> expected = Readings(450);
  expected[30].temp = 4;
  expected[31].temp = 2.5;
  EXPECT_EQ(AllOf(log_->Refresh().value()), expected);
  EXPECT_EQ(log_->snapshot().end_record(), 455);
}

TEST_P(LogUpsert, KeyTellsRecordsOfOneTimeApart) {
  std::vector<Reading> records = Corrected(10, 440);
  for (Reading& reading : records) reading.count = -1;
  EXPECT_EQ(writer_->Upsert(records, {.key = {"count"}}).value(), (UpsertReport{.inserted = 10}));
  EXPECT_EQ(writer_->Upsert(Corrected(10, 440), {.key = {"count", "time"}}).value(),
            (UpsertReport{.replaced = 10, .removed = 10}));
  EXPECT_EQ(log_->Refresh()->nrecords(), 460);
  EXPECT_EQ(writer_->Upsert(Corrected(10, 440)).value(),
            (UpsertReport{.replaced = 10, .removed = 10}));
  EXPECT_EQ(AllOf(log_->Refresh().value()), Joined(Readings(440), Corrected(10, 440)));
}

TEST(LogUpsertOfKeys, TextsAreTheKeyUnlessAnotherIsNamed) {
  struct Row {
    LittleEndian<int64_t> time;
    LittleEndian<uint32_t> host;
    LittleEndian<int32_t> count;
  };
  const TempDir temp;
  LogCreateOptions options;
  options.schema =
      *Schema::Make({*Schema::ParseField("time:timestamp[ms]"), *Schema::ParseField("host:text"),
                     *Schema::ParseField("count:i4")});
  Log log = Log::Create(temp.Path("log"), options).value();
  LogWriter writer = log.OpenWriter({}).value();
  const uint32_t a = writer.CodeOf("host", "a").value();
  const uint32_t b = writer.CodeOf("host", "b").value();
  ASSERT_TRUE(IsOk(writer.Append(std::vector<Row>{{1, a, 1}, {1, b, 2}})));
  EXPECT_EQ(writer.Upsert(std::vector<Row>{{1, a, 3}, {2, a, 4}}).value(),
            (UpsertReport{.inserted = 1, .replaced = 1, .removed = 1}));
  EXPECT_EQ(log.Refresh()->nrecords(), 3);
  EXPECT_EQ(writer.Upsert(std::vector<Row>{{2, b, 4}}, {.key = {"count"}}).value(),
            (UpsertReport{.replaced = 1, .removed = 1}));
  EXPECT_EQ(writer.Upsert(std::vector<Row>{{1, b, 5}}, {.time_only = true}).value(),
            (UpsertReport{.replaced = 1, .removed = 2}));
  EXPECT_EQ(log.Refresh()->nrecords(), 2);
}

TEST_P(LogUpsert, RecordsThatWaitAreReplacedToo) {
  ASSERT_TRUE(IsOk(writer_->Append(Readings(10, 450))));
  EXPECT_EQ(writer_->Upsert(Corrected(5, 455)).value(),
            (UpsertReport{.replaced = 5, .removed = 5}));
  EXPECT_EQ(AllOf(log_->Refresh().value()), Joined(Readings(455), Corrected(5, 455)));
}

TEST_P(LogUpsert, BadRecordsAndKeysChangeNothing) {
  const auto fails = [this](const std::vector<Reading>& records, std::vector<std::string> key,
                            StatusCode code, const std::string& text) {
    EXPECT_TRUE(Fails(writer_->Upsert(records, {.key = std::move(key)}), code, text));
  };
  fails(Corrected(5, 0), {"temp"}, StatusCode::kInvalidArgument, "'temp' has floats");
  fails(Corrected(5, 0), {"room"}, StatusCode::kNotFound, "'room'");
  std::vector<Reading> records = Corrected(5, 0);
  records[3].time = std::numeric_limits<int64_t>::min();
  fails(records, {}, StatusCode::kInvalidArgument, "record 3 of 5 has no time");
  EXPECT_TRUE(Fails(writer_->Upsert(std::vector<LittleEndian<int32_t>>(5)),
                    StatusCode::kInvalidArgument, "values of 4 bytes"));
  EXPECT_TRUE(Fails(writer_->Upsert(std::vector<std::byte>(7)), StatusCode::kInvalidArgument,
                    "not a multiple"));
  EXPECT_EQ(writer_->Upsert({}).value(), UpsertReport());
  EXPECT_EQ(AllOf(log_->Refresh().value()), Readings(450));
  ASSERT_TRUE(IsOk(writer_->Close()));
  EXPECT_TRUE(Fails(writer_->Upsert(Corrected(1, 0)), StatusCode::kFailedPrecondition, "closed"));
}

// A log keeps what its retention says, also if nothing is ever appended otherwise.
TEST_P(LogUpsert, DropsWhatRetentionAllows) {
  ASSERT_TRUE(IsOk(writer_->SetRetention({.max_records = 250})));
  ASSERT_TRUE(IsOk(writer_->Upsert(Corrected(100, 400))));
  const LogSnapshot kept = writer_->snapshot();
  EXPECT_GT(kept.first_record(), 0);
  EXPECT_GE(kept.nrecords(), 250);
  EXPECT_EQ(kept.Times().value()->end, 4991);
}

INSTANTIATE_TEST_SUITE_P(Files, LogUpsert, testing::Bool(),
                         [](const auto& it) { return it.param ? "Many" : "One"; });

TEST(LogUpsertOfPlainLogs, NeedsATime) {
  const TempDir temp;
  LogCreateOptions options;
  options.schema = Schema::Make({{.name = "n", .type = FieldType::kInt, .size = 4}}).value();
  Log log = Log::Create(temp.Path("log"), options).value();
  LogWriter writer = log.OpenWriter({}).value();
  const std::vector<LittleEndian<int32_t>> zeros(5);
  EXPECT_TRUE(Fails(writer.Upsert(zeros), StatusCode::kFailedPrecondition, "no time"));
}

TEST(LogUpsertOfPlainLogs, TimesReachToTheEnds) {
  const TempDir temp;
  LogCreateOptions options;
  options.schema = Schema::Make({{.name = "n", .type = FieldType::kInt, .size = 8}}).value();
  options.time_field = "n";
  Log log = Log::Create(temp.Path("log"), options).value();
  LogWriter writer = log.OpenWriter({}).value();
  const std::vector<LittleEndian<int64_t>> ends = {std::numeric_limits<int64_t>::max(),
                                                   std::numeric_limits<int64_t>::min()};
  ASSERT_TRUE(IsOk(writer.Append(ends)));
  ASSERT_TRUE(IsOk(writer.Append(ends)));
  EXPECT_EQ(writer.Upsert(ends).value(), (UpsertReport{.replaced = 2, .removed = 2}));
  EXPECT_EQ(log.Refresh()->nrecords(), 2);
  EXPECT_EQ(writer.Upsert(ends).value(), (UpsertReport{.unchanged = 2}));
}

// Each upsert is one commit of the log, whatever it replaces.
TEST(LogUpsertOfOneFile, IsOneCommit) {
  const TempDir temp;
  Log log = Log::Create(temp.Path("log"), SensorOptions()).value();
  LogWriter writer = log.OpenWriter({}).value();
  ASSERT_TRUE(IsOk(writer.Append(Readings(450))));
  ASSERT_TRUE(IsOk(writer.Commit()));
  const int64_t before = log.Refresh()->frames().front().info().generation;
  ASSERT_TRUE(IsOk(writer.Upsert(Corrected(300, 300))));
  EXPECT_EQ(log.Refresh()->frames().front().info().generation, before + 1);
}

// Readings whose temperatures are random, from 1 to 2, so that they do not compress.
std::vector<Reading> RandomReadings(int64_t count, int64_t from) {
  test::Dice dice(7);
  std::vector<Reading> readings = Readings(count, from);
  for (Reading& reading : readings) {
    reading.temp = 1 + std::ldexp(static_cast<double>(dice.Next() >> 11), -53);
  }
  return readings;
}

// Each key has one record, the old one or the new one, and the call can be repeated.
TEST(LogUpsertOnAFullDisk, LeavesWhatCanBeRepeated) {
  constexpr int64_t kLarge = 1 << 30;
  constexpr int64_t kCount = 2'000;
  const std::vector<Reading> records = RandomReadings(80'000, 1'000);
  for (const bool many_files : {false, true}) {
    int refused = 0;
    int halfway = 0;
    for (int64_t free = 0;; free += 200'000) {
      SCOPED_TRACE(testing::Message() << free << " bytes free");
      ASSERT_LT(free, 5'000'000);
      test::SimulatedDisk disk;
      disk.SetCapacity(kLarge);
      LogCreateOptions options = SensorOptions();
      options.chunksize *= 10;
      if (many_files) options.rotation.period = 200'000;
      options.file_system = disk.root();
      Log log = Log::Create("log", options).value();
      LogWriter writer = log.OpenWriter({}).value();
      ASSERT_TRUE(IsOk(writer.Append(Readings(kCount))));
      ASSERT_TRUE(IsOk(writer.Commit()));
      disk.SetCapacity(kLarge - disk.Free() + free);
      const absl::StatusOr<UpsertReport> full = writer.Upsert(records);
      disk.SetCapacity(kLarge);
      if (full.ok()) break;
      ASSERT_TRUE(absl::IsResourceExhausted(full.status())) << full.status();
      ++refused;
      const std::vector<Reading> found = AllOf(log.Refresh().value());
      for (int64_t i = 0; i < kCount; ++i) ASSERT_EQ(found[static_cast<size_t>(i)].count, i);
      const auto taken =
          std::ranges::count_if(found, [](const Reading& reading) { return reading.temp != 1.5; });
      if (taken > 0) ++halfway;
      absl::StatusOr<UpsertReport> again = writer.Upsert(records);
      if (!again.ok()) {  // a rotation on a full disk ends a writer
        writer = log.OpenWriter({}).value();
        again = writer.Upsert(records);
      }
      ASSERT_TRUE(IsOk(again));
      EXPECT_EQ(again->unchanged, taken);
      EXPECT_EQ(AllOf(log.Refresh().value()), Joined(Readings(1'000), records));
      ASSERT_TRUE(IsOk(writer.Append(Readings(1, 90'000))));
      ASSERT_TRUE(IsOk(writer.Close()));
    }
    EXPECT_GT(refused, 0);
    EXPECT_EQ(halfway > 0, many_files) << "each file has a commit of its own";
  }
}

// A log that gets random upserts, beside a map that holds what the log must hold.
class MappedLog {
 public:
  MappedLog(uint32_t seed, bool many_files) : dice_(seed) {
    LogCreateOptions options = SensorOptions();
    if (many_files) options.rotation.period = 3000;
    if (many_files && dice_.Percent(30)) options.rotation.max_bytes = 8000;
    log_.emplace(Log::Create(temp_.Path("log"), options).value());
    reader_.emplace(Log::Open(temp_.Path("log")).value());
    writer_.emplace(log_->OpenWriter({}).value());
    if (dice_.Percent(50)) key_ = {"count"};
  }

  void Step() {
    std::vector<Reading> records(1 + dice_.Below(dice_.Percent(20) ? 300 : 20));
    for (Reading& reading : records) {
      if (dice_.Percent(60)) now_ += static_cast<int64_t>(dice_.Below(20));
      const bool old = dice_.Percent(50);
      const auto age = dice_.Below(dice_.Percent(20) ? static_cast<size_t>(now_) + 1 : 300);
      reading.time = old ? now_ - static_cast<int64_t>(age) : now_;
      reading.temp = static_cast<double>(dice_.Below(3));
      reading.count = static_cast<int32_t>(dice_.Below(4));
    }
    if (dice_.Percent(25)) {
      Append(records);
    } else {
      Upsert(records);
    }
    if (dice_.Percent(15)) Delete();
    if (dice_.Percent(15)) {
      writer_.reset();
      writer_.emplace(log_->OpenWriter({}).value());
    }
  }

  void Check() {
    for (Log* const log : {&*log_, &*reader_}) {
      const LogSnapshot now = log->Refresh().value();
      std::multimap<Key, double> found;
      for (const Reading& reading : AllOf(now)) found.emplace(KeyOf(reading), reading.temp);
      ASSERT_EQ(found.size(), records_.size());
      ASSERT_TRUE(std::ranges::is_permutation(found, records_));
      EXPECT_EQ(now.VerifyStatistics().value(), std::vector<std::string>());
    }
  }

 private:
  struct Key {
    int64_t time = 0;
    int32_t count = 0;
    auto operator<=>(const Key&) const = default;
  };
  Key KeyOf(const Reading& reading) const { return {.time = reading.time, .count = reading.count}; }
  auto SameKey(const Reading& reading) const {
    return [this, key = KeyOf(reading)](const auto& record) {
      return record.first.time == key.time && (key_.empty() || record.first.count == key.count);
    };
  }

  // Appended records do not replace others.
  void Append(const std::vector<Reading>& records) {
    ASSERT_TRUE(IsOk(writer_->Append(records)));
    ASSERT_TRUE(IsOk(writer_->Commit()));
    for (const Reading& reading : records) records_.emplace(KeyOf(reading), reading.temp);
  }

  void Upsert(const std::vector<Reading>& records) {
    const absl::StatusOr<UpsertReport> report = writer_->Upsert(records, {.key = key_});
    ASSERT_TRUE(IsOk(report));
    UpsertReport expected;
    for (auto reading = records.begin(); reading != records.end(); ++reading) {
      const auto same = SameKey(*reading);
      if (std::any_of(reading + 1, records.end(),
                      [&](const Reading& later) { return same(std::pair(KeyOf(later), 0.0)); })) {
        continue;
      }
      const std::pair<const Key, double> record = {KeyOf(*reading), reading->temp};
      const auto equal = std::ranges::count(records_, record);
      const auto erased = static_cast<int64_t>(std::erase_if(records_, same));
      ++(erased == 0                 ? expected.inserted
         : equal == 1 && erased == 1 ? expected.unchanged
                                     : expected.replaced);
      expected.removed += erased - (equal > 0 ? 1 : 0);
      records_.insert(record);
    }
    EXPECT_EQ(*report, expected);
  }

  void Delete() {
    const auto begin = static_cast<int64_t>(dice_.Below(static_cast<size_t>(now_) + 1));
    const TimeRange times = {.begin = begin, .end = begin + 200};
    ASSERT_TRUE(IsOk(writer_->Delete({.times = times})));
    std::erase_if(records_, [&](const auto& record) {
      return record.first.time >= times.begin && record.first.time < times.end;
    });
  }

  const TempDir temp_;
  test::Dice dice_;
  std::vector<std::string> key_;
  std::optional<Log> log_;
  std::optional<Log> reader_;
  std::optional<LogWriter> writer_;
  std::multimap<Key, double> records_;  // multiple because of Append
  int64_t now_ = 0;
};

TEST(LogUpsertBesideAMap, HoldsTheSameRecords) {
  for (uint32_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    MappedLog log(seed, seed % 2 == 1);
    for (int i = 0; i < 30 && !testing::Test::HasFailure(); ++i) {
      log.Step();
      log.Check();
    }
  }
}

}  // namespace
}  // namespace cairn
