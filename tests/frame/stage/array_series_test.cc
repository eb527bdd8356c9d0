// Arrays of one dimension that grow: items that fill no chunk stay pending.
#include <filesystem>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/frame/api/handle_access.h"
#include "engine/frame/writer/frame_writer.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/opened_core.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

using absl::StatusCode;
using Extents = std::vector<int64_t>;

constexpr int32_t kRecord = 12;

// An array of records, and the bytes that it has to hold.
class ArraySeriesTest : public testing::TestWithParam<Layout> {
 protected:
  // The chunks are not made of whole blocks: each ends with two records of padding.
  void SetUp() override { Make({{.name = "m", .content = Buffer(8)}}); }

  void Make(const std::vector<Metalayer>& metalayers) {
    CreateOptions options = OfArray({.shape = {0}, .chunkshape = {10}, .blockshape = {4}}, kRecord);
    options.metalayers = metalayers;
    Make(options);
  }
  void Make(CreateOptions options) {
    options.layout = GetParam();
    options.overwrite = true;
    ASSERT_TRUE(IsOk(Frame::Create(path_, options)));
    items_.clear();
  }
  Writer OpenWriter(const WriterOptions& options = {}) {
    frame_.emplace(*Frame::Open(path_));
    return *frame_->OpenWriter(options);
  }
  void Append(Writer& writer, int64_t records) {
    const Buffer added = MakeNoise(static_cast<size_t>(records * kRecord), ++seed_);
    ASSERT_TRUE(IsOk(writer.AppendSlices(0, added)));
    AddTo(items_, added);
  }
  void AppendAndCommit(Writer& writer, int64_t records) {
    Append(writer, records);
    ASSERT_TRUE(IsOk(writer.Commit(Durability::kProcess)));
  }
  void DropFront(int64_t records) {
    items_.erase(items_.begin(), items_.begin() + records * kRecord);
  }
  void ExpectItems(const Snapshot& snapshot) const {
    const int64_t count = std::ssize(items_) / kRecord;
    ASSERT_TRUE(snapshot.array().has_value());
    ASSERT_EQ(snapshot.array()->shape, Extents{count});
    Buffer read(items_.size());
    ASSERT_TRUE(IsOk(snapshot.ReadBox(Extents{0}, Extents{count}, read)));
    ASSERT_EQ(read, items_);
    const auto report = snapshot.Verify();
    ASSERT_TRUE(IsOk(report));
    ASSERT_TRUE(report->ok()) << report->findings.at(0).reason;
  }
  // This handle, and one that replays the journal.
  void ExpectCommitted() {
    ExpectItems(*frame_->Refresh());
    ExpectItems(Frame::Open(path_)->snapshot());
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("series");
  std::optional<Frame> frame_;
  Buffer items_;
  uint64_t seed_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Layouts, ArraySeriesTest,
                         testing::Values(Layout::kContiguous, Layout::kSparse), [](const auto& it) {
                           return it.param == Layout::kSparse ? "Sparse" : "Contiguous";
                         });

TEST_P(ArraySeriesTest, HoldsWhatEachCommitAppends) {
  Writer writer = OpenWriter();
  for (const int64_t records : {1, 1, 7, 1, 3, 10, 4, 6, 25, 12, 1}) {
    AppendAndCommit(writer, records);
    ExpectCommitted();
  }
}

TEST_P(ArraySeriesTest, SmallCommitsStoreItemsAndNoChunk) {
  Writer writer = OpenWriter();
  AppendAndCommit(writer, 13);
  const FrameInfo before = frame_->Refresh()->info();
  AppendAndCommit(writer, 1);
  const FrameInfo after = frame_->Refresh()->info();
  EXPECT_EQ(after.cbytes, before.cbytes);
  EXPECT_LE(after.journal_size - before.journal_size, kRecord + 57 + 48 + 8);
}

TEST_P(ArraySeriesTest, GoesOnAfterCheckpointsAndReopening) {
  for (int i = 0; i < 12; ++i) {
    Writer writer = OpenWriter();
    AppendAndCommit(writer, 3);
    if (i % 3 == 0) {
      ASSERT_TRUE(IsOk(writer.Checkpoint()));
    }
    Append(writer, 1);
    ASSERT_TRUE(IsOk(i % 2 == 0 ? writer.Close() : writer.Commit().status()));
    ExpectCommitted();
  }
}

TEST_P(ArraySeriesTest, StagedItemsShowAndRollBack) {
  Writer writer = OpenWriter();
  AppendAndCommit(writer, 8);
  const Buffer committed = items_;
  Append(writer, 5);
  ExpectItems(*writer.StagedSnapshot());
  writer.Rollback();
  items_ = committed;
  ExpectCommitted();
  AppendAndCommit(writer, 1);
  ExpectCommitted();
}

TEST_P(ArraySeriesTest, SnapshotsKeepWhatTheyShow) {
  Writer writer = OpenWriter();
  AppendAndCommit(writer, 4);
  const Snapshot before = *frame_->Refresh();
  const Buffer shown = items_;
  AppendAndCommit(writer, 3);
  ASSERT_TRUE(IsOk(writer.Checkpoint()));
  AppendAndCommit(writer, 9);
  ExpectCommitted();
  items_ = shown;
  ExpectItems(before);
}

TEST_P(ArraySeriesTest, OtherEditsMeetPendingItems) {
  Writer writer = OpenWriter();
  AppendAndCommit(writer, 14);
  ASSERT_TRUE(IsOk(writer.WriteBox(Extents{13}, Extents{1}, Buffer(kRecord, std::byte{7}))));
  std::fill(items_.end() - kRecord, items_.end(), std::byte{7});
  AppendAndCommit(writer, 2);
  ExpectCommitted();
  ASSERT_TRUE(IsOk(writer.ResizeArray(Extents{12})));
  items_.resize(12 * kRecord);
  AppendAndCommit(writer, 1);
  ExpectCommitted();
  ASSERT_TRUE(IsOk(writer.ResizeArray(Extents{15})));
  items_.resize(15 * kRecord);
  AppendAndCommit(writer, 1);
  ASSERT_TRUE(IsOk(writer.SetMetalayer("m", Buffer(8, std::byte{1}))));
  ASSERT_TRUE(IsOk(writer.Commit()));
  ExpectCommitted();
}

TEST_P(ArraySeriesTest, RefusedEditsLeaveItemsPending) {
  Writer writer = OpenWriter();
  AppendAndCommit(writer, 4);
  EXPECT_FALSE(writer.WriteBox(Extents{3}, Extents{2}, Buffer(2 * kRecord)).ok());
  EXPECT_FALSE(writer.ResizeArray(Extents{-1}).ok());
  EXPECT_FALSE(writer.AppendSlices(0, Buffer(kRecord + 1)).ok());
  EXPECT_FALSE(writer.AppendSlices(1, Buffer(kRecord)).ok());
  const uint64_t generation = frame_->Refresh()->info().generation;
  EXPECT_EQ(writer.Commit()->info().generation, generation);
  ExpectCommitted();
}

TEST_P(ArraySeriesTest, ANewShapeInTheMetalayerCounts) {
  Writer writer = OpenWriter();
  AppendAndCommit(writer, 14);
  const Snapshot now = *frame_->Refresh();
  Buffer content = *now.GetMetalayer("b2nd");
  // The shape is the first number: 14 ends its big endian bytes.
  const auto at = std::ranges::find(content, std::byte{14});
  ASSERT_NE(at, content.end());
  *at = std::byte{16};
  ASSERT_TRUE(IsOk(writer.SetMetalayer("b2nd", content)));
  ASSERT_TRUE(IsOk(writer.Commit()));
  items_.resize(16 * kRecord);
  ExpectCommitted();
}

TEST_P(ArraySeriesTest, ShowsNothingOfWhatLiesInThePadding) {
  Writer writer = OpenWriter();
  AppendAndCommit(writer, 4);
  ASSERT_TRUE(IsOk(writer.WriteItems(4, Buffer(6 * kRecord, std::byte{1}))));
  ASSERT_TRUE(IsOk(writer.Checkpoint()));
  AppendAndCommit(writer, 1);
  ASSERT_TRUE(IsOk(writer.ResizeArray(Extents{9})));
  ASSERT_TRUE(IsOk(writer.Commit()));
  items_.resize(9 * kRecord);
  ExpectCommitted();
}

TEST_P(ArraySeriesTest, CopiesHoldPendingItemsAndHaveTheSameContent) {
  Writer writer = OpenWriter();
  AppendAndCommit(writer, 23);
  const Snapshot pending = *frame_->Refresh();
  const std::string copy = dir_.Path("copy");
  ASSERT_TRUE(IsOk(frame_->snapshot().CopyTo(copy)));
  ExpectItems(Frame::Open(copy)->snapshot());
  const uint64_t hash = *pending.ContentHash();
  EXPECT_EQ(*Frame::Open(copy)->snapshot().ContentHash(), hash);
  ASSERT_TRUE(IsOk(writer.Checkpoint()));
  EXPECT_EQ(*frame_->Refresh()->ContentHash(), hash);
}

TEST_P(ArraySeriesTest, CompactAndReclaimKeepPendingItems) {
  {
    Writer writer = OpenWriter();
    for (int i = 0; i < 30; ++i) AppendAndCommit(writer, 3);
    ASSERT_TRUE(IsOk(writer.Reclaim()));
    AppendAndCommit(writer, 1);
  }
  ASSERT_TRUE(IsOk(frame_->Compact()));
  ExpectCommitted();
}

TEST_P(ArraySeriesTest, CheckpointsOfALongHeaderStayInPlace) {
  if (GetParam() == Layout::kSparse) GTEST_SKIP() << "the index file is always written anew";
  Make({{.name = "m", .content = Buffer(700)}});
  Writer writer = OpenWriter();
  AppendAndCommit(writer, 4);
  ASSERT_TRUE(IsOk(writer.Checkpoint()));  // of a frame that was empty
  const auto before = PosixFileSystem()->Identity(path_);
  for (int i = 0; i < 5; ++i) {
    AppendAndCommit(writer, 4);
    ASSERT_TRUE(IsOk(writer.Checkpoint()));
    ExpectCommitted();
  }
  EXPECT_TRUE(*PosixFileSystem()->Identity(path_) == *before);
  EXPECT_GT(frame_->snapshot().info().header_len, 512);
}

TEST_P(ArraySeriesTest, PaddingTakesLittleWhateverTheOptions) {
  CreateOptions options =
      OfArray({.shape = {0}, .chunkshape = {100'000}, .blockshape = {1000}}, kRecord);
  for (const int clevel : {0, 5}) {
    options.compression.clevel = clevel;
    options.compression.filters = {{.filter = Filter::kDelta}, {.filter = Filter::kShuffle}};
    frame_.reset();
    ASSERT_NO_FATAL_FAILURE(Make(options));
    Writer writer = OpenWriter();
    AppendAndCommit(writer, 1100);
    struct stat file = {};
    const std::string name = GetParam() == Layout::kSparse ? path_ + "/chunks.b2frame" : path_;
    ASSERT_EQ(::stat(name.c_str(), &file), 0);
    EXPECT_LT(file.st_blocks * 512, 800'000) << "space is reserved to code the padding";
    ASSERT_TRUE(IsOk(writer.Checkpoint()));
    EXPECT_LT(frame_->Refresh()->GetEntry(0)->cbytes.value(), 2000 * kRecord + 10'000);
    ExpectCommitted();
  }
}

TEST_P(ArraySeriesTest, LosesItsFrontInWholeChunks) {
  Writer writer = OpenWriter();
  AppendAndCommit(writer, 47);
  ASSERT_TRUE(IsOk(writer.DeleteSlices(0, 0, 20)));
  DropFront(20);
  ASSERT_TRUE(IsOk(writer.Commit()));
  ExpectCommitted();
  AppendAndCommit(writer, 5);
  ASSERT_TRUE(IsOk(writer.DeleteSlices(0, 10, 10)));
  items_.erase(items_.begin() + 10 * kRecord, items_.begin() + 20 * kRecord);
  Append(writer, 2);
  ASSERT_TRUE(IsOk(writer.Checkpoint()));
  ExpectCommitted();
  EXPECT_TRUE(Fails(writer.DeleteSlices(0, 0, 5), StatusCode::kInvalidArgument, "chunks of 10"));
  EXPECT_TRUE(Fails(writer.DeleteSlices(0, 3, 10), StatusCode::kInvalidArgument, "chunks of 10"));
  EXPECT_TRUE(Fails(writer.DeleteSlices(0, 20, 10), StatusCode::kOutOfRange, "of 24"));
  EXPECT_TRUE(Fails(writer.DeleteSlices(1, 0, 10), StatusCode::kOutOfRange, "axis 1"));
  ASSERT_TRUE(IsOk(writer.DeleteSlices(0, 7, 17)));
  items_.resize(7 * kRecord);
  ASSERT_TRUE(IsOk(writer.Commit()));
  ExpectCommitted();
}

TEST_P(ArraySeriesTest, LosingTheFrontTouchesNoChunk) {
  Writer writer = OpenWriter();
  AppendAndCommit(writer, 47);
  const Snapshot before = *frame_->Refresh();
  ASSERT_TRUE(IsOk(writer.DeleteSlices(0, 0, 30)));
  const Snapshot after = *writer.Commit();
  EXPECT_EQ(after.info().nchunks, 2);
  EXPECT_EQ(after.GetEntry(0)->fingerprint, before.GetEntry(3)->fingerprint);
  EXPECT_EQ(after.GetEntry(0)->offset, before.GetEntry(3)->offset);
  EXPECT_FALSE(after.GetEntry(1)->stored());
}

TEST_P(ArraySeriesTest, CheckpointsOfManyChunksAreMadeBesideCommits) {
  if (GetParam() == Layout::kSparse) GTEST_SKIP() << "checkpoints of sparse frames are small";
  auto env = std::make_shared<frame::FrameContext>(OpenOptions{});
  env->checkpoints = {.least_edits = 64, .least_gradual = 20, .use_thread = false};
  frame_.emplace(*Frame::Open(path_));
  Writer writer = frame::HandleAccess::Make(*frame::OpenWriter(*OpenCore(path_, env), {}));
  bool inherits = false;
  for (int i = 0; i < 800 && !inherits; ++i) {
    AppendAndCommit(writer, 1 + i % 7);
    const Snapshot now = Frame::Open(path_)->snapshot();
    const frame::Checkpoint& checkpoint = *frame::HandleAccess::StateOf(now).checkpoint;
    inherits = checkpoint.seal_holds && checkpoint.seal->journal.has_value();
  }
  EXPECT_TRUE(inherits);
  ExpectCommitted();
  AppendAndCommit(writer, 3);
  ExpectCommitted();
}

TEST(ArrayDeleteTest, TakesWholeCellsOfAGrid) {
  Frame frame = NewInMemory(OfArray({.shape = {4, 9}, .chunkshape = {2, 3}, .blockshape = {2, 3}}));
  Writer writer = *frame.OpenWriter();
  Buffer items = MakeNoise(36);
  ASSERT_TRUE(IsOk(writer.WriteBox(Extents{0, 0}, Extents{4, 9}, items)));
  ASSERT_TRUE(IsOk(writer.DeleteSlices(1, 3, 3)));
  for (int row = 3; row >= 0; --row) {
    items.erase(items.begin() + row * 9 + 3, items.begin() + row * 9 + 6);
  }
  const Snapshot snapshot = *writer.Commit();
  EXPECT_EQ(snapshot.array()->shape, (Extents{4, 6}));
  Buffer read(24);
  ASSERT_TRUE(IsOk(snapshot.ReadBox(Extents{0, 0}, Extents{4, 6}, read)));
  EXPECT_EQ(read, items);
  EXPECT_TRUE(snapshot.Verify()->ok());
}

}  // namespace
}  // namespace cairn::test
