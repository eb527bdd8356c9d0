// One process commits, another waits for each commit.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

using Clock = std::chrono::steady_clock;  // of all processes
constexpr int64_t kTimes = 300;

// Each item is the time of its commit.
absl::Status CommitTimes(const std::string& path) {
  absl::StatusOr<Frame> frame = Frame::Open(path);
  if (!frame.ok()) return frame.status();
  absl::StatusOr<Writer> writer = frame->OpenWriter();
  if (!writer.ok()) return writer.status();
  for (int64_t i = 0; i < kTimes; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const int64_t now = Clock::now().time_since_epoch().count();
    if (absl::Status status = writer->Append(std::span(&now, 1)); !status.ok()) return status;
    if (absl::Status status = writer->Commit(Durability::kProcess).status(); !status.ok()) {
      return status;
    }
  }
  return writer->Close();
}

class CommitFollowerTest : public testing::TestWithParam<Layout> {};

TEST_P(CommitFollowerTest, AnotherProcessSeesCommitsWhileTheyAreMade) {
  const TempDir temp;
  CreateOptions options = Cut(sizeof(int64_t), 64);
  options.layout = GetParam();
  Frame frame = Frame::Create(temp.Path("f"), options).value();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) std::_Exit(CommitTimes(temp.Path("f")).ok() ? 0 : 1);

  std::vector<Clock::duration> latencies;
  Snapshot seen = frame.snapshot();
  while (seen.info().nitems < kTimes) {
    const absl::StatusOr<Snapshot> now =
        frame.WaitForCommit(seen, std::chrono::milliseconds(60'000));
    ASSERT_TRUE(IsOk(now));
    ASSERT_FALSE(*now == seen) << "a commit was missed";
    const bool more = now->info().nitems > seen.info().nitems;
    seen = *now;
    if (!more) continue;
    int64_t made = 0;
    ASSERT_TRUE(IsOk(seen.ReadItems(seen.info().nitems - 1, std::span(&made, 1))));
    latencies.push_back(Clock::now().time_since_epoch() - Clock::duration(made));
  }
  int result = 0;
  ASSERT_EQ(::waitpid(child, &result, 0), child);
  EXPECT_EQ(result, 0);
  EXPECT_GT(std::ssize(latencies), kTimes / 2) << "few were seen by themselves";
  std::ranges::sort(latencies);
  EXPECT_LT(latencies[latencies.size() / 2], std::chrono::milliseconds(20)) << "it polls";
}

INSTANTIATE_TEST_SUITE_P(, CommitFollowerTest,
                         testing::Values(Layout::kContiguous, Layout::kSparse), [](const auto& it) {
                           return it.param == Layout::kSparse ? "Sparse" : "Contiguous";
                         });

}  // namespace
}  // namespace cairn::test
