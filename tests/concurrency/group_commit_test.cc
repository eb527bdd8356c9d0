// Threads commit through one writer and share its syncs.
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/concurrency/ledger.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

class GroupCommitTest : public testing::TestWithParam<Layout> {};

TEST_P(GroupCommitTest, ThreadsShareAWriterAndLoseNothing) {
  constexpr int kThreads = 8;
  constexpr int kCommits = 50;
  const TempDir dir;
  auto frame = Frame::Create(dir.Path("frame"), LedgerOptions(GetParam()));
  ASSERT_TRUE(IsOk(frame));
  auto writer = frame->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  std::mutex mutex;
  int64_t next = 0;  // guarded by it, as edits and commits are
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < kCommits; ++n) {
        absl::StatusOr<Snapshot> committed;
        {
          const std::lock_guard lock(mutex);
          const int64_t item = next++;
          ASSERT_TRUE(IsOk(writer->Append(std::as_bytes(std::span(&item, 1)))));
          // Some make theirs durable themselves, and some write a checkpoint.
          committed = writer->Commit(i == 0 ? Durability::kMachine : Durability::kProcess);
          ASSERT_TRUE(IsOk(committed));
          const bool checkpoints = i == 1 && n % 10 == 0;
          if (checkpoints) {
            ASSERT_TRUE(IsOk(writer->Checkpoint()));
          }
        }
        ASSERT_TRUE(IsOk(writer->Sync(*committed)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(IsOk(writer->Close()));
  const Snapshot snapshot = frame->snapshot();
  std::vector<int64_t> items(kThreads * kCommits);
  ASSERT_TRUE(IsOk(snapshot.ReadItems(0, std::span(items))));
  for (size_t i = 0; i < items.size(); ++i) EXPECT_EQ(items[i], static_cast<int64_t>(i));
}

INSTANTIATE_TEST_SUITE_P(Layouts, GroupCommitTest,
                         testing::Values(Layout::kContiguous, Layout::kSparse),
                         [](const auto& info) {
                           return info.param == Layout::kSparse ? "Sparse" : "Contiguous";
                         });

}  // namespace
}  // namespace cairn::test
