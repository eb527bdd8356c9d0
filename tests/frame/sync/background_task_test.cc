#include "engine/frame/sync/background_task.h"

#include <latch>
#include <memory>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "engine/base/status.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

using frame::BackgroundTask;

TEST(BackgroundTaskTest, RunsBesideItsOwnerAndSaysOnceHowItEnded) {
  std::latch may_end(1);
  BackgroundTask task;
  task.Start([&] {
    may_end.wait();
    return DataLoss("an end");
  });
  EXPECT_TRUE(task.is_running());
  EXPECT_FALSE(task.Poll().has_value());
  may_end.count_down();
  std::optional<absl::Status> ended;
  while (!ended.has_value()) ended = task.Poll();
  EXPECT_EQ(ended->code(), absl::StatusCode::kDataLoss);
  EXPECT_FALSE(task.is_running());
  EXPECT_FALSE(task.Poll().has_value());
}

TEST(BackgroundTaskTest, WithoutAThreadRunsAtOnce) {
  BackgroundTask task;
  std::thread::id ran_in;
  task.Start(
      [&] {
        ran_in = std::this_thread::get_id();
        return absl::OkStatus();
      },
      false);
  EXPECT_EQ(ran_in, std::this_thread::get_id());
  EXPECT_TRUE(IsOk(task.Poll().value_or(absl::UnknownError("still running"))));
}

TEST(BackgroundTaskTest, DropsWhatTheTaskHeldInItsThread) {
  std::thread::id dropped_in;
  const auto drop = [&](int* number) {
    dropped_in = std::this_thread::get_id();
    delete number;
  };
  BackgroundTask task;
  task.Start([held = std::shared_ptr<int>(new int(1), drop)] { return absl::OkStatus(); });
  EXPECT_TRUE(IsOk(task.Wait()));
  EXPECT_NE(dropped_in, std::thread::id());
  EXPECT_NE(dropped_in, std::this_thread::get_id());
}

}  // namespace
}  // namespace cairn::test
