// Waiting for commits.
#include <chrono>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/support/bytes.h"
#include "tests/support/child_process.h"
#include "tests/support/counting_file_system.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"

namespace cairn::test {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kShort(30);
constexpr milliseconds kLong(60'000);

// The bytes of the next state of another size; of `seen` after the timeout. A writer that opens,
// closes or makes a checkpoint may be seen doing so.
int64_t NextSize(Frame& frame, Snapshot seen, milliseconds timeout = kLong) {
  while (true) {
    const absl::StatusOr<Snapshot> now = frame.WaitForCommit(seen, timeout);
    EXPECT_TRUE(IsOk(now));
    if (!now.ok()) return -1;
    if (*now == seen || now->info().nbytes != seen.info().nbytes) return now->info().nbytes;
    seen = *now;
  }
}

class WaitForCommitTest : public testing::TestWithParam<Layout> {
 protected:
  CreateOptions Options() const {
    CreateOptions options = PlainCopies(64);
    options.layout = GetParam();
    return options;
  }
  void SetUp() override { ASSERT_TRUE(IsOk(WriteFrame(path_, Options(), MakeNoise(100, 1)))); }
  Frame Open(std::shared_ptr<FileSystem> files = nullptr) const {
    auto frame = Frame::Open(path_, {.file_system = files});
    EXPECT_TRUE(IsOk(frame));
    return *std::move(frame);
  }
  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
};

INSTANTIATE_TEST_SUITE_P(, WaitForCommitTest, testing::Values(Layout::kContiguous, Layout::kSparse),
                         [](const auto& it) {
                           return it.param == Layout::kSparse ? "Sparse" : "Contiguous";
                         });

TEST_P(WaitForCommitTest, ReturnsWhatWasSeenAfterTheTimeout) {
  Frame frame = Open();
  const Snapshot seen = frame.snapshot();
  for (const milliseconds timeout : {kShort, milliseconds(0), milliseconds(-1)}) {
    const auto begin = std::chrono::steady_clock::now();
    const absl::StatusOr<Snapshot> now = frame.WaitForCommit(seen, timeout);
    ASSERT_TRUE(IsOk(now));
    EXPECT_EQ(*now, seen);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, timeout);
  }
}

TEST_P(WaitForCommitTest, ReturnsAtOnceWhatWasCommittedBefore) {
  Frame frame = Open();
  const Snapshot seen = frame.snapshot();
  ASSERT_TRUE(IsOk(AppendTo(path_, MakeNoise(10, 2))));
  EXPECT_EQ(NextSize(frame, seen, milliseconds(0)), 110);
  EXPECT_EQ(frame.snapshot().info().nbytes, 110);
}

TEST_P(WaitForCommitTest, WakesAtEachCommitOfAnotherHandle) {
  Frame frame = Open();
  for (const int64_t size : {110, 120, 130}) {
    std::thread writer([this] {
      std::this_thread::sleep_for(kShort);
      EXPECT_TRUE(IsOk(AppendTo(path_, MakeNoise(10, 2))));
    });
    EXPECT_EQ(NextSize(frame, frame.snapshot()), size);
    writer.join();
  }
}

TEST_P(WaitForCommitTest, TellsACommitOfTheSameHandleOnce) {
  Frame frame = Open();
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(10, 2))));
  ASSERT_TRUE(IsOk(writer->Commit()));
  Snapshot seen = frame.snapshot();
  std::thread waiter([&] {
    const absl::StatusOr<Snapshot> now = frame.WaitForCommit(seen, kLong);
    ASSERT_TRUE(IsOk(now));
    seen = *now;
  });
  std::this_thread::sleep_for(kShort);
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(10, 3))));
  ASSERT_TRUE(IsOk(writer->Commit()));
  waiter.join();
  EXPECT_EQ(seen.info().nbytes, 120);
  EXPECT_EQ(frame.WaitForCommit(seen, kShort)->info().generation, seen.info().generation);
  EXPECT_EQ(*frame.WaitForCommit(seen, kShort), seen);
}

TEST_P(WaitForCommitTest, StagedEditsAreNoCommit) {
  Frame frame = Open();
  const Snapshot seen = frame.snapshot();
  Frame other = Open();
  auto writer = other.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  std::thread stager([&] {
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(IsOk(writer->Append(MakeNoise(640, 2))));
  });
  EXPECT_EQ(*frame.WaitForCommit(seen, kShort), seen);
  stager.join();
}

TEST_P(WaitForCommitTest, SeesAFileThatReplacesThisOne) {
  Frame frame = Open();
  const Snapshot seen = frame.snapshot();
  std::thread maker([this] {
    std::this_thread::sleep_for(kShort);
    if (GetParam() == Layout::kSparse) {  // overwritten by none while it is read
      EXPECT_TRUE(IsOk(Open().Compact()));
      return;
    }
    CreateOptions options = Options();
    options.overwrite = true;
    EXPECT_TRUE(IsOk(WriteFrame(path_, options, MakeNoise(500, 2))));
  });
  const absl::StatusOr<Snapshot> now = frame.WaitForCommit(seen, kLong);
  maker.join();
  ASSERT_TRUE(IsOk(now));
  EXPECT_FALSE(*now == seen);
  EXPECT_EQ(now->info().nbytes, GetParam() == Layout::kSparse ? 100 : 500);
}

TEST_P(WaitForCommitTest, SleepsUntilSomethingHappens) {
  Frame frame = Open();
  const Snapshot seen = frame.snapshot();
  const auto switches = [] {
    rusage usage;
    EXPECT_EQ(getrusage(RUSAGE_THREAD, &usage), 0);
    return usage.ru_nvcsw;
  };
  const auto before = switches();
  EXPECT_EQ(*frame.WaitForCommit(seen, milliseconds(300)), seen);
  EXPECT_LT(switches() - before, 50) << "it looked again and again";
}

TEST_P(WaitForCommitTest, DurableReaderWakesWhenTheCommitIsDurable) {
  auto frame = Frame::Open(path_, {.durable_only = true});
  ASSERT_TRUE(IsOk(frame));
  const Snapshot seen = frame->snapshot();
  Frame other = Open();
  auto writer = other.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(10, 2))));
  ASSERT_TRUE(IsOk(writer->Commit(Durability::kProcess)));
  EXPECT_EQ(frame->WaitForCommit(seen, kShort)->info().nbytes, 100);
  std::thread committer([&] {
    std::this_thread::sleep_for(kShort);
    EXPECT_TRUE(IsOk(writer->Append(MakeNoise(10, 3))));
    EXPECT_TRUE(IsOk(writer->Commit(Durability::kMachine)));
  });
  EXPECT_EQ(NextSize(*frame, seen), 120);
  committer.join();
}

TEST_P(WaitForCommitTest, AnyNumberOfThreadsWait) {
  Frame frame = Open();
  const Snapshot seen = frame.snapshot();
  std::vector<std::thread> waiters;
  for (int i = 0; i < 8; ++i) {
    waiters.emplace_back([&] { EXPECT_EQ(NextSize(frame, seen), 110); });
  }
  std::this_thread::sleep_for(kShort);
  ASSERT_TRUE(IsOk(AppendTo(path_, MakeNoise(10, 2))));
  for (std::thread& waiter : waiters) waiter.join();
}

TEST_P(WaitForCommitTest, WorksWhereFilesCannotBeWatched) {
  CountingFileSystem files;
  Frame frame = Open(Unowned(&files));
  const Snapshot seen = frame.snapshot();
  std::thread writer([this] {
    std::this_thread::sleep_for(kShort);
    EXPECT_TRUE(IsOk(AppendTo(path_, MakeNoise(10, 2))));
  });
  EXPECT_EQ(NextSize(frame, seen), 110);
  writer.join();
}

TEST_P(WaitForCommitTest, ChildOfAForkWaitsByItself) {
  Frame frame = Open();
  const Snapshot seen = frame.snapshot();
  EXPECT_EQ(ResultOfChild([&] {
              if (!AppendTo(path_, MakeNoise(10, 2)).ok()) return 1;
              return NextSize(frame, seen) == 110 ? 0 : 2;
            }),
            0);
}

TEST(WaitForCommitInMemoryTest, SeesACommitOfItsWriter) {
  Frame frame = NewInMemory(PlainCopies(64));
  const Snapshot seen = frame.snapshot();
  std::thread waiter([&] { EXPECT_EQ(NextSize(frame, seen), 10); });
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(10, 2))));
  ASSERT_TRUE(IsOk(writer->Commit()));
  waiter.join();
}

}  // namespace
}  // namespace cairn::test
