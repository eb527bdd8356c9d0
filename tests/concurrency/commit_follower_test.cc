// A process commits, and another one waits for each commit.
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

#include "cairn/frame.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

using Clock = std::chrono::steady_clock;  // of all processes
constexpr int64_t kTimes = 100;

// Each item is the time of its commit, which is made when a byte comes from `turns`.
absl::Status CommitTimes(const std::string& path, int turns) {
  absl::StatusOr<Frame> frame = Frame::Open(path);
  if (!frame.ok()) return frame.status();
  absl::StatusOr<Writer> writer = frame->OpenWriter();
  if (!writer.ok()) return writer.status();
  for (int64_t i = 0; i < kTimes; ++i) {
    char turn = 0;
    if (::read(turns, &turn, 1) != 1) return absl::CancelledError("the reader is gone");
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
  std::array<int, 2> turns{};
  ASSERT_EQ(::pipe(turns.data()), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::close(turns[1]);
    std::_Exit(CommitTimes(temp.Path("f"), turns[0]).ok() ? 0 : 1);
  }

  std::vector<Clock::duration> latencies;
  Snapshot seen = frame.snapshot();
  for (int64_t nitems = 1; nitems <= kTimes; ++nitems) {
    ASSERT_EQ(::write(turns[1], "", 1), 1);
    // A writer that opens or makes a checkpoint may be seen doing so.
    while (seen.info().nitems < nitems) {
      const absl::StatusOr<Snapshot> now =
          frame.WaitForCommit(seen, std::chrono::milliseconds(60'000));
      ASSERT_TRUE(IsOk(now));
      ASSERT_FALSE(*now == seen) << "a commit was missed";
      seen = *now;
    }
    ASSERT_EQ(seen.info().nitems, nitems);
    int64_t made = 0;
    ASSERT_TRUE(IsOk(seen.ReadItems(nitems - 1, std::span(&made, 1))));
    latencies.push_back(Clock::now().time_since_epoch() - Clock::duration(made));
  }
  for (const int end : turns) ::close(end);
  int result = 0;
  ASSERT_EQ(::waitpid(child, &result, 0), child);
  EXPECT_EQ(result, 0);
  // Even on a busy machine most come sooner than by a look once a second.
  std::ranges::sort(latencies);
  EXPECT_LT(latencies[latencies.size() / 2], std::chrono::milliseconds(500)) << "it polls";
}

INSTANTIATE_TEST_SUITE_P(, CommitFollowerTest,
                         testing::Values(Layout::kContiguous, Layout::kSparse), [](const auto& it) {
                           return it.param == Layout::kSparse ? "Sparse" : "Contiguous";
                         });

}  // namespace
}  // namespace cairn::test
