// Several threads want to write.
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/status.h"
#include "tests/concurrency/ledger.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kContest(1500);
constexpr int kWriters = 3;
// Appends are of a third of a chunk, so that writers continue with each other's partial chunks.
constexpr size_t kItems = kChunkItems / 3;

class WritersTest : public testing::TestWithParam<Layout> {
 protected:
  // Appends numbers that continue where the frame ends; in how it leaves the frame, writers differ.
  static absl::Status AppendOnce(Frame& frame, int how) {
    CAIRN_ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter({.wait = std::chrono::seconds(60)}));
    CAIRN_ASSIGN_OR_RETURN(const Snapshot before, writer.StagedSnapshot());
    std::vector<int64_t> items(kItems);
    for (size_t i = 0; i < kItems; ++i) items[i] = before.info().nitems + static_cast<int64_t>(i);
    CAIRN_RETURN_IF_ERROR(writer.Append(std::as_bytes(std::span(items))));
    if (how % 3 == 0) return writer.Close();
    CAIRN_RETURN_IF_ERROR(writer.Commit(Durability::kProcess).status());
    if (how % 3 == 1) return absl::OkStatus();
    CAIRN_RETURN_IF_ERROR(writer.Append(std::as_bytes(std::span(items))));
    writer.Rollback();
    return writer.Checkpoint();
  }

  static void ExpectNumbers(const Snapshot& snapshot, int64_t nitems) {
    ASSERT_EQ(snapshot.info().nitems, nitems);
    std::vector<int64_t> items(static_cast<size_t>(nitems));
    const absl::Status status = snapshot.ReadItems(0, std::span(items));
    ASSERT_TRUE(IsOk(status));
    for (int64_t i = 0; i < nitems; ++i) ASSERT_EQ(items[static_cast<size_t>(i)], i);
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("frame");
  UnsyncedFileSystem files_;
};

TEST_P(WritersTest, TakeTurnsAndLoseNothing) {
  CreateOptions create = LedgerOptions(GetParam());
  create.file_system = Unowned(&files_);
  auto shared = Frame::Create(path_, create);
  ASSERT_TRUE(IsOk(shared));
  std::atomic<int64_t> appended = 0;
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < kWriters; ++i) {
    threads.emplace_back([&, i] {
      auto own = Frame::Open(path_, {.file_system = Unowned(&files_)});
      ASSERT_TRUE(IsOk(own));
      Frame& frame = i == 0 ? *own : *shared;
      for (int n = 0; !done && n < 300; ++n) {
        const absl::Status status = AppendOnce(frame, n + i);
        if (!status.ok()) done = true;
        ASSERT_TRUE(IsOk(status));
        appended += static_cast<int64_t>(kItems);
      }
    });
  }
  std::thread compactor([&] {
    while (!done) {
      const absl::Status status = shared->Compact().status();
      EXPECT_TRUE(status.ok() || absl::IsUnavailable(status)) << status;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  std::this_thread::sleep_for(kContest);
  done = true;
  compactor.join();
  for (std::thread& thread : threads) thread.join();
  const auto frame = Frame::Open(path_, {.file_system = Unowned(&files_)});
  ASSERT_TRUE(IsOk(frame));
  ExpectNumbers(frame->snapshot(), appended);
}

INSTANTIATE_TEST_SUITE_P(Layouts, WritersTest,
                         testing::Values(Layout::kContiguous, Layout::kSparse),
                         [](const auto& info) {
                           return info.param == Layout::kSparse ? "Sparse" : "Contiguous";
                         });

}  // namespace
}  // namespace cairn::test
