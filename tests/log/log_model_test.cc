// Random logs beside a plain model: late records, commits, other handles, rotation, retention,
// deletion, upserts.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include <gtest/gtest.h>

#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "tests/log/sensor_log.h"
#include "tests/support/dice.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn {
namespace {

using test::Expected;
using test::LittleEndian;
using test::NumberedReading;
using test::Reading;
using test::RunQuery;
using test::SensorOptions;

class ModelledLog {
 public:
  // If there is a window, each record is appended by itself, and commits keep back what is newer.
  ModelledLog(const LogCreateOptions& options, uint32_t seed, int64_t window = 0)
      : dice_(seed), window_(window) {
    log_.emplace(Log::Create(temp_.Path("log"), options).value());
    reader_.emplace(Log::Open(temp_.Path("log")).value());
    Reopen();
  }

  void Reopen() {
    if (writer_.has_value()) CommitHeld();
    writer_.reset();
    LogWriterOptions options;
    if (window_ > 0) options = {.commit_records = 1, .reorder_window = window_};
    writer_.emplace(log_->OpenWriter(options).value());
    newest_ = std::numeric_limits<int64_t>::min();
  }

  // Appends some records, of which a share is late, and commits them.
  void Append(int64_t count, double late_share) {
    std::vector<Reading> batch;
    for (int64_t i = 0; i < count; ++i) {
      now_ += Upto(20);
      const bool late = Upto(1'000'000) < static_cast<int64_t>(late_share * 1'000'000);
      Reading reading;
      reading.time = late ? now_ - Upto(100'000) : now_;
      reading.temp = static_cast<double>(Upto(1000)) / 8;
      if (Upto(50) == 0) reading.temp = std::nan("");
      reading.count = static_cast<int32_t>(Upto(100)) - 50;
      batch.push_back(reading);
    }
    if (window_ > 0) {
      for (const Reading& reading : batch) AppendOne(reading);
      if (Upto(2) == 0) CommitHeld();
      return;
    }
    ASSERT_TRUE(IsOk(writer_->Append(batch)));
    held_ = batch;
    CommitHeld();
  }

  // Commits what the window holds back, too.
  void CommitHeld() {
    ASSERT_TRUE(IsOk(writer_->Commit()));
    TakeUpTo(std::numeric_limits<int64_t>::max());
  }

  // Deletes some records, from the least time on or in a short span, with or without a condition.
  // Returns how many.
  int64_t Delete() {
    LogSelection which = {.times = SomeRange()};
    if (Upto(3) > 0) which.times.end = which.times.begin + Upto(300);
    const auto count = static_cast<int32_t>(Upto(100)) - 50;
    const bool filtered = Upto(2) == 0;
    if (filtered) which.filters = {absl::StrFormat("count < %d", count)};
    int64_t chosen = 0;
    const auto first = static_cast<size_t>(log_->Refresh()->first_record());
    for (size_t i = first; i < all_.size(); ++i) {
      const bool in_time = all_[i].time >= which.times.begin && all_[i].time < which.times.end;
      if (!in_time || deleted_[i] || (filtered && all_[i].count >= count)) continue;
      all_[i] = {.time = all_[i].time, .temp = std::nan(""), .count = 0};
      deleted_[i] = true;
      ++chosen;
    }
    const absl::StatusOr<int64_t> done = writer_->Delete(which);
    EXPECT_TRUE(IsOk(done));
    EXPECT_EQ(done.value_or(-1), chosen);
    return chosen;
  }

  // Upserts records, of which many have the time of another. Returns how many replaced some.
  int64_t Upsert(int64_t count) {
    std::map<int64_t, Reading> batch;
    for (int64_t i = 0; i < count; ++i) {
      now_ += Upto(20);
      Reading reading;
      reading.time = now_;
      if (Upto(2) == 0) reading.time = all_[static_cast<size_t>(Upto(std::ssize(all_)))].time;
      reading.temp = static_cast<double>(Upto(1000)) / 8;
      reading.count = static_cast<int32_t>(Upto(100)) - 50;
      batch[reading.time] = reading;
    }
    const auto first = static_cast<size_t>(log_->Refresh()->first_record());
    int64_t replaced = 0;
    int64_t removed = 0;
    std::vector<Reading> records;
    for (const auto& [time, reading] : batch) records.push_back(reading);
    std::set<int64_t> found;
    for (size_t i = first; i < all_.size(); ++i) {
      if (deleted_[i] || !batch.contains(all_[i].time)) continue;
      replaced += found.insert(all_[i].time).second ? 1 : 0;
      ++removed;
      all_[i] = {.time = all_[i].time, .temp = std::nan(""), .count = 0};
      deleted_[i] = true;
    }
    const absl::StatusOr<UpsertReport> report = writer_->Upsert(records);
    EXPECT_TRUE(IsOk(report));
    if (report.ok()) {
      EXPECT_EQ(report->replaced, replaced);
      EXPECT_EQ(report->removed, removed);
      EXPECT_EQ(report->inserted, std::ssize(records) - replaced);
    }
    all_.insert(all_.end(), records.begin(), records.end());
    deleted_.resize(all_.size());
    return replaced;
  }

  void Check() {
    const absl::StatusOr<LogSnapshot> refreshed = log_->Refresh();
    ASSERT_TRUE(IsOk(refreshed));
    const LogSnapshot& log = *refreshed;
    ASSERT_EQ(log.end_record(), std::ssize(all_));
    const int64_t first = log.first_record();
    const std::vector<Reading> kept(all_.begin() + first, all_.end());
    EXPECT_EQ(log.nrecords(), std::count(deleted_.begin() + first, deleted_.end(), false));
    CheckDeleted(log);
    CheckReader(first);
    CheckRecords(log, kept);
    for (int i = 0; i < 8; ++i) CheckQuery(log, kept);
    for (int i = 0; i < 4; ++i) CheckAggregate(log, kept);
    const absl::StatusOr<std::vector<std::string>> wrong = log.VerifyStatistics();
    ASSERT_TRUE(IsOk(wrong));
    EXPECT_EQ(*wrong, std::vector<std::string>());
  }

  Log& log() { return *log_; }
  LogWriter& writer() { return *writer_; }
  const std::vector<Reading>& all() const { return all_; }
  const test::TempDir& temp() const { return temp_; }

 private:
  void AppendOne(const Reading& reading) {
    ASSERT_TRUE(IsOk(writer_->Append(std::vector<Reading>{reading})));
    held_.push_back(reading);
    newest_ = std::max(newest_, test::TimeOf(reading));
    TakeUpTo(newest_ - window_);
  }

  // The records up to this time are in the log, in the order of time.
  void TakeUpTo(int64_t time) {
    std::ranges::stable_sort(held_, {}, test::TimeOf);
    const auto end = std::ranges::upper_bound(held_, time, {}, test::TimeOf);
    all_.insert(all_.end(), held_.begin(), end);
    held_.erase(held_.begin(), end);
    deleted_.resize(all_.size());
  }

  int64_t Upto(int64_t limit) {
    return static_cast<int64_t>(dice_.Below(static_cast<size_t>(limit)));
  }
  TimeRange SomeRange() {
    const int64_t a = Upto(now_ + 100);
    const int64_t b = Upto(3) == 0 ? a + Upto(200) : Upto(now_ + 100);
    return {.begin = std::min(a, b), .end = std::max(a, b)};
  }

  // Returns the rows of a result without those of deleted records.
  std::vector<NumberedReading> Live(std::vector<NumberedReading> rows) const {
    std::erase_if(rows, [this](const NumberedReading& row) {
      return deleted_[static_cast<size_t>(row.record)];
    });
    return rows;
  }

  void CheckDeleted(const LogSnapshot& log) {
    std::vector<bool> deleted(all_.size());
    int64_t end = -1;
    for (const RecordRange& range : log.deleted()) {
      ASSERT_GT(range.begin, end) << "they touch";
      ASSERT_GT(range.end, range.begin);
      end = range.end;
      std::fill(deleted.begin() + range.begin, deleted.begin() + range.end, true);
    }
    for (auto i = static_cast<size_t>(log.first_record()); i < all_.size(); ++i) {
      ASSERT_EQ(deleted[i], deleted_[i]) << "record " << i;
    }
    std::optional<TimeRange> times;
    for (auto i = static_cast<size_t>(log.first_record()); i < all_.size(); ++i) {
      if (deleted_[i]) continue;
      const int64_t time = all_[i].time;
      if (!times.has_value()) times = {.begin = time, .end = time + 1};
      times->begin = std::min(times->begin, time);
      times->end = std::max(times->end, time + 1);
    }
    const std::optional<TimeRange> found = log.Times().value();
    ASSERT_EQ(found.has_value(), times.has_value());
    if (!times.has_value()) return;
    EXPECT_EQ(found->begin, times->begin);
    EXPECT_EQ(found->end, times->end);
    EXPECT_EQ(log.Last(0)->begin, times->end - 1);
    EXPECT_EQ(log.CountFuture().value(), 0);
  }

  // A reader that does not refresh with each commit learns which records are deleted.
  void CheckReader(int64_t first) {
    if (Upto(3) == 0) return;
    const LogSnapshot before = reader_->snapshot();
    const LogSnapshot now = reader_->Refresh().value();
    told_.resize(static_cast<size_t>(before.end_record()));
    for (const RecordRange& range : now.ChangesSince(before).deleted) {
      std::fill(told_.begin() + range.begin, told_.begin() + range.end, true);
    }
    told_.insert(told_.end(), deleted_.begin() + std::ssize(told_), deleted_.end());
    for (auto i = static_cast<size_t>(first); i < all_.size(); ++i) {
      ASSERT_EQ(told_[i], deleted_[i]) << "record " << i;
    }
    ASSERT_EQ(now.nrecords(), std::count(deleted_.begin() + first, deleted_.end(), false));
  }

  void CheckRecords(const LogSnapshot& log, const std::vector<Reading>& kept) {
    std::vector<Reading> read(kept.size());
    ASSERT_TRUE(IsOk(log.ReadRecords(log.first_record(), read)));
    for (size_t i = 0; i < kept.size(); ++i) {
      ASSERT_EQ(std::memcmp(&read[i], &kept[i], sizeof(Reading)), 0) << "record " << i;
    }
    if (kept.empty()) return;
    const int64_t begin = Upto(std::ssize(kept));
    std::vector<LittleEndian<int32_t>> counts(kept.size() - static_cast<size_t>(begin));
    ASSERT_TRUE(IsOk(log.ReadColumn("count", log.first_record() + begin, counts)));
    for (size_t i = 0; i < counts.size(); ++i) {
      ASSERT_EQ(counts[i], kept[static_cast<size_t>(begin) + i].count);
    }
    const int64_t time = Upto(now_ + 100);
    int64_t found = log.first_record();
    for (const Reading& reading : kept) {
      if (reading.time >= time && !deleted_[static_cast<size_t>(found)]) break;
      ++found;
    }
    EXPECT_EQ(log.FindTime(time).value(), found);
  }

  void CheckQuery(const LogSnapshot& log, const std::vector<Reading>& kept) {
    LogQuery query;
    query.times = SomeRange();
    query.order = Upto(2) == 0 ? LogOrder::kTime : LogOrder::kRecord;
    const auto most = static_cast<int32_t>(Upto(100)) - 50;
    const bool filtered = Upto(2) == 0;
    if (filtered) {
      query.where.push_back(
          {.field = "count", .comparison = Comparison::kLess, .value = int64_t{most}});
      query.where.push_back(
          {.field = "temp", .comparison = Comparison::kGreaterOrEqual, .value = 20.0});
    }
    const auto matches = [&](const Reading& r) {
      return !filtered || (r.count < most && r.temp >= 20);
    };
    const absl::StatusOr<std::vector<NumberedReading>> found = RunQuery(log, query);
    ASSERT_TRUE(IsOk(found));
    const std::vector<NumberedReading> expected =
        Live(Expected(kept, log.first_record(), query.times, matches, query.order));
    ASSERT_EQ(found->size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ((*found)[i].record, expected[i].record) << i;
      ASSERT_EQ(std::memcmp(&(*found)[i].reading, &expected[i].reading, sizeof(Reading)), 0) << i;
    }
  }

  void CheckAggregate(const LogSnapshot& log, const std::vector<Reading>& kept) {
    LogAggregation aggregation;
    aggregation.times = SomeRange();
    aggregation.bucket = 1 + Upto(5000);
    aggregation.origin = Upto(1000);
    aggregation.fields = {"temp", "count"};
    const bool filtered = Upto(3) == 0;
    if (filtered) {
      aggregation.where = {
          {.field = "count", .comparison = Comparison::kNotEqual, .value = int64_t{7}}};
    }
    const auto buckets = log.Aggregate(aggregation);
    ASSERT_TRUE(IsOk(buckets));
    const auto matches = [&](const Reading& r) { return !filtered || r.count != 7; };
    std::map<int64_t, std::vector<Reading>> expected;
    for (const NumberedReading& row :
         Live(Expected(kept, log.first_record(), aggregation.times, matches, LogOrder::kTime))) {
      const int64_t past = (row.reading.time - aggregation.origin) % aggregation.bucket;
      const int64_t begin = row.reading.time - past - (past < 0 ? aggregation.bucket : 0);
      expected[begin].push_back(row.reading);
    }
    ASSERT_EQ(buckets->size(), expected.size());
    for (const LogBucket& bucket : *buckets) {
      const std::vector<Reading>& rows = expected[bucket.begin];
      ASSERT_EQ(bucket.records, std::ssize(rows));
      FieldAggregate temp;
      for (const Reading& row : rows) {
        const double value = row.temp;
        if (std::isnan(value)) continue;
        if (temp.count++ == 0) temp.min = temp.max = temp.first = value;
        temp.min = std::min(temp.min, value);
        temp.max = std::max(temp.max, value);
        temp.sum += value;
        temp.last = value;
      }
      const FieldAggregate& got = bucket.fields[0];
      ASSERT_EQ(got.count, temp.count);
      ASSERT_EQ(got.min, temp.min);
      ASSERT_EQ(got.max, temp.max);
      ASSERT_EQ(got.first, temp.first);
      ASSERT_EQ(got.last, temp.last);
      ASSERT_NEAR(got.sum, temp.sum, 1e-6);
      ASSERT_EQ(bucket.fields[1].count, std::ssize(rows));
    }
  }

  test::TempDir temp_;
  test::Dice dice_;
  std::optional<Log> log_;
  std::optional<Log> reader_;
  std::optional<LogWriter> writer_;
  std::vector<Reading> all_;
  std::vector<bool> deleted_;  // for each of them
  std::vector<bool> told_;     // the same, as the reader was told
  int64_t now_ = 0;
  int64_t window_ = 0;
  std::vector<Reading> held_;  // by the window
  int64_t newest_ = 0;         // time of all records that this writer got
};

TEST(LogModel, RecordsInTheOrderOfTimeAreFound) {
  ModelledLog model(SensorOptions(), 1);
  for (const int64_t count : {1, 7, 99, 100, 101, 350, 3, 200}) {
    model.Append(count, 0);
    model.Check();
  }
}

TEST(LogModel, LateRecordsAreFoundAndSortedIn) {
  ModelledLog model(SensorOptions(), 2);
  for (const int64_t count : {1, 50, 250, 3, 100, 1000}) {
    model.Append(count, 0.05);
    model.Check();
  }
}

TEST(LogModel, AWriterThatIsOpenedAgainGoesOn) {
  ModelledLog model(SensorOptions(), 3);
  for (int i = 0; i < 6; ++i) {
    model.Append(130, 0.01);
    if (i % 2 == 1) {
      ASSERT_TRUE(IsOk(model.writer().Checkpoint()));
    }
    model.Reopen();
    model.Check();
  }
}

TEST(LogModel, ALogOfManyFilesIsOneLog) {
  LogCreateOptions options = SensorOptions();
  options.rotation.period = 3000;
  ModelledLog model(options, 4);
  for (int i = 0; i < 8; ++i) {
    model.Append(150, 0.02);
    model.Check();
  }
  EXPECT_GT(model.log().snapshot().frames().size(), 3);
}

TEST(LogModel, ALogThatDropsRecordsFindsTheOthers) {
  for (const bool many_files : {false, true}) {
    LogCreateOptions options = SensorOptions();
    options.retention = {.max_age = 6000, .max_records = 400};
    if (many_files) options.rotation.period = 3000;
    ModelledLog model(options, 6);
    for (int i = 0; i < 12; ++i) {
      model.Append(i % 3 == 0 ? 350 : 70, 0.01);
      model.Check();
      if (i % 4 == 3) model.Reopen();
    }
    EXPECT_GT(model.log().snapshot().first_record(), 500);
  }
}

TEST(LogModel, DeletedRecordsAreGoneForEveryCall) {
  for (uint32_t seed = 7; seed < 19; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    LogCreateOptions options = SensorOptions();
    if (seed % 2 == 0) options.rotation.period = 3000;
    if (seed % 3 == 0) options.retention.max_records = 500;
    ModelledLog model(options, seed);
    int64_t deleted = 0;
    for (int i = 0; i < 8; ++i) {
      model.Append(i % 3 == 0 ? 250 : 70, 0.03);
      for (int j = 0; j < 2; ++j) deleted += model.Delete();
      model.Check();
      if (testing::Test::HasFailure()) return;
      if (i % 3 == 2) model.Reopen();
    }
    EXPECT_GT(deleted, 0);
  }
}

TEST(LogModel, UpsertedRecordsAreThereForEveryCall) {
  for (uint32_t seed = 20; seed < 26; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    LogCreateOptions options = SensorOptions();
    if (seed % 2 == 0) options.rotation.period = 3000;
    ModelledLog model(options, seed);
    int64_t replaced = 0;
    for (int i = 0; i < 6; ++i) {
      model.Append(i % 3 == 0 ? 250 : 70, 0.03);
      model.Delete();
      for (int j = 0; j < 2; ++j) replaced += model.Upsert(i % 3 == 1 ? 120 : 9);
      model.Check();
      if (testing::Test::HasFailure()) return;
      if (i % 3 == 2) model.Reopen();
    }
    EXPECT_GT(replaced, 0);
  }
}

// A file that ends, a field that is added and a log that shrinks take no record that still waits.
TEST(LogModel, RecordsThatTheWindowHoldsBackComeLater) {
  for (uint32_t seed = 30; seed < 38; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    LogCreateOptions options = SensorOptions();
    if (seed % 2 == 0) options.rotation.period = 3000;
    if (seed % 4 == 3) options.rotation.period = 100;
    if (seed % 4 == 1) options.retention.max_records = 300;
    ModelledLog model(options, seed, /*window=*/200);
    for (int i = 0; i < 8; ++i) {
      model.Append(i % 3 == 0 ? 150 : 40, 0.05);
      model.Check();
      if (testing::Test::HasFailure()) return;
      if (i % 3 == 2) model.Reopen();
    }
    model.Reopen();
    model.Check();
  }
}

TEST(LogModel, ManyChunksFillAllTablesOfStatistics) {
  ModelledLog model(SensorOptions(), 5);
  for (int i = 0; i < 12; ++i) model.Append(1000, 0.001);
  model.Check();
}

}  // namespace
}  // namespace cairn
