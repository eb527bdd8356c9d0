#include "engine/chunk/parallel.h"

#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include <gtest/gtest.h>

#include "tests/support/reverse_executor.h"
#include "tests/support/status.h"

namespace cairn::chunk {
namespace {

constexpr int64_t kEnough = 128 * 1024;

// Counts the visits of each block, and fails at some of them.
class Recorder {
 public:
  explicit Recorder(size_t nblocks, std::set<int64_t> bad = {})
      : visits_(nblocks), bad_(std::move(bad)) {}

  absl::Status Prepare() const {
    ++prepared_;
    return prepare_status_;
  }

  absl::Status Run(int64_t block, Workspace& workspace) {
    // Two threads in one workspace would be seen by ThreadSanitizer, and mostly here.
    const MutableBytes mark = workspace.block.Get(1);
    mark[0] = static_cast<std::byte>(block);
    ++visits_[static_cast<size_t>(block)];
    std::this_thread::yield();
    if (mark[0] != static_cast<std::byte>(block)) return absl::InternalError("shared workspace");
    if (bad_.contains(block)) return absl::DataLossError(absl::StrFormat("block %d", block));
    return absl::OkStatus();
  }

  std::vector<int> visits() const { return {visits_.begin(), visits_.end()}; }
  int prepared() const { return prepared_; }
  void FailPrepare(absl::Status status) { prepare_status_ = std::move(status); }

 private:
  std::vector<std::atomic<int>> visits_;
  std::set<int64_t> bad_;
  absl::Status prepare_status_;
  mutable std::atomic<int> prepared_ = 0;
};

absl::Status Visit(BlockRange range, Executor* executor, WorkspacePool& pool, Recorder& task) {
  const WorkspacePool::Lease own = pool.Acquire();
  return ForEachBlock(
      range, executor, pool, *own, [&](Workspace&) { return task.Prepare(); },
      [&](int64_t block, Workspace& workspace) { return task.Run(block, workspace); });
}

// Null, this thread, a pool, and an unusual order.
std::vector<std::shared_ptr<Executor>> Executors() {
  std::vector<std::shared_ptr<Executor>> executors;
  executors.push_back(nullptr);
  executors.push_back(std::make_unique<InlineExecutor>());
  executors.push_back(MakeThreadExecutor(2));
  executors.push_back(std::make_unique<ReverseExecutor>(1));
  executors.push_back(std::make_unique<ReverseExecutor>(4));
  return executors;
}

TEST(WorthThreadsTest, NeedsThreadsBlocksAndBytes) {
  ReverseExecutor two(2);
  ReverseExecutor one(1);
  EXPECT_TRUE(WorthThreads(&two, kEnough, 2));
  EXPECT_FALSE(WorthThreads(&two, kEnough - 1, 2));
  EXPECT_FALSE(WorthThreads(&two, kEnough, 1));
  EXPECT_FALSE(WorthThreads(&one, kEnough, 2));
  EXPECT_FALSE(WorthThreads(nullptr, kEnough, 2));
}

TEST(ForEachBlockTest, VisitsEachBlockOfTheRangeOnce) {
  for (const auto& executor : Executors()) {
    WorkspacePool pool;
    Recorder task(10);
    ASSERT_TRUE(IsOk(Visit({.first = 3, .last = 9}, executor.get(), pool, task)));
    EXPECT_EQ(task.visits(), (std::vector<int>{0, 0, 0, 1, 1, 1, 1, 1, 1, 0}));
  }
}

TEST(ForEachBlockTest, PreparesAWorkspaceForEachWorkerNotForEachBlock) {
  WorkspacePool pool;
  Recorder task(100);
  ReverseExecutor executor(3);
  ASSERT_TRUE(IsOk(Visit({.first = 0, .last = 100}, &executor, pool, task)));
  EXPECT_LE(task.prepared(), 3);
  Recorder alone(100);
  ASSERT_TRUE(IsOk(Visit({.first = 0, .last = 100}, nullptr, pool, alone)));
  EXPECT_EQ(alone.prepared(), 1);
}

TEST(ForEachBlockTest, GivesTheErrorOfTheLowestBlock) {
  for (const auto& executor : Executors()) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      WorkspacePool pool;
      Recorder task(64, {5, 6, 7, 40, 63});
      const absl::Status status = Visit({.first = 0, .last = 64}, executor.get(), pool, task);
      EXPECT_TRUE(IsDamage(status, "block 5"));
    }
  }
}

TEST(ForEachBlockTest, StopsEarlyAtAnError) {
  for (const auto& executor : Executors()) {
    if (executor != nullptr && executor->concurrency() > 1) continue;  // others may race ahead
    WorkspacePool pool;
    Recorder task(1000, {0});
    ASSERT_TRUE(IsDamage(Visit({.first = 0, .last = 1000}, executor.get(), pool, task), "block 0"));
    EXPECT_EQ(task.visits()[1], 0);
  }
}

TEST(ForEachBlockTest, GivesTheErrorOfPrepare) {
  for (const auto& executor : Executors()) {
    WorkspacePool pool;
    Recorder task(10);
    task.FailPrepare(absl::UnimplementedError("codec id 200"));
    EXPECT_TRUE(Fails(Visit({.first = 0, .last = 10}, executor.get(), pool, task),
                      absl::StatusCode::kUnimplemented, "codec id 200"));
    EXPECT_EQ(task.visits(), std::vector<int>(10));
  }
}

TEST(ForEachBlockTest, DoesNothingForAnEmptyRange) {
  for (const auto& executor : Executors()) {
    WorkspacePool pool;
    Recorder task(10);
    EXPECT_TRUE(IsOk(Visit({.first = 4, .last = 4}, executor.get(), pool, task)));
    EXPECT_EQ(task.visits(), std::vector<int>(10));
  }
}

}  // namespace
}  // namespace cairn::chunk
