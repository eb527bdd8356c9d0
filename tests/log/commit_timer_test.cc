// Writers that commit by themselves.
#include <chrono>
#include <vector>

#include "absl/status/status.h"
#include <gtest/gtest.h>

#include "cairn/log.h"
#include "tests/log/sensor_log.h"
#include "tests/support/no_threads.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

TEST(CommitTimerTest, WriterThatIsToCommitByItselfIsRefusedWhereThereIsNoThread) {
  const TempDir temp;
  Log log = Log::Create(temp.Path("log"), SensorOptions()).value();
  const NoThreads none;
  CommitTimer timer;
  for (CommitTimer* const shared : {static_cast<CommitTimer*>(nullptr), &timer}) {
    const LogWriterOptions options = {.commit_interval = std::chrono::milliseconds(20),
                                      .timer = shared};
    EXPECT_TRUE(absl::IsResourceExhausted(log.OpenWriter(options).status()));
  }
  LogWriter writer = log.OpenWriter({}).value();
  ASSERT_TRUE(IsOk(writer.Append(std::vector<Reading>(1))));
  ASSERT_TRUE(IsOk(writer.Close()));
}

}  // namespace
}  // namespace cairn::test
