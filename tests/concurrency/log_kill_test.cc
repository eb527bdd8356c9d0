// Processes that write a log and are killed: no more is lost than their commit policy says.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "tests/log/sensor_log.h"
#include "tests/support/dice.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

constexpr int64_t kCommitRecords = 7;

// Appends records whose count is their number until it is killed, and says how many were taken.
[[noreturn]] void WriteUntilKilled(const std::string& path, std::atomic<int64_t>& taken) {
  absl::StatusOr<Log> log = Log::Open(path);
  if (!log.ok()) std::_Exit(1);
  absl::StatusOr<LogWriter> writer =
      log->OpenWriter({.commit_records = kCommitRecords, .wait = std::chrono::seconds(60)});
  if (!writer.ok()) std::_Exit(2);
  for (int64_t next = writer->end_record();; ++next) {
    const Reading reading = {.time = next * 10, .count = static_cast<int32_t>(next)};
    if (!writer->Append(std::span(&reading, 1)).ok()) std::_Exit(3);
    taken = next + 1;
  }
}

class LogKillTest : public testing::TestWithParam<int64_t> {};

TEST_P(LogKillTest, LosesNoMoreThanThePolicySays) {
  const TempDir temp;
  LogCreateOptions options = SensorOptions();
  options.rotation.period = GetParam();
  options.retention.max_records = 20'000;
  Log log = Log::Create(temp.Path("log"), options).value();
  void* const shared = ::mmap(nullptr, sizeof(std::atomic<int64_t>), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto& taken = *new (shared) std::atomic<int64_t>(0);
  Dice dice(5);
  for (int life = 0; life < 25 && !HasFatalFailure(); ++life) {
    const int64_t before = taken;
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) WriteUntilKilled(temp.Path("log"), taken);
    // Lives are counted in records: a busy machine makes them longer, and not emptier.
    const int64_t last = before + static_cast<int64_t>(dice.Below(4000));
    int result = 0;
    pid_t ended = 0;
    while (taken <= last && ended == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      ended = ::waitpid(child, &result, WNOHANG);
    }
    if (ended == 0) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &result, 0);
    }
    EXPECT_TRUE(WIFSIGNALED(result)) << "it ended by itself";

    const absl::StatusOr<LogSnapshot> found = log.Refresh();
    ASSERT_TRUE(IsOk(found));
    EXPECT_GT(found->end_record(), taken - kCommitRecords);
    EXPECT_GE(found->nrecords(), std::min<int64_t>(found->end_record(), 20'000));
    std::vector<LittleEndian<int32_t>> counts(static_cast<size_t>(found->nrecords()));
    ASSERT_TRUE(IsOk(found->ReadColumn("count", found->first_record(), counts)));
    for (size_t i = 0; i < counts.size(); ++i) {
      ASSERT_EQ(counts[i], found->first_record() + static_cast<int64_t>(i));
    }
    taken = found->end_record();
  }
  EXPECT_GT(log.snapshot().first_record(), 0) << "none was dropped";
  ::munmap(shared, sizeof(std::atomic<int64_t>));
}

INSTANTIATE_TEST_SUITE_P(Files, LogKillTest, testing::Values(0, 20'000),
                         [](const auto& it) { return it.param == 0 ? "One" : "Many"; });

}  // namespace
}  // namespace cairn::test
