// Tests what a log drops, and what it keeps.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "tests/log/sensor_log.h"
#include "tests/support/bytes.h"
#include "tests/support/cost.h"
#include "tests/support/dice.h"
#include "tests/support/files.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn {
namespace {

using absl::StatusCode;
using test::kChunkRecords;
using test::LittleEndian;
using test::Reading;
using test::SensorOptions;

// A log that gets readings whose count is their number.
class RetentionTest : public testing::Test {
 protected:
  void Make(const Retention& retention, const Rotation& rotation = {}) {
    LogCreateOptions options = SensorOptions();
    options.retention = retention;
    options.rotation = rotation;
    log_.emplace(Log::Create(path_, options).value());
    writer_.emplace(log_->OpenWriter({}).value());
  }
  // Ten units of time apart, as one commit.
  void Append(int64_t count) {
    std::vector<Reading> batch;
    for (; count > 0; --count, ++end_) {
      batch.push_back({.time = end_ * 10,
                       .temp = static_cast<double>(dice_.Below(1000)),
                       .count = static_cast<int32_t>(end_)});
    }
    ASSERT_TRUE(IsOk(writer_->Append(batch)));
    ASSERT_TRUE(IsOk(writer_->Commit()));
  }
  // All records that are left have the numbers that they got.
  void ExpectNumbers(const LogSnapshot& snapshot) const {
    ASSERT_EQ(snapshot.end_record(), end_);
    std::vector<LittleEndian<int32_t>> counts(static_cast<size_t>(snapshot.nrecords()));
    ASSERT_TRUE(IsOk(snapshot.ReadColumn("count", snapshot.first_record(), counts)));
    for (size_t i = 0; i < counts.size(); ++i) {
      ASSERT_EQ(counts[i], snapshot.first_record() + static_cast<int64_t>(i));
    }
  }
  int64_t FileBytes() const {
    if (!std::filesystem::is_directory(path_)) {
      return static_cast<int64_t>(std::filesystem::file_size(path_));
    }
    int64_t bytes = 0;
    for (const auto& file : std::filesystem::directory_iterator(path_)) {
      bytes += static_cast<int64_t>(file.file_size());
    }
    return bytes;
  }

  const test::TempDir temp_;
  const std::string path_ = temp_.Path("log");
  test::Dice dice_{1};
  std::optional<Log> log_;
  std::optional<LogWriter> writer_;
  int64_t end_ = 0;
  int64_t largest_ = 0;  // bytes of the file
};

// A log with such a limit would not open.
TEST(Log, RefusesToBeCreatedWithLimitsBelowZero) {
  const test::TempDir temp;
  const auto expect_refused = [&](const LogCreateOptions& options, std::string_view what) {
    EXPECT_TRUE(Fails(Log::Create(temp.Path("a"), options), StatusCode::kInvalidArgument, what));
    EXPECT_FALSE(std::filesystem::exists(temp.Path("a")));
  };
  for (int64_t Retention::*const limit :
       {&Retention::max_age, &Retention::max_records, &Retention::max_bytes}) {
    LogCreateOptions options = SensorOptions();
    options.retention.*limit = -1;
    expect_refused(options, "retention");
  }
  for (int64_t Rotation::*const limit : {&Rotation::max_bytes, &Rotation::period}) {
    LogCreateOptions options = SensorOptions();
    options.rotation.*limit = -1;
    expect_refused(options, "rotation");
  }
}

TEST_F(RetentionTest, KeepsTheRecordsAskedForAndLessThanAChunkMore) {
  Make({.max_records = 250});
  for (int i = 0; i < 40; ++i) {
    Append(30);
    const LogSnapshot now = *log_->Refresh();
    EXPECT_GE(now.nrecords(), std::min<int64_t>(end_, 250));
    EXPECT_LT(now.nrecords(), 250 + kChunkRecords);
    ASSERT_NO_FATAL_FAILURE(ExpectNumbers(now));
  }
}

TEST_F(RetentionTest, KeepsTheTimeAskedFor) {
  Make({.max_age = 2500});
  for (int i = 0; i < 40; ++i) {
    Append(30);
    const LogSnapshot now = *log_->Refresh();
    const int64_t oldest = now.first_record() * 10;
    EXPECT_TRUE(oldest == 0 || (end_ - 1) * 10 - oldest >= 2500) << oldest;
    EXPECT_LE(now.nrecords(), 250 + kChunkRecords);
    ASSERT_NO_FATAL_FAILURE(ExpectNumbers(now));
  }
  EXPECT_GT(log_->snapshot().first_record(), 0);
}

TEST_F(RetentionTest, RecordFromTheFutureMakesNoOthersOld) {
  constexpr int64_t kSecond = 1'000'000;
  Make({.max_age = 3600 * kSecond});
  const auto now = std::chrono::duration_cast<std::chrono::microseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  const auto append = [this](int64_t time, int64_t count) {
    std::vector<Reading> batch(static_cast<size_t>(count));
    for (Reading& reading : batch) reading = {.time = time, .count = static_cast<int32_t>(end_++)};
    ASSERT_TRUE(IsOk(writer_->Append(batch)));
    ASSERT_TRUE(IsOk(writer_->Commit()));
  };
  append(now - 2 * 3600 * kSecond, 300);
  append(now - 1800 * kSecond, 300);
  append(now + int64_t{100} * 365 * 86'400 * kSecond, 1);
  append(now, 250);
  const LogSnapshot left = *log_->Refresh();
  EXPECT_EQ(left.first_record(), 300);
  ASSERT_NO_FATAL_FAILURE(ExpectNumbers(left));
}

// Tests a log that gets readings of an hour ago up to now, and one of a year when it is half full.
class FutureTest : public RetentionTest {
 protected:
  static constexpr int64_t kSecond = 1'000'000;
  static constexpr int64_t kYear = int64_t{365} * 86'400 * kSecond;

  void AppendAt(int64_t time) {
    const std::vector<Reading> one = {{.time = time, .count = static_cast<int32_t>(end_++)}};
    ASSERT_TRUE(IsOk(writer_->Append(one)));
    ASSERT_TRUE(IsOk(writer_->Commit()));
  }
  void FillAnHour() {
    for (int64_t second = 0; second < 3600; second += 2) {
      ASSERT_NO_FATAL_FAILURE(AppendAt(now_ - (3600 - second) * kSecond));
      if (second == 1800) AppendAt(now_ + kYear);
    }
  }
  LogSnapshot Left() { return *log_->Refresh(); }

  const int64_t now_ = std::chrono::duration_cast<std::chrono::microseconds>(
                           std::chrono::system_clock::now().time_since_epoch())
                           .count();
};

TEST_F(FutureTest, OneRecordKeepsNoOldOnes) {
  Make({.max_age = 300 * kSecond});
  ASSERT_NO_FATAL_FAILURE(FillAnHour());
  EXPECT_GE(Left().nrecords(), 150);
  EXPECT_LT(Left().nrecords(), 150 + 2 * kChunkRecords);
  ASSERT_NO_FATAL_FAILURE(ExpectNumbers(Left()));
}

TEST_F(FutureTest, ChunksOfNothingElseGoWithTheNextOld) {
  Make({.max_age = 300 * kSecond});
  for (int i = 0; i < 250; ++i) ASSERT_NO_FATAL_FAILURE(AppendAt(now_ + kYear + i));
  ASSERT_NO_FATAL_FAILURE(FillAnHour());
  EXPECT_LT(Left().nrecords(), 150 + 2 * kChunkRecords);
}

TEST_F(FutureTest, OneRecordKeepsNoOldFilesAndEndsNoRotation) {
  Make({.max_age = 300 * kSecond}, {.period = 60 * kSecond});
  ASSERT_NO_FATAL_FAILURE(FillAnHour());
  EXPECT_GE(Left().nrecords(), 150);
  EXPECT_LT(Left().nrecords(), 150 + 2 * kChunkRecords);
  EXPECT_GE(Left().frames().size(), 5);
}

TEST_F(FutureTest, OneRecordLeavesTheNewestTimesToBeFound) {
  for (const Rotation& rotation : {Rotation{}, Rotation{.period = 600 * kSecond}}) {
    std::filesystem::remove_all(path_);
    end_ = 0;
    Make({}, rotation);
    ASSERT_NO_FATAL_FAILURE(FillAnHour());
    const LogSnapshot log = Left();
    const TimeRange last = *log.Last(60 * kSecond);
    EXPECT_EQ(last.begin, now_ - 62 * kSecond);
    EXPECT_EQ(test::RunQuery(log, {.times = last})->size(), 31);
    EXPECT_EQ(log.CountFuture().value(), 1);
    // Record 901 is the one of the future.
    EXPECT_EQ(log.FindTime(now_ - 62 * kSecond).value(), 1770);
    EXPECT_EQ(log.FindTime(now_ - kSecond).value(), log.end_record());
    EXPECT_EQ(log.FindTime(now_ + kYear).value(), 901);
  }
}

TEST_F(FutureTest, LogOfNothingElseIsReadAsItIs) {
  Make({.max_age = 300 * kSecond});
  for (int i = 0; i < 450; ++i) ASSERT_NO_FATAL_FAILURE(AppendAt(now_ + kYear + i * kSecond));
  EXPECT_EQ(Left().nrecords(), 450);
  EXPECT_EQ(Left().CountFuture().value(), 450);
  EXPECT_EQ(test::RunQuery(Left(), {.times = *Left().Last(9 * kSecond)})->size(), 10);
}

TEST_F(FutureTest, OneRecordLeavesTheOthersToBeSorted) {
  log_.emplace(Log::Create(path_, SensorOptions()).value());
  writer_.emplace(log_->OpenWriter({.commit_records = 1, .reorder_window = 60 * kSecond}).value());
  const auto append = [this](int64_t seconds) {
    const std::vector<Reading> one = {{.time = now_ + seconds * kSecond}};
    ASSERT_TRUE(IsOk(writer_->Append(one)));
  };
  append(-300);
  append(365 * 86'400);
  append(-310);  // late, and neither is committed yet
  EXPECT_EQ(Left().nrecords(), 0);
  append(-200);
  ASSERT_EQ(Left().nrecords(), 2);
  std::vector<LittleEndian<int64_t>> times(2);
  ASSERT_TRUE(IsOk(Left().ReadColumn("time", 0, times)));
  EXPECT_EQ(times,
            (std::vector<LittleEndian<int64_t>>{now_ - 310 * kSecond, now_ - 300 * kSecond}));
}

TEST_F(RetentionTest, CostsNoMoreForCommitsInALongLog) {
  for (const Rotation& rotation : {Rotation{}, Rotation{.period = 10'000'000}}) {
    test::ExpectLinear(1000, [&](int64_t commits) {
      return [=] {
        const test::TempDir temp;
        LogCreateOptions options = SensorOptions();
        options.retention = {.max_age = 1'000'000'000};
        options.rotation = rotation;
        Log log = Log::Create(temp.Path("log"), options).value();
        LogWriter writer = log.OpenWriter({}).value();
        std::vector<Reading> batch(kChunkRecords);
        for (int64_t i = 0; i < commits; ++i) {
          for (size_t j = 0; j < batch.size(); ++j) {
            batch[j].time = i * kChunkRecords + static_cast<int64_t>(j);
          }
          ASSERT_TRUE(IsOk(writer.Append(batch)));
          ASSERT_TRUE(IsOk(writer.Commit()));
        }
      };
    });
  }
}

TEST_F(RetentionTest, KeepsTheBytesAskedForAndLessThanAChunkMore) {
  Make({.max_bytes = 4000});
  for (int i = 0; i < 40; ++i) Append(100);
  const LogSnapshot now = *log_->Refresh();
  const Snapshot frame = now.frames().front();
  EXPECT_GE(frame.info().cbytes, 4000);
  EXPECT_LT(frame.info().cbytes, 4000 + 2 * frame.GetEntry(0)->cbytes.value());
  EXPECT_GT(now.first_record(), 0);
  ASSERT_NO_FATAL_FAILURE(ExpectNumbers(now));
}

TEST_F(RetentionTest, DroppedRecordsAreOutOfRange) {
  Make({.max_records = 100});
  Append(450);
  Append(1);
  const LogSnapshot now = *log_->Refresh();
  ASSERT_EQ(now.first_record(), 300);
  std::vector<Reading> one(1);
  EXPECT_TRUE(Fails(now.ReadRecords(299, one), StatusCode::kOutOfRange,
                    "the log holds 151 records from 300 on"));
  EXPECT_TRUE(IsOk(now.ReadRecords(300, one)));
  EXPECT_EQ(one[0].count, 300);
  EXPECT_EQ(now.FindTime(0).value(), 300);
}

TEST_F(RetentionTest, SnapshotKeepsWhatItShows) {
  Make({.max_records = 100});
  Append(250);
  const LogSnapshot before = *log_->Refresh();
  std::vector<Reading> shown(static_cast<size_t>(before.nrecords()));
  ASSERT_TRUE(IsOk(before.ReadRecords(before.first_record(), shown)));
  for (int i = 0; i < 20; ++i) Append(100);
  std::vector<Reading> again(shown.size());
  ASSERT_TRUE(IsOk(before.ReadRecords(before.first_record(), again)));
  EXPECT_EQ(again, shown);
}

TEST_F(RetentionTest, FileThatDropsAsMuchAsItGetsStopsGrowing) {
  Make({.max_records = 1000});
  const auto largest = [this](int commits) {
    int64_t most = 0;
    for (; commits > 0; --commits) {
      Append(1000);
      most = std::max(most, FileBytes());
    }
    return most;
  };
  const int64_t at_first = largest(300);
  EXPECT_LT(largest(600), at_first * 3 / 2);
}

TEST_F(RetentionTest, BesideIdleReadersOfSeveralStatesAFileStopsGrowing) {
  Make({.max_records = 1000});
  std::vector<LogSnapshot> idle;
  const auto largest = [&](int commits) {
    int64_t most = 0;
    for (int i = 0; i < commits; ++i) {
      Append(1000);
      if (i % 20 == 0) {
        ASSERT_TRUE(IsOk(writer_->Close()));
        log_.emplace(Log::Open(path_).value());
        writer_.emplace(log_->OpenWriter({}).value());
      }
      most = std::max(most, FileBytes());
    }
    largest_ = most;
  };
  for (int i = 0; i < 3; ++i) {
    Append(1000);
    idle.push_back(Log::Open(path_)->snapshot());
    ASSERT_NO_FATAL_FAILURE(largest(100));
  }
  const int64_t at_first = largest_;
  ASSERT_NO_FATAL_FAILURE(largest(600));
  EXPECT_LT(largest_, at_first * 3 / 2);
}

TEST_F(RetentionTest, WriterThatIsOpenedAgainGoesOnDropping) {
  Make({.max_records = 200});
  for (int i = 0; i < 10; ++i) {
    Append(90);
    ASSERT_TRUE(IsOk(writer_->Close()));
    log_.emplace(Log::Open(path_).value());
    ASSERT_NO_FATAL_FAILURE(ExpectNumbers(log_->snapshot()));
    writer_.emplace(log_->OpenWriter({}).value());
  }
  EXPECT_LT(log_->snapshot().nrecords(), 200 + kChunkRecords + 90);
}

TEST_F(RetentionTest, IsChangedWithTheNextCommit) {
  Make({});
  Append(1000);
  ASSERT_TRUE(IsOk(writer_->SetRetention({.max_records = 150})));
  EXPECT_EQ(log_->Refresh()->retention(), Retention{});
  Append(1);
  EXPECT_EQ(Log::Open(path_)->snapshot().retention(), Retention{.max_records = 150});
  Append(1);
  EXPECT_EQ(log_->Refresh()->first_record(), 800);
  EXPECT_TRUE(Fails(writer_->SetRetention({.max_age = -1}), StatusCode::kInvalidArgument,
                    "expected 0 or more"));
}

TEST_F(RetentionTest, RetainDropsAllAtOnceAndCommitsABoundedPiece) {
  Make({});
  for (int i = 0; i < 20; ++i) Append(1000);
  ASSERT_TRUE(IsOk(writer_->SetRetention({.max_records = 100})));
  ASSERT_TRUE(IsOk(writer_->Commit()));
  const int64_t piece = log_->Refresh()->first_record();
  EXPECT_GT(piece, 0);
  EXPECT_LT(piece, 10'000);
  ASSERT_TRUE(IsOk(writer_->ApplyRetention()));
  EXPECT_EQ(log_->Refresh()->first_record(), 19'900);
  ASSERT_NO_FATAL_FAILURE(ExpectNumbers(log_->snapshot()));
}

TEST_F(RetentionTest, OfManyFilesGoesFileByFile) {
  Make({.max_records = 300}, {.period = 2000});  // 200 records to a file
  for (int i = 0; i < 50; ++i) {
    Append(70);
    const LogSnapshot now = *log_->Refresh();
    EXPECT_GE(now.nrecords(), std::min<int64_t>(end_, 300));
    EXPECT_LE(now.frames().size(), 4);
    ASSERT_NO_FATAL_FAILURE(ExpectNumbers(now));
  }
  const auto files = std::filesystem::directory_iterator(path_);
  EXPECT_LE(std::distance(begin(files), end(files)), 4);
  ASSERT_NO_FATAL_FAILURE(ExpectNumbers(Log::Open(path_)->snapshot()));
}

TEST_F(RetentionTest, HandleThatLooksLateFindsTheFilesThatAreLeft) {
  Make({.max_records = 300}, {.period = 2000});
  Append(100);
  Log other = Log::Open(path_).value();
  for (int i = 0; i < 50; ++i) Append(70);
  ASSERT_NO_FATAL_FAILURE(ExpectNumbers(*other.Refresh()));
}

// Who reads the old files of a log reads its new ones.
TEST_F(RetentionTest, NextFileIsAsOpenAsTheLast) {
  Make({}, {.period = 1000});
  ASSERT_EQ(::chmod((path_ + "/log.000000.b2frame").c_str(), 0640), 0);
  const mode_t umask = ::umask(0077);  // the writer's, which is another today
  ASSERT_NO_FATAL_FAILURE(Append(250));
  ::umask(umask);
  for (const char* const name : {"/log.000001.b2frame", "/log.000002.b2frame"}) {
    struct stat info = {};
    ASSERT_EQ(::stat((path_ + name).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0640u) << name;
  }
}

TEST(LogRotation, WriterRemovesWhatADeadOneLeftBesideOlderFiles) {
  const TempDir dir;
  const std::string path = dir.Path("log");
  LogCreateOptions options = SensorOptions();
  options.rotation.period = 1000;
  Log log = Log::Create(path, options).value();
  {
    LogWriter writer = log.OpenWriter({}).value();
    ASSERT_TRUE(IsOk(writer.Append(test::Readings(450))));
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  const std::vector<std::string> dead = {path + "/log.000000.b2frame.0123456789abcdef.tmp",
                                         path + "/log.000002.b2frame.0123456789abcdef.tmp"};
  const std::string other = path + "/log.000001.b2frame.tmp";
  for (const std::string& name : dead) test::PutFileBytes(name, test::MakeNoise(100, 1));
  test::PutFileBytes(other, test::MakeNoise(100, 1));
  const LogWriter writer = log.OpenWriter({}).value();
  for (const std::string& name : dead) EXPECT_FALSE(std::filesystem::exists(name)) << name;
  EXPECT_TRUE(std::filesystem::exists(other));
  EXPECT_EQ(log.Refresh()->nrecords(), 450);
}

}  // namespace
}  // namespace cairn
