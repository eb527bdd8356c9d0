// Logs in a process that was forked from the one which opened them.
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "tests/log/sensor_log.h"
#include "tests/support/child_process.h"
#include "tests/support/orphan.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

constexpr unsigned kMostSeconds = 60;  // then a child that hangs is ended

class LogForkTest : public testing::Test {
 protected:
  static std::vector<Reading> Readings(int64_t count, int64_t from) {
    std::vector<Reading> readings;
    for (int64_t i = from; i < from + count; ++i) {
      readings.push_back({.time = i * 10, .temp = 1.5, .count = static_cast<int32_t>(i)});
    }
    return readings;
  }
  static int64_t CountRecords(const LogSnapshot& log) {
    const auto found = RunQuery(log, {});
    return found.ok() ? std::ssize(*found) : -1;
  }

  const TempDir temp_;
  Log log_ = Log::Create(temp_.Path("log"), SensorOptions()).value();
};

TEST_F(LogForkTest, ChildReadsTheLogOfItsParentAndFollowsIt) {
  LogWriter writer = log_.OpenWriter({}).value();
  ASSERT_TRUE(IsOk(writer.Append(Readings(250, 0))));
  ASSERT_TRUE(IsOk(writer.Commit()));
  ASSERT_TRUE(IsOk(log_.Refresh()));
  EXPECT_EQ(ResultOfChild([&] {
              ::alarm(kMostSeconds);
              const LogSnapshot before = log_.snapshot();
              // Its parent waits: what the child does here is what another process would do.
              if (CountRecords(before) != 250) return 1;
              if (!log_.Refresh().ok()) return 2;
              return CountRecords(log_.snapshot()) == 250 ? 0 : 3;
            }),
            0);
  ASSERT_TRUE(IsOk(writer.Append(Readings(50, 250))));
  ASSERT_TRUE(IsOk(writer.Close()));
  EXPECT_EQ(ResultOfChild([&] {
              ::alarm(kMostSeconds);
              if (CountRecords(log_.snapshot()) != 250) return 1;
              if (!log_.Refresh().ok()) return 2;
              return CountRecords(log_.snapshot()) == 300 ? 0 : 3;
            }),
            0);
}

// The thread that commits does not exist in the child.
TEST_F(LogForkTest, WriterIsAnErrorInAChildWhichMayDestroyIt) {
  std::optional<CommitTimer> timer(std::in_place);
  for (CommitTimer* const shared : {static_cast<CommitTimer*>(nullptr), &*timer}) {
    std::optional<LogWriter> writer =
        log_.OpenWriter({.commit_interval = std::chrono::hours(1), .timer = shared}).value();
    ASSERT_TRUE(IsOk(writer->Append(Readings(10, 0))));
    ::usleep(50000);  // so that the thread sleeps, which is how a child finds its traces
    EXPECT_EQ(ResultOfChild([&] {
                ::alarm(kMostSeconds);
                const std::vector<Reading> more = Readings(10, 10);
                if (!absl::IsFailedPrecondition(writer->Append(more))) return 1;
                if (!absl::IsFailedPrecondition(writer->Commit())) return 2;
                if (!absl::IsFailedPrecondition(writer->Close())) return 3;
                if (writer->end_record() != 10) return 4;
                writer.reset();
                timer.reset();
                return 0;
              }),
              0);
    ASSERT_TRUE(IsOk(writer->Append(Readings(10, 10))));
    ASSERT_TRUE(IsOk(writer->Close()));
    ASSERT_TRUE(IsOk(log_.Refresh()));
    log_ = Log::Create(temp_.Path(shared == nullptr ? "second" : "third"), SensorOptions()).value();
  }
}

TEST_F(LogForkTest, LockOfAWriterEndsWithItsProcess) {
  std::optional<LogWriter> writer;
  const Orphan child([&] {
    log_ = Log::Open(temp_.Path("log")).value();
    auto opened = log_.OpenWriter({.commit_interval = std::chrono::hours(1)});
    if (!opened.ok()) return 1;
    writer = *std::move(opened);
    return writer->Append(Readings(10, 0)).ok() ? 0 : 2;
  });
  ASSERT_EQ(child.result(), 0);
  LogWriter next = log_.OpenWriter({}).value();
  ASSERT_TRUE(IsOk(next.Append(Readings(20, 0))));
  ASSERT_TRUE(IsOk(next.Close()));
  ASSERT_TRUE(IsOk(log_.Refresh()));
  EXPECT_EQ(CountRecords(log_.snapshot()), 20);
}

}  // namespace
}  // namespace cairn::test
