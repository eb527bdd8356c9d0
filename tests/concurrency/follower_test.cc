// A frame that follows a busy one by increments.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/support/bytes.h"
#include "tests/support/dice.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {
namespace {

constexpr int kIncrements = 20;
constexpr int32_t kSmallChunkBytes = 256;

class FollowerTest : public testing::TestWithParam<Layout> {
 protected:
  // Commits edits of all kinds until it is told to stop.
  void Write(const std::atomic<bool>& stop) {
    Frame frame = *Frame::Open(path_, {.file_system = Unowned(&files_)});
    Writer writer = *frame.OpenWriter();
    Dice dice(1);
    for (uint64_t i = 0; !stop; ++i) {
      const int64_t nchunks = frame.snapshot().info().nchunks;
      const auto any = static_cast<int64_t>(dice.Below(static_cast<size_t>(nchunks) - 1));
      const size_t what = dice.Below(10);
      absl::Status edited;
      if (what < 4) {
        edited = writer.UpdateChunk(any, MakeNoise(kSmallChunkBytes, i));
      } else if (what < 6 || nchunks < 40) {
        edited = writer.Append(MakeNoise(100, i));
      } else if (what < 7) {
        edited = writer.InsertChunk(any, MakeNoise(kSmallChunkBytes, i));
      } else if (what < 8) {
        edited = writer.SetVlmetalayer("note", MakeNoise(30, i));
      } else {
        edited = writer.DeleteChunks(any, 1);
      }
      ASSERT_TRUE(IsOk(edited));
      ASSERT_TRUE(IsOk(writer.Commit(Durability::kProcess)));
      if (i % 50 == 49) {
        ASSERT_TRUE(IsOk(writer.Checkpoint()));
      }
      ++commits_;
    }
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  // Ships what changed since `shipped`, which becomes what was shipped.
  void Follow(Frame& source, Frame& copy, Snapshot& shipped) {
    const CopyOptions options = {
        .since = shipped, .overwrite = true, .file_system = Unowned(&files_)};
    const auto newer = source.Refresh();
    ASSERT_TRUE(IsOk(newer));
    ASSERT_TRUE(IsOk(newer->CopyTo(dir_.Path("increment"), options)));
    shipped = *newer;
    const Frame increment = *Frame::Open(dir_.Path("increment"), {.file_system = Unowned(&files_)});
    Writer writer = *copy.OpenWriter();
    ASSERT_TRUE(IsOk(writer.ApplyIncrement(increment.snapshot())));
    const auto restored = writer.Commit();
    ASSERT_TRUE(IsOk(restored));
    EXPECT_EQ(*restored->ContentHash(), *shipped.ContentHash());
    EXPECT_EQ(*FullContentOf(*restored), *FullContentOf(shipped));
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("frame");
  UnsyncedFileSystem files_;
  std::atomic<int> commits_ = 0;
  std::atomic<bool> gone_ = false;  // the writer
};

TEST_P(FollowerTest, HasTheContentAfterEachIncrementBesideABusyWriter) {
  CreateOptions options = Cut(4, kSmallChunkBytes);
  options.layout = GetParam();
  ASSERT_TRUE(IsOk(WriteFrame(path_, options, MakeNoise(40 * kSmallChunkBytes))));
  Frame source = *Frame::Open(path_, {.file_system = Unowned(&files_)});
  Snapshot shipped = source.snapshot();
  ASSERT_TRUE(IsOk(shipped.CopyTo(dir_.Path("copy"), {.file_system = Unowned(&files_)})));
  Frame copy = *Frame::Open(dir_.Path("copy"), {.file_system = Unowned(&files_)});

  std::atomic<bool> stop = false;
  std::thread writer([&] {
    Write(stop);
    gone_ = true;
  });
  for (int i = 0; i < kIncrements && !HasFatalFailure(); ++i) {
    // At least one commit later.
    for (const int before = commits_; commits_ == before && !gone_;) std::this_thread::yield();
    Follow(source, copy, shipped);
  }
  stop = true;
  writer.join();
  if (HasFatalFailure()) return;
  Follow(source, copy, shipped);
  EXPECT_EQ(*FullContentOf(shipped), *FullContentOf(Frame::Open(path_)->snapshot()));
}

INSTANTIATE_TEST_SUITE_P(Layouts, FollowerTest,
                         testing::Values(Layout::kContiguous, Layout::kSparse),
                         [](const auto& layout) {
                           return layout.param == Layout::kSparse ? "Sparse" : "Contiguous";
                         });

}  // namespace
}  // namespace cairn::test
