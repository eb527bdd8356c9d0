// Logs whose files come and go, while others open them and wait to write them.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "tests/log/sensor_log.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

constexpr int64_t kInFile = 20;
constexpr int64_t kFiles = 150;

Log MakeLog(const std::string& path, const Retention& retention = {}) {
  LogCreateOptions options = SensorOptions();
  options.rotation.period = kInFile;
  options.retention = retention;
  return Log::Create(path, options).value();
}

// So many files, with a commit for each half.
absl::Status WriteFiles(LogWriter& writer, int64_t files, int32_t count) {
  const int64_t begin = writer.end_record();
  for (int64_t at = begin; at < begin + files * kInFile; at += kInFile / 2) {
    std::vector<Reading> batch;
    for (int64_t i = at; i < at + kInFile / 2; ++i) batch.push_back({.time = i, .count = count});
    if (absl::Status status = writer.Append(batch); !status.ok()) return status;
    if (absl::Status status = writer.Commit(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

TEST(LogRotation, LetsNoWriterThatWaitsComeBetween) {
  const TempDir temp;
  Log log = MakeLog(temp.Path("log"));
  LogWriter writer = log.OpenWriter({}).value();
  ASSERT_TRUE(IsOk(WriteFiles(writer, 1, 1)));
  absl::Status second;
  std::thread waits([&] {
    Log other = Log::Open(temp.Path("log")).value();
    absl::StatusOr<LogWriter> opened = other.OpenWriter({.wait = std::chrono::minutes(10)});
    second = opened.status();
    if (second.ok()) second = WriteFiles(*opened, 1, 2);
    if (second.ok()) second = opened->Close();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_TRUE(IsOk(WriteFiles(writer, kFiles, 1)));
  EXPECT_TRUE(IsOk(writer.Close()));
  waits.join();
  ASSERT_TRUE(IsOk(second));
  const LogSnapshot all = log.Refresh().value();
  std::vector<LittleEndian<int32_t>> counts(static_cast<size_t>(all.nrecords()));
  ASSERT_EQ(counts.size(), (kFiles + 2) * kInFile);
  ASSERT_TRUE(IsOk(all.ReadColumn("count", 0, counts)));
  EXPECT_EQ(std::ranges::count(std::span(counts).first(counts.size() - kInFile), LittleEndian(1)),
            (kFiles + 1) * kInFile);
  EXPECT_EQ(std::ranges::count(std::span(counts).last(kInFile), LittleEndian(2)), kInFile);
}

TEST(LogRotation, LeavesALogThatCanBeOpenedAtAnyMoment) {
  const TempDir temp;
  Log log = MakeLog(temp.Path("log"), {.max_records = 3 * kInFile});
  std::atomic<bool> ends = false;
  absl::Status written;
  std::thread writes([&] {
    absl::StatusOr<LogWriter> writer = log.OpenWriter({});
    written = writer.status();
    while (written.ok() && !ends) written = WriteFiles(*writer, 1, 0);
    ends = true;
  });
  bool dropped = false;
  for (int i = 0; (i < 3000 || !dropped) && !ends; ++i) {
    const absl::StatusOr<Log> opened = Log::Open(temp.Path("log"));
    EXPECT_TRUE(IsOk(opened));
    if (!opened.ok()) break;
    const LogSnapshot found = opened->snapshot();
    dropped = found.first_record() > 0;
    std::vector<LittleEndian<int64_t>> times(static_cast<size_t>(found.nrecords()));
    ASSERT_TRUE(IsOk(found.ReadColumn("time", found.first_record(), times)));
    for (size_t j = 0; j < times.size(); ++j) {
      ASSERT_EQ(times[j], found.first_record() + static_cast<int64_t>(j));
    }
  }
  ends = true;
  writes.join();
  EXPECT_TRUE(IsOk(written));
  EXPECT_TRUE(dropped);
}

}  // namespace
}  // namespace cairn::test
