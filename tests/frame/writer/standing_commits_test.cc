// Tests that a failure after a commit stops the writer, and that the commit is reported as made.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/edited_frame.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/status.h"
#include "tests/support/unowned.h"

namespace cairn::test {
namespace {

class StandingCommitsTest : public EditedFrameTest {
 protected:
  static constexpr int kCommits = 40;

  StandingCommitsTest() : EditedFrameTest(60) {}

  // Opens a writer that makes checkpoints during commits, and summaries every few of them.
  Writer Open(FaultFileSystem& files) const {
    return OpenWriter({.least_edits = 12,
                       .least_gradual = 1,
                       .use_thread = false,
                       .least_summarized = 1,
                       .edits_of_summary = 5},
                      Unowned(&files));
  }

  // Commits one update after the other until one fails; `data_` is what was committed. Returns the
  // content with the one that has failed, if it was the commit.
  std::optional<Buffer> CommitUntilFailure(Writer& writer, Durability durability) {
    for (int i = 0; i < kCommits; ++i) {
      Buffer next = data_;
      const auto at = static_cast<int64_t>(i * 7 % 60 * kSmallChunk);
      const Buffer items = MakeNoise(kSmallChunk, static_cast<uint64_t>(100 + i));
      std::ranges::copy(items, next.begin() + at);
      if (!writer.UpdateChunk(at / kSmallChunk, items).ok()) return std::nullopt;
      if (!writer.Commit(durability).ok()) return next;
      data_ = std::move(next);
    }
    return std::nullopt;
  }
};

TEST_F(StandingCommitsTest, OnlyAFailedSyncLeavesACommitThatWasToldAsAFailure) {
  const Buffer before = data_;
  for (const Durability durability : {Durability::kMachine, Durability::kProcess}) {
    std::vector<Operation> log;
    for (int64_t good = 0; good == 0 || good <= std::ssize(log); ++good) {
      SCOPED_TRACE(good);
      data_ = before;
      std::filesystem::remove(path_);
      ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(kSmallChunk), data_)));
      FaultFileSystem files;
      std::optional<Buffer> failed;
      {
        Writer writer = Open(files);
        // The first run tells what happens.
        if (good == 0) files.StartLog();
        if (good > 0) files.Inject({.after = good - 1, .status = absl::InternalError("EIO")});
        failed = CommitUntilFailure(writer, durability);
        if (good == 0) log = files.TakeLog();
        files.Heal();
      }
      Buffer found = data_;
      ASSERT_TRUE(IsOk(Read().ReadItems(0, found)));
      if (found == data_) continue;
      ASSERT_TRUE(failed.has_value() && found == *failed);
      EXPECT_EQ(log[static_cast<size_t>(good - 1)].kind, Operation::Kind::kSync);
    }
    EXPECT_GE(std::ssize(log), kCommits);
  }
}

TEST_F(StandingCommitsTest, CommitThatFindsItsFileRenamedIsNotThere) {
  FaultFileSystem files;
  Writer writer = Open(files);
  ASSERT_TRUE(IsOk(writer.UpdateChunk(0, MakeNoise(kSmallChunk, 2))));
  std::filesystem::rename(path_, path_ + ".moved");
  EXPECT_TRUE(absl::IsFailedPrecondition(writer.Commit().status()));
  path_ += ".moved";
  Buffer found = data_;
  ASSERT_TRUE(IsOk(Read().ReadItems(0, found)));
  EXPECT_EQ(found, data_);
}

}  // namespace
}  // namespace cairn::test
