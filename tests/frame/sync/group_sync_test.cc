// Threads that wait for their commits share syncs.
#include "engine/frame/sync/group_sync.h"

#include <cstdint>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/support/bytes.h"
#include "tests/support/child_process.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {
namespace {

using frame::CommitPoint;
using frame::GroupSync;

// A sync waits until it is let go.
class SlowFile final : public UnsyncedFile {
 public:
  using UnsyncedFile::UnsyncedFile;
  absl::Status Sync(SyncMode) override {
    if (syncs++ == 0) {
      begun.count_down();
      let_go.wait();
    }
    return result;
  }

  std::latch begun{1};
  std::latch let_go{1};
  int syncs = 0;
  absl::Status result;
};

class GroupSyncTest : public testing::Test {
 protected:
  void SetUp() override {
    file_ =
        std::make_shared<SlowFile>(*PosixFileSystem()->Open(dir_.Path("f"), FileMode::kCreateNew));
    sync_.Begin(file_, {.generation = 1}, {.generation = 1});
    sync_.SetCommitted({.generation = 2, .end = 20});
  }
  // Threads that wait for generations 2 to 6; a sync has begun when only 2 was there.
  std::vector<absl::Status> AwaitAll() {
    std::vector<absl::Status> results(5);
    std::vector<std::thread> threads;
    threads.emplace_back([&] { results[0] = sync_.Await(2); });
    file_->begun.wait();
    sync_.SetCommitted({.generation = 6, .end = 60});
    for (size_t i = 1; i < results.size(); ++i) {
      threads.emplace_back([&, i] { results[i] = sync_.Await(i + 2); });
    }
    file_->let_go.count_down();
    for (std::thread& thread : threads) thread.join();
    return results;
  }

  const TempDir dir_;
  std::shared_ptr<SlowFile> file_;
  GroupSync sync_;
};

TEST_F(GroupSyncTest, CommitsMadeDuringASyncShareTheNext) {
  for (const absl::Status& status : AwaitAll()) EXPECT_TRUE(IsOk(status));
  EXPECT_EQ(file_->syncs, 2);
  EXPECT_EQ(sync_.durable().generation, 6u);
  EXPECT_EQ(sync_.durable().end, 60);
}

TEST_F(GroupSyncTest, FailedSyncFailsAllThatWait) {
  file_->result = absl::InternalError("the disk");
  for (const absl::Status& status : AwaitAll()) EXPECT_EQ(status, file_->result);
  EXPECT_EQ(file_->syncs, 1);
  EXPECT_EQ(sync_.failure(), file_->result);
  EXPECT_EQ(sync_.durable().generation, 1u);
}

TEST_F(GroupSyncTest, AnotherFileMakesDurableWhatTheFirstOneHad) {
  std::thread waiter([&] { EXPECT_TRUE(IsOk(sync_.Await(2))); });
  file_->begun.wait();
  sync_.Begin(nullptr, {.generation = 3, .end = 5}, {.generation = 3, .end = 5});
  file_->let_go.count_down();
  waiter.join();
  EXPECT_EQ(sync_.durable().end, 5);
}

// A writer's end in the child is that of its syncs.
TEST_F(GroupSyncTest, EndsInAForkedChildWhileThreadsOfItsParentWait) {
  auto sync = std::make_unique<GroupSync>();
  sync->Begin(file_, {.generation = 2}, {.generation = 1});
  std::thread syncs([&] { EXPECT_TRUE(IsOk(sync->Await(2))); });
  file_->begun.wait();
  sync->TakeWasAwaited();
  std::thread waits([&] { EXPECT_TRUE(IsOk(sync->Await(2))); });
  while (!sync->TakeWasAwaited()) std::this_thread::yield();
  const int result = ResultOfChild([&] {
    ::alarm(240);  // rather than never
    sync.reset();
    return 0;
  });
  EXPECT_EQ(result, 0);
  file_->let_go.count_down();
  syncs.join();
  waits.join();
}

class WriterSyncTest : public testing::Test {
 protected:
  void SetUp() override {
    CreateOptions options = PlainCopies(64);
    options.file_system = Unowned(&files_);
    auto frame = Frame::Create(dir_.Path("f"), options);
    ASSERT_TRUE(IsOk(frame));
    auto writer = frame->OpenWriter();
    ASSERT_TRUE(IsOk(writer));
    writer_ = *std::move(writer);
  }
  absl::StatusOr<Snapshot> Add(Durability durability) {
    const absl::Status status = writer_->Append(MakeNoise(100, 1));
    return status.ok() ? writer_->Commit(durability) : status;
  }

  const TempDir dir_;
  FaultFileSystem files_;
  std::optional<Writer> writer_;
};

TEST_F(WriterSyncTest, OneSyncForAllCommitsBefore) {
  const Snapshot first = *Add(Durability::kProcess);
  const Snapshot second = *Add(Durability::kProcess);
  const int64_t before = files_.operations();
  EXPECT_TRUE(IsOk(writer_->Sync(second)));
  EXPECT_TRUE(IsOk(writer_->Sync(first)));
  EXPECT_EQ(files_.operations(), before + 1);
}

TEST_F(WriterSyncTest, DurableCommitNeedsNone) {
  const Snapshot committed = *Add(Durability::kMachine);
  const int64_t before = files_.operations();
  EXPECT_TRUE(IsOk(writer_->Sync(committed)));
  EXPECT_EQ(files_.operations(), before);
}

TEST_F(WriterSyncTest, CheckpointMakesDurableToo) {
  const Snapshot committed = *Add(Durability::kProcess);
  ASSERT_TRUE(IsOk(writer_->Close()));
  const int64_t before = files_.operations();
  EXPECT_TRUE(IsOk(writer_->Sync(committed)));
  EXPECT_EQ(files_.operations(), before);
}

TEST_F(WriterSyncTest, FailedSyncStopsTheWriter) {
  const Snapshot committed = *Add(Durability::kProcess);
  files_.Inject({});
  EXPECT_TRUE(absl::IsResourceExhausted(writer_->Sync(committed)));
  EXPECT_TRUE(absl::IsFailedPrecondition(Add(Durability::kProcess).status()));
  EXPECT_TRUE(absl::IsResourceExhausted(writer_->Sync(committed)));
}

TEST_F(WriterSyncTest, OnlyCommittedStatesCanBeAwaited) {
  ASSERT_TRUE(IsOk(writer_->Append(MakeNoise(100, 1))));
  EXPECT_TRUE(absl::IsFailedPrecondition(writer_->Sync(*writer_->StagedSnapshot())));
}

TEST_F(WriterSyncTest, SyncLeavesTheReceiptToSuspend) {
  const Snapshot committed = *Add(Durability::kProcess);
  ASSERT_TRUE(IsOk(writer_->Sync(committed)));
  ASSERT_TRUE(IsOk(writer_->Suspend()));
  Frame other = *Frame::Open(dir_.Path("f"), {.file_system = Unowned(&files_)});
  Writer second = *other.OpenWriter();
  ASSERT_TRUE(IsOk(second.Suspend()));
  const int64_t before = files_.operations();
  ASSERT_TRUE(IsOk(writer_->Resume()));
  EXPECT_EQ(files_.operations(), before);
}

}  // namespace
}  // namespace cairn::test
