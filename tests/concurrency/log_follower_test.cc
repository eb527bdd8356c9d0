// A process writes a log that drops its oldest records and begins new files. Another process
// follows it.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "tests/log/sensor_log.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

constexpr int64_t kRecords = 30'000;
constexpr int64_t kRecordsOfWriter = 5000;

// Several writers one after the other, each of which is closed. A byte comes from `turns` when a
// record of it was read: then the next one begins.
absl::Status Write(const std::string& path, int turns) {
  absl::StatusOr<Log> log = Log::Open(path);
  if (!log.ok()) return log.status();
  int64_t next = 0;
  while (next < kRecords) {
    absl::StatusOr<LogWriter> writer = log->OpenWriter({.commit_records = 7});
    if (!writer.ok()) return writer.status();
    for (const int64_t end = std::min(kRecords, next + kRecordsOfWriter); next < end; ++next) {
      const Reading reading = {.time = next * 10, .count = static_cast<int32_t>(next)};
      if (absl::Status status = writer->Append(std::span(&reading, 1)); !status.ok()) {
        return status;
      }
    }
    if (absl::Status status = writer->Close(); !status.ok()) return status;
    char turn = 0;
    if (::read(turns, &turn, 1) != 1) return absl::CancelledError("the reader is gone");
  }
  return absl::OkStatus();
}

class LogFollowerTest : public testing::TestWithParam<int64_t> {};

TEST_P(LogFollowerTest, SeesAllRecordsThatAreNotDroppedInOrder) {
  const TempDir temp;
  LogCreateOptions options = SensorOptions();
  options.retention.max_records = 5000;
  options.rotation.period = GetParam();
  Log log = Log::Create(temp.Path("log"), options).value();
  std::array<int, 2> turns{};
  ASSERT_EQ(::pipe(turns.data()), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::close(turns[1]);
    std::_Exit(Write(temp.Path("log"), turns[0]).ok() ? 0 : 1);
  }

  int64_t next = 0;
  int64_t given = 0;
  LogSnapshot seen = log.snapshot();
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(4);
  while (next < kRecords && std::chrono::steady_clock::now() < give_up) {
    const absl::StatusOr<LogSnapshot> now = log.WaitForCommit(seen, std::chrono::milliseconds(100));
    ASSERT_TRUE(IsOk(now));
    seen = *now;
    ASSERT_GE(now->end_record(), next) << "a commit is gone";
    next = std::max(next, now->first_record());
    std::vector<LittleEndian<int32_t>> counts(static_cast<size_t>(now->end_record() - next));
    ASSERT_TRUE(IsOk(now->ReadColumn("count", next, counts)));
    for (const int32_t count : counts) ASSERT_EQ(count, next++);
    for (; given * kRecordsOfWriter < next; ++given) ASSERT_EQ(::write(turns[1], "", 1), 1);
  }
  for (const int end : turns) ::close(end);
  EXPECT_EQ(next, kRecords);
  int result = 0;
  ASSERT_EQ(::waitpid(child, &result, 0), child);
  EXPECT_EQ(result, 0);
}

INSTANTIATE_TEST_SUITE_P(Files, LogFollowerTest, testing::Values(0, 20'000),
                         [](const auto& it) { return it.param == 0 ? "One" : "Many"; });

}  // namespace
}  // namespace cairn::test
