// Tests the policy and the limits of the writer of a log, and a full disk.
#include "cairn/log_writer.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <malloc.h>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/log.h"
#include "tests/log/sensor_log.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/simulated_disk.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"

namespace cairn {
namespace {

using absl::StatusCode;
using test::LittleEndian;
using test::Reading;
using test::Readings;
using test::SensorOptions;
using test::TempDir;

void WriteAll(Log& log, const std::vector<Reading>& readings) {
  LogWriter writer = log.OpenWriter({}).value();
  ASSERT_TRUE(IsOk(writer.Append(readings)));
  ASSERT_TRUE(IsOk(writer.Close()));
}

// Waits for a commit that makes the log longer than this many records.
void WaitForMoreThan(Log& log, int64_t nrecords) {
  LogSnapshot now = log.snapshot();
  while (now.end_record() <= nrecords) {
    now = log.WaitForCommit(now, std::chrono::milliseconds(1000)).value();
  }
}

TEST(LogWriter, TakesNothingOfABadBatch) {
  const TempDir temp;
  Log log = Log::Create(temp.Path("log"), SensorOptions()).value();
  LogWriter writer = log.OpenWriter({}).value();
  std::vector<Reading> readings = Readings(3);
  readings[1].time = std::numeric_limits<int64_t>::min();
  EXPECT_TRUE(Fails(writer.Append(readings), StatusCode::kInvalidArgument, "record 1 of 3"));
  const std::vector<std::byte> cut(sizeof(Reading) + 1);
  EXPECT_TRUE(
      Fails(writer.Append(cut), StatusCode::kInvalidArgument, "not a multiple of the record size"));
  EXPECT_TRUE(Fails(writer.Append(std::vector<double>(5)), StatusCode::kInvalidArgument,
                    "values of 8 bytes"));
  EXPECT_EQ(writer.end_record(), 0);
  ASSERT_TRUE(IsOk(writer.Append(Readings(2))));
  EXPECT_EQ(writer.end_record(), 2);
}

TEST(LogWriter, CommitsWhenItsPolicySays) {
  const TempDir temp;
  Log log = Log::Create(temp.Path("log"), SensorOptions()).value();
  LogWriter writer = log.OpenWriter({.commit_records = 10}).value();
  ASSERT_TRUE(IsOk(writer.Append(Readings(9))));
  EXPECT_EQ(log.Refresh()->end_record(), 0);
  ASSERT_TRUE(IsOk(writer.Append(Readings(1, 9))));
  EXPECT_EQ(log.Refresh()->end_record(), 10);
}

TEST(LogWriter, CommitsWhatIsDueByItself) {
  const TempDir temp;
  Log log = Log::Create(temp.Path("log"), SensorOptions()).value();
  CommitTimer timer;
  for (CommitTimer* const shared : {static_cast<CommitTimer*>(nullptr), &timer}) {
    const int64_t before = log.Refresh()->end_record();
    LogWriter writer =
        log.OpenWriter({.commit_interval = std::chrono::milliseconds(20), .timer = shared}).value();
    ASSERT_TRUE(IsOk(writer.Append(Readings(1, before))));
    WaitForMoreThan(log, before);
    EXPECT_EQ(log.Refresh()->end_record(), before + 1);
  }
}

TEST(LogWriter, ThatFailsWhenDueSaysSoAndHoldsUpNoOthers) {
  const TempDir temp;
  test::FaultFileSystem failing;
  LogCreateOptions options = SensorOptions();
  Log good = Log::Create(temp.Path("good"), options).value();
  options.file_system = Unowned(&failing);
  Log bad = Log::Create(temp.Path("bad"), options).value();
  CommitTimer timer;
  const LogWriterOptions policy = {.commit_interval = std::chrono::milliseconds(20),
                                   .timer = &timer};
  LogWriter good_writer = good.OpenWriter(policy).value();
  LogWriter bad_writer = bad.OpenWriter(policy).value();
  failing.Inject({.status = absl::InternalError("injected: broken"), .disk_gone = true});
  ASSERT_TRUE(IsOk(bad_writer.Append(Readings(1))));
  ASSERT_TRUE(IsOk(good_writer.Append(Readings(1))));
  WaitForMoreThan(good, 0);
  absl::Status failed;
  while (failed.ok()) failed = bad_writer.Append(Readings(1));
  EXPECT_EQ(bad_writer.Commit(), failed) << "the first failure is what every call gives";
  ASSERT_TRUE(IsOk(good_writer.Append(Readings(1, 1))));
  WaitForMoreThan(good, 1);
  EXPECT_EQ(good.snapshot().end_record(), 2);
}

// Readings that no codec makes small.
std::vector<Reading> NoisyReadings(int64_t count, int64_t from) {
  std::vector<Reading> readings = Readings(count, from);
  std::minstd_rand dice;
  for (Reading& reading : readings) reading.temp = static_cast<double>(dice()) / 3;
  return readings;
}

// A disk that is full for a while costs no record, whether a commit or a new file meets it.
TEST(LogWriter, KeepsItsRecordsWhileTheDiskIsFull) {
  constexpr int64_t kLarge = 1 << 30;
  for (const int64_t period : {0, 300'000}) {
    int64_t refused = 0;
    for (int64_t free = 0; free < 3'000'000; free += 100'000) {
      SCOPED_TRACE(absl::StrFormat("period %d, %d bytes free", period, free));
      test::SimulatedDisk disk;
      disk.SetCapacity(kLarge);
      LogCreateOptions options = SensorOptions();
      options.rotation = {.period = period};
      options.file_system = disk.root();
      Log log = Log::Create("log", options).value();
      LogWriter writer = log.OpenWriter({.reorder_window = 100}).value();
      ASSERT_TRUE(IsOk(writer.Append(Readings(5))));
      ASSERT_TRUE(IsOk(writer.Commit()));
      disk.SetCapacity(kLarge - disk.Free() + free);
      ASSERT_TRUE(IsOk(writer.Append(NoisyReadings(90'000, 5))));
      const absl::Status full = writer.Commit();
      disk.SetCapacity(kLarge);
      if (full.ok()) break;
      ASSERT_TRUE(absl::IsResourceExhausted(full)) << full;
      ++refused;
      ASSERT_TRUE(IsOk(writer.Append(Readings(5, 90'005))));
      ASSERT_TRUE(IsOk(writer.Close()));
      ASSERT_TRUE(IsOk(log.Refresh()));
      ASSERT_EQ(log.snapshot().end_record(), 90'010);
      std::vector<LittleEndian<int32_t>> counts(90'010);
      ASSERT_TRUE(IsOk(log.snapshot().ReadColumn("count", 0, counts)));
      for (int32_t i = 0; i < 90'010; ++i) ASSERT_EQ(counts[static_cast<size_t>(i)], i);
    }
    EXPECT_GT(refused, 0) << period;
  }
}

TEST(LogWriter, TakesNoMoreThanItsBufferHoldsWhileTheDiskIsFull) {
  constexpr int64_t kLarge = 1 << 30;
  test::SimulatedDisk disk;
  disk.SetCapacity(kLarge);
  LogCreateOptions options = SensorOptions();
  options.file_system = disk.root();
  Log log = Log::Create("log", options).value();
  LogWriter writer = log.OpenWriter({.max_buffered_bytes = 1000}).value();
  disk.SetCapacity(kLarge - disk.Free());
  ASSERT_TRUE(IsOk(writer.Append(Readings(50))));
  EXPECT_TRUE(absl::IsResourceExhausted(writer.Append(Readings(1, 50)))) << "taken, and waits";
  EXPECT_EQ(writer.end_record(), 51);
  EXPECT_TRUE(absl::IsUnavailable(writer.Append(Readings(1, 51))));
  EXPECT_EQ(writer.end_record(), 51);
  disk.SetCapacity(kLarge);
  ASSERT_TRUE(IsOk(writer.Append(Readings(1, 51))));
  ASSERT_TRUE(IsOk(writer.Close()));
  EXPECT_EQ(log.Refresh()->end_record(), 52);
}

TEST(LogWriter, ManyOfThemTakeLittleMemory) {
  constexpr int kLogs = 60;
  const TempDir temp;
  CommitTimer timer;
  std::vector<Log> logs;
  std::vector<LogWriter> writers;
  const auto allocated = [] {
    const struct mallinfo2 info = ::mallinfo2();
    return static_cast<int64_t>(info.uordblks + info.hblkhd);
  };
  const int64_t before = allocated();
  if (before == 0) GTEST_SKIP() << "this allocator does not count";
  for (int i = 0; i < kLogs; ++i) {
    logs.push_back(Log::Create(temp.Path(std::to_string(i)), SensorOptions()).value());
    writers.push_back(
        logs.back()
            .OpenWriter({.commit_interval = std::chrono::minutes(10), .timer = &timer})
            .value());
    ASSERT_TRUE(IsOk(writers.back().Append(Readings(10))));
    ASSERT_TRUE(IsOk(writers.back().Commit()));
    ASSERT_TRUE(IsOk(writers.back().Append(Readings(1, 10))));
  }
  const int64_t each = (allocated() - before) / kLogs;
  EXPECT_GT(each, 1000);
  EXPECT_LT(each, 64 << 10);
}

TEST(LogWriter, ThatIsFullWaitsForItsDisk) {
  const TempDir temp;
  Log log = Log::Create(temp.Path("log"), SensorOptions()).value();
  LogWriter writer = log.OpenWriter({.max_buffered_bytes = 1000}).value();
  ASSERT_TRUE(IsOk(writer.Append(Readings(50))));
  EXPECT_EQ(log.Refresh()->end_record(), 0);
  ASSERT_TRUE(IsOk(writer.Append(Readings(1, 50))));
  EXPECT_EQ(log.Refresh()->end_record(), 51);
}

TEST(LogWriter, HoldsRecordsOfItsWindowBackAndSortsLateOnesIn) {
  const TempDir temp;
  Log log = Log::Create(temp.Path("log"), SensorOptions()).value();
  LogWriter writer = log.OpenWriter({.commit_records = 1, .reorder_window = 100}).value();
  const auto append = [&](int64_t time) {
    return writer.Append(std::vector<Reading>{{.time = time}});
  };
  for (const int64_t time : {1000, 1050, 1020, 1010}) ASSERT_TRUE(IsOk(append(time)));
  EXPECT_EQ(log.Refresh()->end_record(), 0) << "all are less than 100 older than the newest";
  ASSERT_TRUE(IsOk(append(1120)));
  EXPECT_EQ(log.Refresh()->end_record(), 3);
  ASSERT_TRUE(IsOk(writer.Commit()));
  std::vector<LittleEndian<int64_t>> times(5);
  ASSERT_TRUE(IsOk(log.Refresh()->ReadColumn("time", 0, times)));
  EXPECT_EQ(times, (std::vector<LittleEndian<int64_t>>{1000, 1010, 1020, 1050, 1120}));
}

TEST(LogWriter, BeginsAFileForEachPeriodOfTheFirstCommit) {
  const TempDir temp;
  LogCreateOptions options = SensorOptions();
  options.rotation = {.period = 1000};
  Log log = Log::Create(temp.Path("log"), options).value();
  WriteAll(log, Readings(250));
  const std::vector<Snapshot> files = log.Refresh()->frames();
  ASSERT_EQ(files.size(), 3);
  EXPECT_EQ(files[0].array()->shape[0], 100);
  EXPECT_EQ(files[2].array()->shape[0], 50);
}

// No later writer would do it. Each commit has written the records of the last chunk, and the
// journal alone has them until there is a checkpoint.
TEST(LogWriter, LeavesFilesThatEndSmallAndCompleteForOthers) {
  const TempDir temp;
  LogCreateOptions options = SensorOptions();
  options.chunksize = 1 << 20;
  options.rotation = {.period = 100'000};
  Log log = Log::Create(temp.Path("log"), options).value();
  LogWriter writer = log.OpenWriter({}).value();
  for (int64_t i = 0; i < 40; ++i) {
    ASSERT_TRUE(IsOk(writer.Append(NoisyReadings(1000, i * 1000))));
    ASSERT_TRUE(IsOk(writer.Commit()));
  }
  const std::vector<Snapshot> files = Log::Open(temp.Path("log"))->snapshot().frames();
  ASSERT_EQ(files.size(), 4);
  for (size_t i = 0; i + 1 < files.size(); ++i) {
    EXPECT_EQ(files[i].info().journal_size, 0);
    EXPECT_LT(files[i].info().frame_size, 150'000);  // 10,000 readings
    EXPECT_EQ(files[i].info().nchunks, 1);
  }
  ASSERT_TRUE(IsOk(writer.Close()));
}

TEST(LogWriter, IsTheOnlyOne) {
  const TempDir temp;
  Log log = Log::Create(temp.Path("log"), SensorOptions()).value();
  LogWriter writer = log.OpenWriter({}).value();
  EXPECT_TRUE(Fails(log.OpenWriter({}), StatusCode::kUnavailable, ""));
  ASSERT_TRUE(IsOk(writer.Close()));
  EXPECT_TRUE(Fails(writer.Append(Readings(1)), StatusCode::kFailedPrecondition, "closed"));
  EXPECT_TRUE(IsOk(log.OpenWriter({})));
}

}  // namespace
}  // namespace cairn
