// Copies of a frame that is in use.
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "tests/support/bytes.h"
#include "tests/support/dice.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/files.h"
#include "tests/support/frames.h"
#include "tests/support/simulated_disk.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"

namespace cairn::test {
namespace {

using absl::StatusCode;

class CopyTest : public testing::TestWithParam<Layout> {
 protected:
  void SetUp() override {
    CreateOptions options = Cut(4, 400);
    options.layout = GetParam();
    options.metalayers = {{.name = "fixed", .content = Buffer(10)}};
    ASSERT_TRUE(IsOk(WriteFrame(path_, options, MakeItems(4000), {{"station", "Lisbon"}})));
  }
  absl::StatusOr<FrameContent> ContentAt(const std::string& path) const {
    const auto frame = Frame::Open(path);
    if (!frame.ok()) return frame.status();
    EXPECT_TRUE(frame->snapshot().Verify()->ok());
    return FullContentOf(frame->snapshot());
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("frame");
  const std::string copy_ = dir_.Path("copy");
};

TEST_P(CopyTest, HoldsTheNewestCommitBesideTheWriterAndNothingStaged) {
  Frame frame = *Frame::Open(path_);
  Frame other = *Frame::Open(path_);
  Writer writer = *other.OpenWriter();
  ASSERT_TRUE(IsOk(writer.UpdateChunk(3, MakeNoise(400, 1))));
  ASSERT_TRUE(IsOk(writer.Append(MakeItems(100))));
  ASSERT_TRUE(IsOk(writer.SetVlmetalayer("station", AsBytes("Porto"))));
  const Snapshot committed = *writer.Commit(Durability::kProcess);
  ASSERT_TRUE(IsOk(writer.DeleteChunks(0, 2)));
  ASSERT_TRUE(IsOk(frame.Refresh()->CopyTo(copy_)));
  EXPECT_EQ(*ContentAt(copy_), *FullContentOf(committed));
  const FrameInfo info = Frame::Open(copy_)->snapshot().info();
  EXPECT_EQ(info.layout, GetParam());
  EXPECT_TRUE(info.sealed);
  EXPECT_EQ(info.journal_size, 0);
  EXPECT_EQ(info.generation, committed.info().generation);
  ASSERT_TRUE(IsOk(writer.Commit()));
}

// The states are commits in the journal, and checkpoints whose header the file no longer has.
TEST_P(CopyTest, HoldsTheStateOfItsSnapshotWhateverCameLater) {
  Frame frame = *Frame::Open(path_);
  Writer writer = *frame.OpenWriter();
  std::vector<Snapshot> states = {frame.snapshot()};
  for (uint64_t i = 1; i <= 4; ++i) {
    ASSERT_TRUE(IsOk(writer.UpdateChunk(static_cast<int64_t>(i), MakeNoise(400, i))));
    ASSERT_TRUE(IsOk(writer.Append(MakeItems(100))));
    ASSERT_TRUE(IsOk(i % 2 == 0 ? writer.Checkpoint() : writer.Commit().status()));
    states.push_back(frame.snapshot());
  }
  for (const Snapshot& state : states) {
    const FrameContent content = *FullContentOf(state);
    ASSERT_TRUE(IsOk(state.CopyTo(copy_, {.overwrite = true})));
    EXPECT_EQ(*ContentAt(copy_), content);
    EXPECT_EQ(Frame::Open(copy_)->snapshot().info().generation, state.info().generation);
    const auto buffer = state.ToBuffer();
    ASSERT_TRUE(IsOk(buffer));
    const auto opened = Frame::OpenBuffer(*buffer);
    ASSERT_TRUE(IsOk(opened));
    EXPECT_EQ(*FullContentOf(opened->snapshot()), content);
    EXPECT_TRUE(opened->snapshot().Verify()->ok());
  }
  EXPECT_NE(*states.front().ContentHash(), *states.back().ContentHash());
}

TEST_P(CopyTest, GenerationOfTheHistoryIsCopied) {
  Frame frame = *Frame::Open(path_);
  const uint64_t first = frame.snapshot().info().generation;
  Writer writer = *frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer.DeleteChunks(1, 5)));
  ASSERT_TRUE(IsOk(writer.Commit()));
  const auto old = Frame::Open(path_, {.generation = first});
  ASSERT_TRUE(IsOk(old));
  ASSERT_TRUE(IsOk(old->snapshot().CopyTo(copy_)));
  EXPECT_EQ(ContentAt(copy_)->data, MakeItems(4000));
  const Buffer buffer = *old->snapshot().ToBuffer();
  EXPECT_EQ(*DataOf(Frame::OpenBuffer(buffer)->snapshot()), MakeItems(4000));
}

TEST_P(CopyTest, StagedEditsAreNotCopied) {
  Frame frame = *Frame::Open(path_);
  const Snapshot committed = frame.snapshot();
  Writer writer = *frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer.Append(MakeItems(100))));
  const Snapshot staged = *writer.StagedSnapshot();
  constexpr auto kRefused = StatusCode::kFailedPrecondition;
  EXPECT_TRUE(Fails(staged.CopyTo(copy_), kRefused, "commit them first"));
  EXPECT_TRUE(Fails(committed.CopyTo(copy_, {.since = staged}), kRefused, "commit them first"));
  EXPECT_TRUE(Fails(staged.ToBuffer(), kRefused, "commit them first"));
  EXPECT_EQ(NamesIn(dir_.path()), std::vector<std::string>{"frame"});
}

TEST_P(CopyTest, HasNoDeadBytesAndTheChunksAsTheyAreStored) {
  Frame frame = *Frame::Open(path_);
  {
    Writer writer = *frame.OpenWriter();
    ASSERT_TRUE(IsOk(writer.UpdateChunk(3, MakeNoise(400, 1))));
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  ASSERT_TRUE(IsOk(frame.snapshot().CopyTo(copy_)));
  const Snapshot copy = Frame::Open(copy_)->snapshot();
  EXPECT_EQ(copy.info().dead_bytes.value_or(0), 0);
  EXPECT_EQ(ChunksOf(copy), ChunksOf(frame.snapshot()));
  EXPECT_EQ(*copy.ContentHash(), *frame.snapshot().ContentHash());
}

TEST_P(CopyTest, TakesTheLayoutThatIsAskedFor) {
  Frame frame = *Frame::Open(path_);
  for (const Layout layout : {Layout::kContiguous, Layout::kSparse}) {
    ASSERT_TRUE(IsOk(frame.snapshot().CopyTo(copy_, {.layout = layout, .overwrite = true})));
    EXPECT_EQ(Frame::Open(copy_)->snapshot().info().layout, layout);
    EXPECT_EQ(*ContentAt(copy_), *FullContentOf(frame.snapshot()));
  }
}

TEST_P(CopyTest, ReplacesAFrameOnlyWhenAsked) {
  ASSERT_TRUE(IsOk(WriteFrame(copy_, Cut(1, 10), MakeItems(10))));
  Frame frame = *Frame::Open(path_);
  EXPECT_EQ(frame.snapshot().CopyTo(copy_).code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(ContentAt(copy_)->data, MakeItems(10));
  EXPECT_TRUE(IsOk(frame.snapshot().CopyTo(copy_, {.overwrite = true})));
  EXPECT_EQ(ContentAt(copy_)->data, MakeItems(4000));
}

TEST_P(CopyTest, CancelledCopyLeavesNothing) {
  Frame frame = *Frame::Open(path_);
  std::vector<int64_t> calls;
  CopyOptions options;
  options.progress = [&](int64_t chunks) {
    calls.push_back(chunks);
    return chunks < 3;
  };
  EXPECT_EQ(frame.snapshot().CopyTo(copy_, options).code(), StatusCode::kCancelled);
  EXPECT_EQ(calls, (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(NamesIn(dir_.path()), std::vector<std::string>{"frame"});
}

TEST_P(CopyTest, DamagedChunkIsNotCopied) {
  const Snapshot snapshot = Frame::Open(path_)->snapshot();
  const ChunkEntry entry = *snapshot.GetEntry(2);
  const std::string file =
      entry.file.has_value() ? absl::StrFormat("%s/%08X.chunk", path_, *entry.file) : path_;
  Buffer bytes = FileBytes(file);
  bytes[static_cast<size_t>(entry.offset.value_or(0)) + 40] ^= std::byte{1};
  PutFileBytes(file, bytes);
  EXPECT_TRUE(IsDamage(Frame::Open(path_)->snapshot().CopyTo(copy_), "chunk 2"));
  EXPECT_EQ(NamesIn(dir_.path()), std::vector<std::string>{"frame"});
}

TEST_P(CopyTest, AppearsCompleteOrNotAtAllWhereverTheDiskFails) {
  int64_t failures = 0;
  for (int64_t after = 0;; ++after) {
    FaultFileSystem files;
    Frame frame = *Frame::Open(path_);
    files.Inject({.after = after, .disk_gone = true});
    const absl::Status copied = frame.snapshot().CopyTo(copy_, {.file_system = Unowned(&files)});
    if (copied.ok()) break;
    ++failures;
    files.Heal();
    const auto content = ContentAt(copy_);
    EXPECT_TRUE(!content.ok() || content->data == MakeItems(4000));
    std::filesystem::remove_all(copy_);
  }
  EXPECT_GT(failures, 4);
}

INSTANTIATE_TEST_SUITE_P(Layouts, CopyTest, testing::Values(Layout::kContiguous, Layout::kSparse),
                         [](const auto& layout) {
                           return layout.param == Layout::kSparse ? "Sparse" : "Contiguous";
                         });

TEST(CopyDurabilityTest, CopySurvivesAPowerCutOnceItReturned) {
  for (const Layout layout : {Layout::kContiguous, Layout::kSparse}) {
    SimulatedDisk disk;
    Frame frame = NewInMemory(Cut(4, 400));
    {
      Writer writer = *frame.OpenWriter();
      ASSERT_TRUE(IsOk(writer.Append(MakeItems(4000))));
      ASSERT_TRUE(IsOk(writer.Close()));
    }
    ASSERT_TRUE(
        IsOk(frame.snapshot().CopyTo("copy", {.layout = layout, .file_system = disk.root()})));
    const auto after = disk.PowerLossAt(disk.PendingTimes().front());
    const auto copy = Frame::Open("copy", {.file_system = after->root()});
    ASSERT_TRUE(IsOk(copy));
    ExpectHolds(copy->snapshot(), MakeItems(4000));
  }
}

// A copy that replaces a frame, by the layouts of that one and of the copy.
class CopyOverTest : public testing::TestWithParam<std::pair<Layout, Layout>> {
 protected:
  // Looks at the disk before each operation of the copy, which is `last` where the names change.
  void CopyOver(const std::function<void(bool last)>& look) {
    ASSERT_TRUE(IsOk(Store(old_, {.layout = GetParam().first})));
    disk_.Judge([&](const DiskOperation& operation) {
      using Kind = DiskOperation::Kind;
      const bool last = operation.kind == Kind::kRename || operation.kind == Kind::kExchange;
      look(last);
      named_ = named_ || last;
      return Fate();
    });
    ASSERT_TRUE(IsOk(Store(new_, {.layout = GetParam().second, .overwrite = true})));
    EXPECT_TRUE(named_);
    disk_.Judge([](const DiskOperation&) { return Fate(); });
  }
  absl::Status Store(const Buffer& items, CopyOptions options) {
    Frame frame = NewInMemory(Cut(4, 400));
    Writer writer = *frame.OpenWriter();
    CAIRN_RETURN_IF_ERROR(writer.Append(items));
    CAIRN_RETURN_IF_ERROR(writer.Close());
    options.file_system = disk_.root();
    return frame.snapshot().CopyTo("copy", options);
  }

  const Buffer old_ = MakeNoise(1000, 1);
  const Buffer new_ = MakeNoise(2000, 2);
  SimulatedDisk disk_;
  bool named_ = false;  // the copy has had the name
};

TEST_P(CopyOverTest, ReadersOpenTheOldFrameUntilTheNewOneHasItsName) {
  CopyOver([&](bool last) {
    if (last) return;  // readers wait for this one
    const auto frame = Frame::Open("copy", {.file_system = disk_.root()});
    ASSERT_TRUE(IsOk(frame));
    EXPECT_EQ(ContentOf(frame->snapshot()), named_ ? new_ : old_);
  });
}

TEST_P(CopyOverTest, CrashLeavesTheOldFrameOrTheNewOneAndTheNextWriterNothingElse) {
  Dice dice(1);
  const auto look = [&](SimulatedDisk& left, bool returned) {
    auto frame = Frame::Open("copy", {.file_system = left.root()});
    ASSERT_TRUE(IsOk(frame));
    const Buffer content = ContentOf(frame->snapshot());
    EXPECT_TRUE(content == new_ ? named_ : content == old_ && !returned);
    EXPECT_TRUE(IsOk(frame->OpenWriter()));
    EXPECT_EQ(*left.root()->List("."), std::vector<std::string>{"copy"});
  };
  const auto crash = [&](bool returned) {
    look(*disk_.Clone(), returned);
    for (int i = 0; i < 6; ++i) look(*disk_.PowerLoss(dice), returned);
  };
  CopyOver([&](bool) { crash(false); });
  crash(true);
}

constexpr Layout kFile = Layout::kContiguous;
constexpr Layout kDirectory = Layout::kSparse;
INSTANTIATE_TEST_SUITE_P(Layouts, CopyOverTest,
                         testing::Values(std::pair(kFile, kFile), std::pair(kFile, kDirectory),
                                         std::pair(kDirectory, kFile),
                                         std::pair(kDirectory, kDirectory)),
                         [](const auto& layouts) {
                           const auto name = [](Layout layout) -> std::string {
                             return layout == Layout::kSparse ? "Sparse" : "Contiguous";
                           };
                           return name(layouts.param.second) + "Over" + name(layouts.param.first);
                         });

TEST(CopyEmptyTest, EmptyFrameIsCopied) {
  const TempDir dir;
  Frame frame = NewInMemory(Cut(4, 400));
  for (const Layout layout : {Layout::kContiguous, Layout::kSparse}) {
    ASSERT_TRUE(
        IsOk(frame.snapshot().CopyTo(dir.Path("copy"), {.layout = layout, .overwrite = true})));
    ExpectHolds(Frame::Open(dir.Path("copy"))->snapshot(), {});
  }
}

}  // namespace
}  // namespace cairn::test
