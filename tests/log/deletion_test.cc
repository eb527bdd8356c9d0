// Deletes records of logs: beside readers, in older files, by request to a writer, after faults.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/file_system.h"
#include "cairn/forwarding_file.h"
#include "cairn/frame.h"
#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "engine/log/state/edit_layer.h"
#include "tests/log/sensor_log.h"
#include "tests/support/dice.h"
#include "tests/support/simulated_disk.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn {
namespace {

using absl::StatusCode;
using std::chrono::milliseconds;
using test::NumberedReading;
using test::Reading;
using test::Readings;
using test::RunQuery;
using test::SensorOptions;
using test::TempDir;

// Selects the readings with these counts, whose times are ten times the counts.
LogSelection Counts(int64_t begin, int64_t end) {
  return {.times = {.begin = begin * 10, .end = end * 10}};
}

// Readings whose temperatures are random, from 0 to 1, so that they do not compress.
std::vector<Reading> RandomReadings(int64_t count) {
  test::Dice dice(1);
  std::vector<Reading> readings = Readings(count);
  for (Reading& reading : readings) {
    reading.temp = std::ldexp(static_cast<double>(dice.Next() >> 11), -53);
  }
  return readings;
}

class LogDeletion : public testing::TestWithParam<bool> {
 protected:
  LogDeletion() {
    LogCreateOptions options = SensorOptions();
    if (GetParam()) options.rotation.period = 2000;  // files of 200 readings
    log_.emplace(Log::Create(temp_.Path("log"), options).value());
    LogWriter writer = log_->OpenWriter({}).value();
    EXPECT_TRUE(IsOk(writer.Append(Readings(1050))));
    EXPECT_TRUE(IsOk(writer.Close()));
  }

  std::vector<int64_t> Found(const LogSnapshot& log, LogQuery query = {}) {
    std::vector<int64_t> records;
    const absl::StatusOr<std::vector<NumberedReading>> rows = RunQuery(log, query);
    EXPECT_TRUE(IsOk(rows));
    for (const NumberedReading& row : rows.value_or(std::vector<NumberedReading>())) {
      records.push_back(row.record);
    }
    return records;
  }

  const TempDir temp_;
  std::optional<Log> log_;
};

TEST_P(LogDeletion, SnapshotFromBeforeKeepsWhatItShows) {
  const LogSnapshot before = log_->Refresh().value();
  LogWriter writer = log_->OpenWriter({}).value();
  EXPECT_EQ(writer.Delete(Counts(150, 450)).value(), 300);
  EXPECT_EQ(Found(before).size(), 1050);
  EXPECT_EQ(before.nrecords(), 1050);
  const LogSnapshot now = log_->Refresh().value();
  EXPECT_EQ(Found(now).size(), 750);
  EXPECT_EQ(Found(now, {.times = {.begin = 1400, .end = 4600}}).size(), 20);
  EXPECT_EQ(now.nrecords(), 750);
  EXPECT_EQ(now.end_record(), 1050);
  const std::vector<RecordRange> deleted = {{.begin = 150, .end = 450}};
  EXPECT_EQ(now.deleted(), deleted);
  EXPECT_EQ(now.ChangesSince(before).deleted, deleted);
  EXPECT_EQ(writer.Delete(Counts(150, 450)).value(), 0) << "there is nothing left to delete";
  EXPECT_EQ(writer.snapshot().deleted(), deleted);
}

// Statistics are those of the stored bytes, and aggregates do not count what was deleted.
TEST_P(LogDeletion, AggregatesLeaveThemOut) {
  ASSERT_EQ(log_->Delete(Counts(0, 1049), milliseconds(0)).value(), 1049);
  const LogSnapshot now = log_->Refresh().value();
  const std::vector<LogBucket> all = now.Aggregate({.fields = {"temp", "count"}}).value();
  ASSERT_EQ(all.size(), 1);
  EXPECT_EQ(all[0].records, 1);
  EXPECT_EQ(all[0].begin, 10490);
  EXPECT_EQ(all[0].fields[1].min, 1049);
  EXPECT_EQ(now.VerifyStatistics().value(), std::vector<std::string>());
  EXPECT_EQ(now.Times().value()->begin, 10490);
  ASSERT_EQ(log_->Delete({}, milliseconds(0)).value(), 1);
  const LogSnapshot empty = log_->Refresh().value();
  EXPECT_EQ(empty.Aggregate({}).value().size(), 0);
  EXPECT_FALSE(empty.Times().value().has_value());
  EXPECT_EQ(empty.FindTime(0).value(), 1050);
  EXPECT_EQ(empty.nrecords(), 0);
}

TEST_P(LogDeletion, OtherLibrariesSeeATimeWithoutValues) {
  ASSERT_EQ(log_->Delete({.filters = {"count = 7"}}, milliseconds(0)).value(), 1);
  const LogSnapshot now = log_->Refresh().value();
  std::vector<Reading> readings(3);
  ASSERT_TRUE(IsOk(now.frames().front().ReadItems(6, readings)));
  EXPECT_EQ(readings[0], Readings(1, 6)[0]);
  EXPECT_EQ(readings[1].time, 70);
  EXPECT_TRUE(std::isnan(readings[1].temp));
  EXPECT_EQ(readings[1].count, 0);
  EXPECT_EQ(readings[2], Readings(1, 8)[0]);
}

TEST_P(LogDeletion, RecordsThatWaitAreDeletedToo) {
  LogWriter writer = log_->OpenWriter({}).value();
  ASSERT_TRUE(IsOk(writer.Append(Readings(10, 1050))));
  EXPECT_EQ(writer.Delete(Counts(1040, 1055)).value(), 15);
  ASSERT_TRUE(IsOk(writer.Append(Readings(1, 1060))));
  ASSERT_TRUE(IsOk(writer.Close()));
  EXPECT_EQ(log_->Refresh()->nrecords(), 1050 + 10 - 15 + 1);
  EXPECT_EQ(log_->snapshot().end_record(), 1061);
}

TEST_P(LogDeletion, BadSelectionDeletesNothing) {
  LogWriter writer = log_->OpenWriter({}).value();
  EXPECT_TRUE(Fails(writer.Delete({.filters = {"nothing > 3"}}), StatusCode::kNotFound, "nothing"));
  EXPECT_TRUE(Fails(writer.Delete({.filters = {"temp >"}}), StatusCode::kInvalidArgument, "temp"));
  ASSERT_TRUE(IsOk(writer.Append(Readings(1, 1050))));
  ASSERT_TRUE(IsOk(writer.Close()));
  EXPECT_EQ(log_->Refresh()->nrecords(), 1051);
  EXPECT_TRUE(Fails(log_->Delete({.filters = {"temp >"}}, milliseconds(0)),
                    StatusCode::kInvalidArgument, "temp"));
}

// A reader that was there before, and whose file is not the one that changes.
TEST_P(LogDeletion, OtherProcessSeesIt) {
  Log reader = Log::Open(temp_.Path("log")).value();
  const LogSnapshot before = reader.snapshot();
  ASSERT_EQ(log_->Delete(Counts(50, 60), milliseconds(0)).value(), 10);
  const LogSnapshot now = reader.WaitForCommit(before, milliseconds(1000)).value();
  EXPECT_EQ(now.nrecords(), 1040);
  EXPECT_EQ(now.ChangesSince(before).deleted, (std::vector<RecordRange>{{.begin = 50, .end = 60}}));
  EXPECT_EQ(now.ChangesSince(now).deleted.size(), 0);
}

TEST_P(LogDeletion, WriterCarriesOutARequestWithItsNextCommit) {
  LogWriter writer = log_->OpenWriter({}).value();
  Log other = Log::Open(temp_.Path("log")).value();
  EXPECT_TRUE(Fails(other.Delete(Counts(5, 9), milliseconds(0)), StatusCode::kUnavailable,
                    "with its next commit"));
  EXPECT_TRUE(Fails(other.Delete(Counts(1, 2), milliseconds(0)), StatusCode::kUnavailable,
                    "an earlier request"));
  std::this_thread::sleep_for(milliseconds(15));
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(log_->Refresh()->nrecords(), 1046);
  std::thread thread([&] {
    for (int i = 0; i < 500 && log_->Refresh()->nrecords() == 1046; ++i) {
      std::this_thread::sleep_for(milliseconds(20));
      EXPECT_TRUE(IsOk(writer.Commit()));
    }
  });
  EXPECT_EQ(other.Delete(Counts(200, 420), milliseconds(10'000)).value(), 220);
  thread.join();
  EXPECT_EQ(writer.snapshot().nrecords(), 1046 - 220);
  // A writer that dies leaves its request to the next one.
  EXPECT_TRUE(Fails(other.Delete(Counts(0, 5), milliseconds(0)), StatusCode::kUnavailable, ""));
  { const LogWriter dies = std::move(writer); }
  ASSERT_TRUE(IsOk(log_->OpenWriter({}).value().Commit()));
  EXPECT_EQ(log_->Refresh()->nrecords(), 1046 - 220 - 5);
}

TEST_P(LogDeletion, WriterThatCommitsByItselfCarriesOutARequestWhileNobodyAppends) {
  LogWriter writer = log_->OpenWriter({.commit_interval = std::chrono::hours(1)}).value();
  Log other = Log::Open(temp_.Path("log")).value();
  EXPECT_EQ(other.Delete(Counts(200, 420), milliseconds(10'000)).value(), 220);
  ASSERT_TRUE(IsOk(other.RequestLimits({.max_age = -1, .max_records = 700, .max_bytes = -1},
                                       {.max_bytes = -1, .period = -1})));
  std::this_thread::sleep_for(milliseconds(1'500));
  EXPECT_EQ(log_->Refresh()->retention().max_records, 700);
}

// A request that waits for long is still about the records that its process has seen.
TEST_P(LogDeletion, RequestDeletesNoRecordsThatComeLater) {
  LogWriter writer = log_->OpenWriter({}).value();
  EXPECT_TRUE(Fails(log_->Delete({.filters = {"count >= 1000"}}, milliseconds(0)),
                    StatusCode::kUnavailable, "with its next commit"));
  ASSERT_TRUE(IsOk(writer.Append(Readings(7, 1050))));
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(log_->Refresh()->deleted(), (std::vector<RecordRange>{{.begin = 1000, .end = 1050}}));
}

TEST_P(LogDeletion, RequestThatNobodyCanCarryOutEndsNoCommit) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen((temp_.Path("log") + (GetParam() ? "/log.delete" : ".delete")).c_str(), "w"),
      &std::fclose);
  std::fputs("not a request", file.get());
  std::fflush(file.get());
  LogWriter writer = log_->OpenWriter({}).value();
  ASSERT_TRUE(IsOk(writer.Append(Readings(1, 1050))));
  EXPECT_TRUE(IsOk(writer.Close()));
  EXPECT_EQ(log_->Refresh()->nrecords(), 1051);
}

// Retention counts what is left, and drops the numbers of deleted records with their chunks.
TEST_P(LogDeletion, RetentionKeepsAsManyAsItSays) {
  LogWriter writer = log_->OpenWriter({}).value();
  ASSERT_EQ(writer.Delete(Counts(500, 900)).value(), 400);
  ASSERT_TRUE(IsOk(writer.SetRetention({.max_records = 400})));
  ASSERT_TRUE(IsOk(writer.ApplyRetention()));
  const LogSnapshot kept = writer.snapshot();
  EXPECT_GE(kept.nrecords(), 400);
  EXPECT_GT(kept.first_record(), 0);
  EXPECT_EQ(kept.end_record(), 1050);
  ASSERT_TRUE(IsOk(writer.SetRetention({.max_records = 40})));
  ASSERT_TRUE(IsOk(writer.ApplyRetention()));
  EXPECT_GE(writer.snapshot().nrecords(), 40);
  EXPECT_EQ(writer.snapshot().deleted().size(), 0);
  ASSERT_TRUE(IsOk(writer.Append(Readings(10, 1050))));
  ASSERT_TRUE(IsOk(writer.Close()));
}

TEST(LogEditLayer, DamagedLayersAreRefused) {
  const log::EditLayer good = {.older_files = 3, .deleted = {{.begin = 0, .end = 2}}};
  const std::vector<std::byte> bytes = log::EncodeEditLayer(good);
  EXPECT_EQ(log::ParseEditLayer(bytes).value(), good);
  const auto with = [&](size_t at, uint8_t value) {
    std::vector<std::byte> changed = bytes;
    changed[5 + at] = std::byte{value};  // after the head
    return log::ParseEditLayer(changed).status().code();
  };
  EXPECT_EQ(with(0, 0), StatusCode::kDataLoss);
  EXPECT_EQ(with(4, 2), StatusCode::kUnimplemented);
  EXPECT_EQ(with(15, 0x7F), StatusCode::kDataLoss) << "a writer could not count on";
  EXPECT_EQ(with(15, 0x80), StatusCode::kDataLoss);
  EXPECT_EQ(with(16, 2), StatusCode::kDataLoss) << "one range is missing";
  EXPECT_EQ(with(16, 0), StatusCode::kDataLoss) << "a range too many";
  EXPECT_EQ(with(18, 0), StatusCode::kDataLoss) << "an empty range";
  const log::EditLayer touching = {.deleted = {{.begin = 0, .end = 2}, {.begin = 2, .end = 3}}};
  EXPECT_EQ(log::ParseEditLayer(log::EncodeEditLayer(touching)).status().code(),
            StatusCode::kDataLoss);
}

INSTANTIATE_TEST_SUITE_P(Files, LogDeletion, testing::Bool(),
                         [](const auto& it) { return it.param ? "Many" : "One"; });

// An integer of 0 stays 0: the bytes of its chunk do not change, nor does its fingerprint.
TEST(LogDeletionOfPlainLogs, RecordsWithoutValuesCanBeDeleted) {
  const TempDir temp;
  LogCreateOptions options;
  options.schema = Schema::Make({{.name = "n", .type = FieldType::kInt, .size = 4}}).value();
  options.chunksize = 400;
  Log log = Log::Create(temp.Path("log"), options).value();
  LogWriter writer = log.OpenWriter({}).value();
  const std::vector<test::LittleEndian<int32_t>> zeros(250);
  ASSERT_TRUE(IsOk(writer.Append(zeros)));
  EXPECT_TRUE(Fails(writer.Delete({.times = {.begin = 0, .end = 5}}),
                    StatusCode::kFailedPrecondition, "no time"));
  EXPECT_EQ(writer.Delete({.filters = {"n = 0"}}).value(), 250);
  EXPECT_EQ(log.Refresh()->nrecords(), 0);
}

// Each file is changed wholly or not at all, and the call can be repeated.
TEST(LogDeletionOfManyFiles, FullDiskLeavesWhatCanBeRepeated) {
  constexpr int64_t kLarge = 1 << 30;
  constexpr int64_t kCount = 20'000;
  const std::vector<Reading> readings = RandomReadings(kCount);
  const int64_t few =
      std::ranges::count_if(readings, [](const Reading& reading) { return reading.temp < 0.25; });
  int refused = 0;
  int halfway = 0;
  for (int64_t free = 0;; free += 50'000) {
    SCOPED_TRACE(testing::Message() << free << " bytes free");
    ASSERT_LT(free, 5'000'000);
    test::SimulatedDisk disk;
    disk.SetCapacity(kLarge);
    LogCreateOptions options = SensorOptions();
    options.rotation.period = 60'000;
    options.file_system = disk.root();
    Log log = Log::Create("log", options).value();
    LogWriter writer = log.OpenWriter({}).value();
    ASSERT_TRUE(IsOk(writer.Append(readings)));
    ASSERT_TRUE(IsOk(writer.Commit()));
    disk.SetCapacity(kLarge - disk.Free() + free);
    const absl::StatusOr<int64_t> full = writer.Delete({.filters = {"temp >= 0.25"}});
    disk.SetCapacity(kLarge);
    if (full.ok()) break;
    ASSERT_TRUE(absl::IsResourceExhausted(full.status())) << full.status();
    ++refused;
    const int64_t left = log.Refresh()->nrecords();
    if (left < kCount) ++halfway;
    EXPECT_EQ(writer.Delete({.filters = {"temp >= 0.25"}}).value(), left - few);
    EXPECT_EQ(log.Refresh()->nrecords(), few);
    ASSERT_TRUE(IsOk(writer.Append(Readings(1, kCount))));
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(halfway, 0);
}

// A request is not tried again with each commit, because it would read the log each time.
TEST(LogDeletionRequest, ThatFailsEndsAndItsProcessIsTold) {
  const TempDir temp;
  LogCreateOptions options = SensorOptions();
  options.rotation.period = 2000;
  Log log = Log::Create(temp.Path("log"), options).value();
  LogWriter writer = log.OpenWriter({}).value();
  ASSERT_TRUE(IsOk(writer.Append(Readings(450))));
  ASSERT_TRUE(IsOk(writer.Commit()));
  {
    Frame older = Frame::Open(temp.Path("log") + "/log.000000.b2frame").value();
    const Writer holder = older.OpenWriter({}).value();
    std::atomic<bool> ended = false;
    std::thread thread([&] {
      while (!ended) {
        std::this_thread::sleep_for(milliseconds(15));
        EXPECT_TRUE(IsOk(writer.Commit()));
      }
    });
    Log other = Log::Open(temp.Path("log")).value();
    EXPECT_TRUE(Fails(other.Delete(Counts(10, 440), milliseconds(30'000)), StatusCode::kAborted,
                      "failed to delete 430 records"));
    ended = true;
    thread.join();
  }
  std::this_thread::sleep_for(milliseconds(15));
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(log.Refresh()->nrecords(), 450);
}

TEST(LogDeletionRequest, EndsOnAFullDisk) {
  constexpr int64_t kLarge = 1 << 30;
  const LogSelection most = {.filters = {"temp >= 0.25"}};
  test::SimulatedDisk disk;
  disk.SetCapacity(kLarge);
  LogCreateOptions options = SensorOptions();
  options.rotation.period = 60'000;
  options.file_system = disk.root();
  Log log = Log::Create("log", options).value();
  LogWriter writer = log.OpenWriter({}).value();
  ASSERT_TRUE(IsOk(writer.Append(RandomReadings(20'000))));
  ASSERT_TRUE(IsOk(writer.Commit()));
  const auto ask = [&] {
    EXPECT_TRUE(Fails(log.Delete(most, milliseconds(0)), StatusCode::kUnavailable, "next commit"));
    std::this_thread::sleep_for(milliseconds(15));
  };
  ask();
  disk.SetCapacity(kLarge - disk.Free() + 100);
  EXPECT_TRUE(IsOk(writer.Commit()));
  const int64_t left = log.Refresh()->nrecords();
  EXPECT_GT(left, 6'000) << "the disk was not full";
  disk.SetCapacity(kLarge);
  std::this_thread::sleep_for(milliseconds(15));
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(log.Refresh()->nrecords(), left) << "the request is still there";
  ask();
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_LT(log.Refresh()->nrecords(), 6'000);
}

// A power cut takes records that the request is about, and others get their numbers.
TEST(LogDeletionRequest, AfterAPowerCutDeletesNoNewRecords) {
  test::Dice dice(1);
  int shrunk = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    test::SimulatedDisk disk(seed);
    LogCreateOptions options = SensorOptions();
    options.file_system = disk.root();
    Log log = Log::Create("log", options).value();
    LogWriter writer = log.OpenWriter({.durability = Durability::kProcess}).value();
    ASSERT_TRUE(IsOk(writer.Append(Readings(100))));
    ASSERT_TRUE(IsOk(writer.Checkpoint()));
    ASSERT_TRUE(IsOk(writer.Append(Readings(50, 100))));
    ASSERT_TRUE(IsOk(writer.Commit()));
    EXPECT_TRUE(Fails(log.Delete({}, milliseconds(0)), StatusCode::kUnavailable, "next commit"));
    const std::unique_ptr<test::SimulatedDisk> after = disk.PowerLoss(dice);
    Log found = Log::Open("log", {.file_system = after->root()}).value();
    if (found.snapshot().end_record() < 150) ++shrunk;
    LogWriter next = found.OpenWriter({}).value();
    ASSERT_TRUE(IsOk(next.Append(Readings(60, 1000))));
    ASSERT_TRUE(IsOk(next.Commit()));
    EXPECT_EQ(next.snapshot().nrecords(), 60);
  }
  EXPECT_GT(shrunk, 0);
}

TEST(LogDeletionOfManyFiles, FileThatIsBeingCompactedEndsNoWriter) {
  const TempDir temp;
  LogCreateOptions options = SensorOptions();
  options.rotation.period = 2000;
  Log log = Log::Create(temp.Path("log"), options).value();
  LogWriter writer = log.OpenWriter({}).value();
  ASSERT_TRUE(IsOk(writer.Append(Readings(450))));
  ASSERT_TRUE(IsOk(writer.Commit()));
  {
    Frame older = Frame::Open(temp.Path("log") + "/log.000000.b2frame").value();
    const Writer holder = older.OpenWriter({}).value();
    EXPECT_TRUE(Fails(writer.Delete(Counts(10, 440)), StatusCode::kUnavailable, ""));
  }
  EXPECT_EQ(log.Refresh()->nrecords(), 450);
  EXPECT_EQ(writer.Delete(Counts(10, 440)).value(), 430);
  ASSERT_TRUE(IsOk(writer.Close()));
  EXPECT_EQ(log.Refresh()->nrecords(), 20);
}

// The reader finds two files more than it knew, and the changes that were made since.
TEST(LogDeletionOfManyFiles, ReaderThatMissedARotationSeesIt) {
  const TempDir temp;
  LogCreateOptions options = SensorOptions();
  options.rotation.period = 2000;
  Log log = Log::Create(temp.Path("log"), options).value();
  LogWriter writer = log.OpenWriter({}).value();
  ASSERT_TRUE(IsOk(writer.Append(Readings(450))));
  ASSERT_TRUE(IsOk(writer.Commit()));
  Log reader = Log::Open(temp.Path("log")).value();
  for (int64_t count = 450; count < 1500; count += 210) {
    ASSERT_TRUE(IsOk(writer.Append(Readings(210, count))));
    ASSERT_EQ(writer.Delete(Counts(count - 445, count - 442)).value(), 3);
    EXPECT_EQ(reader.Refresh()->deleted(), writer.snapshot().deleted());
  }
}

// A file system that calls a function before it opens some file for the first time.
class OpeningHook final : public ForwardingFileSystem {
 public:
  OpeningHook(std::string name, std::function<void()> call)
      : ForwardingFileSystem(PosixFileSystem()), name_(std::move(name)), call_(std::move(call)) {}
  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override {
    if (path.ends_with(name_) && call_ != nullptr) std::exchange(call_, nullptr)();
    return ForwardingFileSystem::Open(path, mode);
  }

 private:
  const std::string name_;
  std::function<void()> call_;
};

TEST(LogDeletionOfManyFiles, ReaderThatOpensTheLogMeanwhileSeesIt) {
  for (const std::string name :
       {"log.000000.b2frame", "log.000001.b2frame", "log.000002.b2frame"}) {
    SCOPED_TRACE(name);
    const TempDir temp;
    LogCreateOptions options = SensorOptions();
    options.rotation.period = 2000;
    Log log = Log::Create(temp.Path("log"), options).value();
    LogWriter writer = log.OpenWriter({}).value();
    ASSERT_TRUE(IsOk(writer.Append(Readings(450))));
    ASSERT_TRUE(IsOk(writer.Commit()));
    const auto files = std::make_shared<OpeningHook>(
        name, [&] { EXPECT_EQ(writer.Delete(Counts(100, 410)).value(), 310); });
    Log reader = Log::Open(temp.Path("log"), {.file_system = files}).value();
    EXPECT_EQ(reader.Refresh()->nrecords(), 140);
  }
}

// The file before the newest one has changed, and its writer died before the newest one says so.
TEST(LogDeletionOfManyFiles, ReaderSeesWhatAWriterThatDiedHasChanged) {
  const TempDir temp;
  LogCreateOptions options = SensorOptions();
  options.rotation.period = 2000;
  Log log = Log::Create(temp.Path("log"), options).value();
  {
    LogWriter writer = log.OpenWriter({}).value();
    ASSERT_TRUE(IsOk(writer.Append(Readings(250))));
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  const auto set_layer = [&](const std::string& file, const log::EditLayer& layer) {
    Frame frame = Frame::Open(temp.Path("log") + "/" + file).value();
    Writer writer = frame.OpenWriter({}).value();
    ASSERT_TRUE(IsOk(writer.SetVlmetalayer(log::kEditLayer, log::EncodeEditLayer(layer))));
    ASSERT_TRUE(IsOk(writer.Commit()));
  };
  set_layer("log.000001.b2frame", {.older_files = 1});
  EXPECT_EQ(log.Refresh()->nrecords(), 250);
  set_layer("log.000000.b2frame", {.deleted = {{.begin = 3, .end = 5}}});
  EXPECT_EQ(log.Refresh()->nrecords(), 248);
  // The next writer ends that.
  ASSERT_TRUE(IsOk(log.OpenWriter({}).value().Close()));
  const Snapshot newest = log.Refresh()->frames().back();
  EXPECT_EQ(log::ParseEditLayer(newest.GetVlmetalayer(log::kEditLayer).value())->older_files, 2);
  EXPECT_EQ(log.snapshot().nrecords(), 248);
}

}  // namespace
}  // namespace cairn
