// Tests what a forked child may do with the files that its parent has open, and what it must leave
// alone.
#include "tests/support/fork.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <tuple>
#include <unistd.h>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_format.h"
#include <gtest/gtest.h>

#include "cairn/executor.h"
#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "tests/support/bytes.h"
#include "tests/support/child_process.h"
#include "tests/support/frames.h"
#include "tests/support/orphan.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

constexpr int64_t kForkedChunks = 16;
constexpr int32_t kForkedChunkBytes = 4096;
constexpr unsigned kMostSeconds = 60;  // then a child that hangs is ended

void FlipByte(const std::string& path, int64_t at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(at);
  const auto byte = static_cast<char>(file.get() ^ 1);
  file.seekp(at);
  file.put(byte);
}

// A child that begins its work when its parent says so.
class WaitingChild {
 public:
  // `body` gives the child's result, 0 to 255.
  explicit WaitingChild(absl::FunctionRef<int()> body) {
    int ends[2];
    if (::pipe(ends) != 0) return;
    pid_ = Fork();
    if (pid_ == 0) {
      ::alarm(kMostSeconds);
      ::close(ends[1]);
      char end = 0;
      const ssize_t got = ::read(ends[0], &end, 1);
      ::_exit(got == 0 ? body() : 255);
    }
    ::close(ends[0]);
    go_ = ends[1];
  }
  WaitingChild(const WaitingChild&) = delete;
  WaitingChild& operator=(const WaitingChild&) = delete;
  ~WaitingChild() { EXPECT_EQ(pid_, -1) << "the child was not awaited"; }

  // Lets it begin, and gives its result; -1 if it did not end by itself.
  int Result() {
    ::close(go_);
    int status = 0;
    const bool ended = ::waitpid(pid_, &status, 0) == pid_ && WIFEXITED(status);
    pid_ = -1;
    return ended ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = -1;
  int go_ = -1;
};

class ForkTest : public testing::TestWithParam<std::tuple<Layout, bool>> {
 protected:
  static Layout layout() { return std::get<0>(GetParam()); }
  static OpenOptions Options() { return {.use_mmap = std::get<1>(GetParam())}; }

  void SetUp() override {
    CreateOptions options = PlainCopies(kForkedChunkBytes);
    options.layout = layout();
    ASSERT_TRUE(IsOk(WriteFrame(path_, options, first_)));
  }
  Frame Open() const { return *Frame::Open(path_, Options()); }
  // In many commits and checkpoints: the space of the ones before is used again.
  static absl::Status UpdateAll(Frame& frame, uint64_t seed) {
    auto writer = frame.OpenWriter({.wait = std::chrono::seconds(30)});
    if (!writer.ok()) return writer.status();
    for (int64_t chunk = 0; chunk < kForkedChunks; ++chunk) {
      const auto number = static_cast<uint64_t>(chunk);
      absl::Status status = writer->UpdateChunk(chunk, MakeNoise(kForkedChunkBytes, seed + number));
      if (status.ok()) status = writer->Commit(Durability::kProcess).status();
      if (status.ok() && chunk % 4 == 3) status = writer->Checkpoint();
      if (!status.ok()) return status;
    }
    return writer->Close();
  }
  static Buffer AfterUpdates(uint64_t seed) {
    Buffer all;
    for (uint64_t chunk = 0; chunk < kForkedChunks; ++chunk) {
      const Buffer one = MakeNoise(kForkedChunkBytes, seed + chunk);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }
  // 0: they hold `expected`.
  static int Check(const Snapshot& snapshot, const Buffer& expected) {
    const auto data = DataOf(snapshot);
    if (!data.ok()) return 1;
    return *data == expected ? 0 : 2;
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
  const Buffer first_ = MakeNoise(kForkedChunks * kForkedChunkBytes, 1);
};

TEST_P(ForkTest, ChildReadsWhatItsParentHadOpenedWhileThatOneCommits) {
  Frame frame = Open();
  ASSERT_EQ(Check(frame.snapshot(), first_), 0);  // every chunk is checked once here
  WaitingChild child([&] { return Check(frame.snapshot(), first_); });
  ASSERT_TRUE(IsOk(UpdateAll(frame, 100)));
  ASSERT_TRUE(IsOk(UpdateAll(frame, 200)));
  EXPECT_EQ(child.Result(), 0);
}

TEST_P(ForkTest, ChildReadsWhatItsParentHasLeftBesideAnotherWriter) {
  Frame frame = Open();
  Frame other = Open();
  WaitingChild child([&] {
    if (const int wrong = Check(frame.snapshot(), first_)) return wrong;
    return frame.snapshot().Verify()->ok() ? 0 : 3;
  });
  for (uint64_t round = 1; round < 4; ++round) {
    ASSERT_TRUE(IsOk(UpdateAll(other, 100 * round)));
    ASSERT_EQ(Check(*frame.Refresh(), AfterUpdates(100 * round)), 0);
  }
  EXPECT_EQ(child.Result(), 0);
}

TEST_P(ForkTest, ChildReadsOnWhenItsParentHasClosedTheFrame) {
  std::optional<Frame> frame = Open();
  WaitingChild child([&] { return Check(frame->snapshot(), first_); });
  frame.reset();
  Frame other = Open();
  ASSERT_TRUE(IsOk(UpdateAll(other, 100)));
  ASSERT_TRUE(IsOk(UpdateAll(other, 200)));
  EXPECT_EQ(child.Result(), 0);
}

// The parent is a child of the test here, and its child is the test's grandchild.
TEST_P(ForkTest, ChildReadsOnWhenItsParentHasEnded) {
  int go[2], end[2];
  ASSERT_EQ(::pipe(go), 0);
  ASSERT_EQ(::pipe(end), 0);
  EXPECT_EQ(ResultOfChild([&] {
              const Frame frame = Open();
              if (Fork() != 0) return 0;
              ::alarm(kMostSeconds);
              ::close(go[1]);
              char byte = 0;
              if (::read(go[0], &byte, 1) != 0) ::_exit(1);
              byte = static_cast<char>(Check(frame.snapshot(), first_));
              ::_exit(::write(end[1], &byte, 1) == 1 ? 0 : 1);
            }),
            0);
  Frame other = Open();
  ASSERT_TRUE(IsOk(UpdateAll(other, 100)));
  ASSERT_TRUE(IsOk(UpdateAll(other, 200)));
  ::close(go[1]);
  ::close(end[1]);
  char result = 1;
  EXPECT_EQ(::read(end[0], &result, 1), 1);
  EXPECT_EQ(result, 0);
  ::close(go[0]);
  ::close(end[0]);
}

TEST_P(ForkTest, GrandchildReadsWhatItsParentsHadOpened) {
  std::optional<Frame> frame = Open();
  WaitingChild child(
      [&] { return ResultOfChild([&] { return Check(frame->snapshot(), first_); }); });
  frame.reset();
  Frame other = Open();
  ASSERT_TRUE(IsOk(UpdateAll(other, 100)));
  EXPECT_EQ(child.Result(), 0);
}

TEST_P(ForkTest, ChildThatRefreshesReadsTheNewestState) {
  Frame frame = Open();
  WaitingChild child([&] {
    const Snapshot old = frame.snapshot();
    const auto newest = frame.Refresh();
    if (!newest.ok()) return 10;
    if (const int wrong = Check(*newest, AfterUpdates(100))) return wrong;
    if (const int wrong = Check(old, first_)) return 20 + wrong;
    return newest->Verify()->ok() ? 0 : 11;
  });
  ASSERT_TRUE(IsOk(UpdateAll(frame, 100)));
  EXPECT_EQ(child.Result(), 0);
  EXPECT_EQ(Check(*frame.Refresh(), AfterUpdates(100)), 0);
}

TEST_P(ForkTest, ChildThatRefreshesKeepsWhatItReadsThen) {
  Frame frame = Open();
  int refreshed[2];
  ASSERT_EQ(::pipe(refreshed), 0);
  const pid_t child = Fork();
  if (child == 0) {
    ::alarm(kMostSeconds);
    char byte = 0;
    if (::read(refreshed[0], &byte, 1) != 1) ::_exit(10);  // the parent has committed
    const auto newest = frame.Refresh();
    byte = newest.ok() ? 1 : 0;
    if (::kill(::getppid(), 0) != 0 || !newest.ok()) ::_exit(11);
    Frame writer = Open();
    if (!UpdateAll(writer, 300).ok() || !UpdateAll(writer, 400).ok()) ::_exit(12);
    ::_exit(Check(*newest, AfterUpdates(100)));
  }
  ASSERT_TRUE(IsOk(UpdateAll(frame, 100)));
  const Snapshot ours = *frame.Refresh();
  ASSERT_EQ(::write(refreshed[1], "x", 1), 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
  EXPECT_EQ(Check(ours, AfterUpdates(100)), 0);  // the child's writer has left it alone
  ::close(refreshed[0]);
  ::close(refreshed[1]);
}

TEST_P(ForkTest, ChildThatClosesEverythingTakesNothingFromItsParent) {
  std::optional<Frame> frame = Open();
  std::optional<Snapshot> held = frame->snapshot();
  EXPECT_EQ(ResultOfChild([&] {
              if (!frame->Refresh().ok()) return 1;
              held.reset();
              frame.reset();
              return 0;
            }),
            0);
  Frame other = Open();
  ASSERT_TRUE(IsOk(UpdateAll(other, 100)));
  ASSERT_TRUE(IsOk(UpdateAll(other, 200)));
  EXPECT_EQ(Check(*held, first_), 0);
}

TEST_P(ForkTest, WhatAChildKeptIsFreeWhenItHasEnded) {
  if (layout() == Layout::kSparse) return;  // holders are known of contiguous frames
  Frame frame = Open();
  WaitingChild child([&] { return Check(frame.snapshot(), first_); });
  ASSERT_TRUE(IsOk(UpdateAll(frame, 100)));
  ASSERT_TRUE(IsOk(frame.Refresh()));
  EXPECT_FALSE(frame.OldReaders()->empty());
  EXPECT_EQ(child.Result(), 0);
  EXPECT_TRUE(frame.OldReaders()->empty());
}

TEST_P(ForkTest, ChildOpensTheFrameAgainToWriteIt) {
  Frame frame = Open();
  EXPECT_EQ(ResultOfChild([&] {
              if (!absl::IsFailedPrecondition(frame.OpenWriter().status())) return 1;
              Frame own = Open();
              return UpdateAll(own, 100).ok() ? 0 : 2;
            }),
            0);
  EXPECT_EQ(Check(*frame.Refresh(), AfterUpdates(100)), 0);
}

TEST_P(ForkTest, StagedSnapshotIsAnErrorInAChild) {
  Frame frame = Open();
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->UpdateChunk(3, MakeNoise(kForkedChunkBytes, 7))));
  std::optional<Snapshot> staged = *writer->StagedSnapshot();
  WaitingChild child([&] {
    Buffer chunk(kForkedChunkBytes);
    if (!absl::IsFailedPrecondition(staged->ReadChunk(3, chunk))) return 1;
    if (!absl::IsFailedPrecondition(staged->GetChunk(3).status())) return 2;
    return absl::IsFailedPrecondition(writer->Commit().status()) ? 0 : 3;
  });
  staged.reset();
  writer->Rollback();
  ASSERT_TRUE(IsOk(writer->UpdateChunk(4, MakeNoise(kForkedChunkBytes, 8))));
  EXPECT_EQ(child.Result(), 0);
  EXPECT_TRUE(IsOk(writer->Commit()));
}

TEST_P(ForkTest, MarksOfCheckedChunksDoNotCrossAFork) {
  Frame frame = Open();
  ASSERT_EQ(Check(frame.snapshot(), first_), 0);
  const ChunkEntry entry = *frame.snapshot().GetEntry(5);
  const std::string file =
      entry.file.has_value() ? absl::StrFormat("%s/%08X.chunk", path_, *entry.file) : path_;
  const int64_t at = entry.offset.value_or(0) + 100;
  WaitingChild child([&] {
    Buffer chunk(kForkedChunkBytes);
    for (int i = 0; i < 3; ++i) {
      if (!absl::IsDataLoss(frame.snapshot().ReadChunk(5, chunk))) return 1;
      if (!frame.snapshot().ReadChunk(6, chunk).ok()) return 2;
    }
    return 0;
  });
  FlipByte(file, at);
  EXPECT_EQ(child.Result(), 0);
}

TEST_P(ForkTest, ChildThatWaitsSeesTheCommitAndSoDoesItsParent) {
  Frame frame = Open();
  const Snapshot seen = frame.snapshot();
  ASSERT_EQ(frame.WaitForCommit(seen, std::chrono::milliseconds(1))->info().generation,
            seen.info().generation);  // so that there is a watch to inherit
  constexpr std::chrono::seconds kLong(30);
  const pid_t child = Fork();
  if (child == 0) {
    ::alarm(kMostSeconds);
    const auto next = frame.WaitForCommit(seen, kLong);
    ::_exit(next.ok() && next->info().generation > seen.info().generation ? 0 : 1);
  }
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_TRUE(IsOk(AppendTo(path_, MakeNoise(10, 2))));
  });
  const auto next = frame.WaitForCommit(seen, kLong);
  writer.join();
  ASSERT_TRUE(IsOk(next));
  EXPECT_GT(next->info().generation, seen.info().generation);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
}

TEST_P(ForkTest, ThreadsOfAnExecutorAreNotWaitedForInAChild) {
  const std::shared_ptr<Executor> threads = MakeThreadExecutor(4);
  OpenOptions options = Options();
  options.executor = threads;
  const Frame frame = *Frame::Open(path_, options);
  ASSERT_EQ(Check(frame.snapshot(), first_), 0);
  WaitingChild child([&] { return Check(frame.snapshot(), first_); });
  EXPECT_EQ(child.Result(), 0);
}

// The lock of a writer ends with its process, not with what it has forked.
TEST_P(ForkTest, LockThatWasTakenAfterAForkEndsWithItsWriter) {
  int go[2], runs[2];
  ASSERT_EQ(::pipe(go), 0);
  ASSERT_EQ(::pipe(runs), 0);
  EXPECT_EQ(ResultOfChild([&] {
              Frame frame = Open();
              auto writer = frame.OpenWriter();
              if (!writer.ok() || !writer->Suspend().ok()) return 1;
              char byte = 0;
              if (Fork() == 0) {  // lives longer
                ::close(go[1]);
                if (::write(runs[1], &byte, 1) != 1) ::_exit(1);
                ::_exit(static_cast<int>(::read(go[0], &byte, 1)));
              }
              if (::read(runs[0], &byte, 1) != 1) return 2;
              if (!writer->Resume().ok()) return 3;
              if (!writer->UpdateChunk(0, MakeNoise(kForkedChunkBytes, 9)).ok()) return 4;
              ::kill(::getpid(), SIGKILL);
              return 5;
            }),
            -1);
  Frame other = Open();
  EXPECT_TRUE(IsOk(other.OpenWriter()));
  for (const int end : {go[0], go[1], runs[0], runs[1]}) ::close(end);
}

TEST_P(ForkTest, LockOfAWriterEndsWithItsProcess) {
  std::optional<Frame> frame;
  std::optional<Writer> writer;
  const Orphan child([&] {
    frame = Open();
    auto opened = frame->OpenWriter();
    if (!opened.ok()) return 1;
    writer = *std::move(opened);
    return writer->UpdateChunk(0, MakeNoise(kForkedChunkBytes, 9)).ok() ? 0 : 2;
  });
  ASSERT_EQ(child.result(), 0);
  Frame other = Open();
  EXPECT_TRUE(IsOk(UpdateAll(other, 100)));
}

TEST_P(ForkTest, ChildWritesWhenItsParentHasDied) {
  std::optional<Frame> frame;
  std::optional<Writer> writer;
  const Orphan child(
      [&] {
        frame = Open();
        auto opened = frame->OpenWriter();
        if (!opened.ok()) return 1;
        writer = *std::move(opened);
        return 0;
      },
      [&] {
        if (!absl::IsFailedPrecondition(writer->Commit().status())) return 3;
        Frame own = Open();
        return UpdateAll(own, 100).ok() ? 0 : 4;
      });
  ASSERT_EQ(child.result(), 0);
  EXPECT_EQ(Check(Open().snapshot(), AfterUpdates(100)), 0);
}

TEST_P(ForkTest, WhatADeadParentHasNotBuiltIsRemoved) {
  if (layout() == Layout::kSparse) return;  // a child has the right to read such a directory
  const auto names = [&] {
    return std::distance(std::filesystem::directory_iterator(dir_.path()), {});
  };
  std::optional<Writer> writer;
  const Orphan child([&] {
    auto building = Frame::BeginCreate(path_, {.overwrite = true});
    if (!building.ok()) return 1;
    writer = *std::move(building);
    return names() == 2 ? 0 : 2;
  });
  ASSERT_EQ(child.result(), 0);
  Frame other = Open();
  EXPECT_TRUE(IsOk(other.OpenWriter()));
  EXPECT_EQ(names(), 1);
}

std::string NameOf(const testing::TestParamInfo<std::tuple<Layout, bool>>& info) {
  return std::string(std::get<0>(info.param) == Layout::kSparse ? "Sparse" : "Contiguous") +
         (std::get<1>(info.param) ? "Mapped" : "Copied");
}

INSTANTIATE_TEST_SUITE_P(, ForkTest,
                         testing::Combine(testing::Values(Layout::kContiguous, Layout::kSparse),
                                          testing::Bool()),
                         NameOf);

}  // namespace
}  // namespace cairn::test
