// Tests what snapshots and uncommitted edits show, and which objects outlive others.
#include <filesystem>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "cairn/file_system.h"
#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::frame {
namespace {

using absl::StatusCode;
using test::Buffer;
using test::ExpectHolds;
using test::MakeItems;

CreateOptions WithMetalayer() {
  CreateOptions options = test::Cut(4, 1000);
  options.metalayers = {{.name = "fixed", .content = Buffer(8)}};
  return options;
}

// Stages one edit of each kind; the content afterwards is StagedContent().
void StageEdits(Writer& writer) {
  ASSERT_TRUE(IsOk(writer.Append(MakeItems(1500, 2))));
  ASSERT_TRUE(IsOk(writer.AppendSpecial(SpecialValue::kZeros, 500)));
  ASSERT_TRUE(IsOk(writer.Append(MakeItems(502, 3))));
  ASSERT_TRUE(IsOk(writer.SetMetalayer("fixed", MakeItems(8))));
  ASSERT_TRUE(IsOk(writer.SetVlmetalayer("kept", MakeItems(20))));
  ASSERT_TRUE(IsOk(writer.SetVlmetalayer("new", MakeItems(30))));
  ASSERT_TRUE(IsOk(writer.DeleteVlmetalayer("dropped")));
}

Buffer BaseContent() { return MakeItems(1200); }

Buffer StagedContent() {
  Buffer content = BaseContent();
  test::AddTo(content, MakeItems(1500, 2));
  test::AddTo(content, Buffer(2000));
  test::AddTo(content, MakeItems(502, 3));
  return content;
}

void ExpectBase(const Snapshot& snapshot) {
  ExpectHolds(snapshot, BaseContent());
  EXPECT_EQ(*snapshot.GetMetalayer("fixed"), Buffer(8));
  EXPECT_EQ(*snapshot.GetVlmetalayer("kept"), MakeItems(10));
  EXPECT_EQ(snapshot.vlmetalayers(), (std::vector<std::string>{"kept", "dropped"}));
}

void ExpectStaged(const Snapshot& snapshot) {
  ExpectHolds(snapshot, StagedContent());
  EXPECT_EQ(*snapshot.GetMetalayer("fixed"), MakeItems(8));
  EXPECT_EQ(*snapshot.GetVlmetalayer("kept"), MakeItems(20));
  EXPECT_EQ(*snapshot.GetVlmetalayer("new"), MakeItems(30));
  EXPECT_EQ(snapshot.vlmetalayers(), (std::vector<std::string>{"kept", "new"}));
}

// On disk through the map and without it.
class SnapshotTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    Frame frame = *Frame::Create(path_, WithMetalayer());
    Writer writer = *frame.OpenWriter();
    ASSERT_TRUE(IsOk(writer.Append(BaseContent())));
    ASSERT_TRUE(IsOk(writer.SetVlmetalayer("kept", MakeItems(10))));
    ASSERT_TRUE(IsOk(writer.SetVlmetalayer("dropped", {})));
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  Frame Open() const { return *Frame::Open(path_, {.use_mmap = GetParam()}); }

  const test::TempDir dir_;
  const std::string path_ = dir_.Path("frame");
};

INSTANTIATE_TEST_SUITE_P(, SnapshotTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "Mapped" : "Copied"; });

TEST_P(SnapshotTest, WriterSeesWhatItStagedAndOthersDoNot) {
  Frame frame = Open();
  Writer writer = *frame.OpenWriter();
  StageEdits(writer);
  ExpectStaged(*writer.StagedSnapshot());
  ExpectBase(frame.snapshot());
  ExpectBase(*frame.Refresh());
  ExpectBase(Open().snapshot());
  ExpectStaged(*writer.Commit());
  ExpectStaged(frame.snapshot());
  ExpectStaged(Open().snapshot());
}

TEST_P(SnapshotTest, StagedPartialChunkIsTheLastChunk) {
  Frame frame = Open();
  Writer writer = *frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer.Append(MakeItems(700))));
  const Snapshot staged = *writer.StagedSnapshot();
  EXPECT_EQ(staged.info().nchunks, 2);
  EXPECT_EQ(staged.info().nitems, 475);
  EXPECT_EQ(*staged.ChunkNbytes(1), 900);
  Buffer decoded(900);
  ASSERT_TRUE(IsOk(DecompressChunk(staged.GetChunk(1)->bytes(), decoded)));
  Buffer expected = ToVector(Bytes(BaseContent()).subspan(1000));
  test::AddTo(expected, MakeItems(700));
  EXPECT_EQ(decoded, expected);
}

TEST_P(SnapshotTest, RollbackForgets) {
  Frame frame = Open();
  Writer writer = *frame.OpenWriter();
  const uint64_t generation = frame.snapshot().info().generation;
  StageEdits(writer);
  writer.Rollback();
  ExpectBase(*writer.StagedSnapshot());
  EXPECT_EQ(writer.Commit()->info().generation, generation);
  StageEdits(writer);
  ExpectStaged(*writer.Commit());
  writer.Rollback();
  ExpectStaged(*writer.StagedSnapshot());
}

TEST_P(SnapshotTest, WriterThatGoesDropsWhatItStaged) {
  Frame frame = Open();
  {
    Writer writer = *frame.OpenWriter();
    StageEdits(writer);
  }
  ExpectBase(frame.snapshot());
  Writer writer = *frame.OpenWriter();
  ExpectBase(*writer.StagedSnapshot());
}

TEST_P(SnapshotTest, StagedSnapshotOutlivesRollbackAndLaterEdits) {
  Frame frame = Open();
  Writer writer = *frame.OpenWriter();
  StageEdits(writer);
  const Snapshot staged = *writer.StagedSnapshot();
  writer.Rollback();
  ASSERT_TRUE(IsOk(writer.Append(test::MakeNoise(5000))));
  ASSERT_TRUE(IsOk(writer.Commit()));
  ExpectStaged(staged);
  ASSERT_TRUE(IsOk(writer.Close()));
  ExpectStaged(staged);
}

// Edits that were staged after the snapshot never reached the file.
TEST_P(SnapshotTest, WriterGoesOnAfterARollbackThatAStagedSnapshotOutlives) {
  Frame frame = Open();
  Writer writer = *frame.OpenWriter();
  StageEdits(writer);
  const Snapshot staged = *writer.StagedSnapshot();
  ASSERT_TRUE(IsOk(writer.Append(test::MakeNoise(5000))));
  writer.Rollback();
  StageEdits(writer);
  ExpectStaged(*writer.StagedSnapshot());
  ExpectStaged(staged);
  ExpectStaged(*writer.Commit());
}

// As long as if nothing had been staged and rolled back.
TEST_P(SnapshotTest, RollbackLeavesNothingDeadOnceTheStagedSnapshotIsGone) {
  std::vector<uintmax_t> sizes;
  for (const int ends : {0, 1, 2}) {  // before the rollback, after it; none was there
    const std::string path = dir_.Path(std::to_string(ends));
    ASSERT_TRUE(std::filesystem::copy_file(path_, path));
    Frame frame = *Frame::Open(path, {.use_mmap = GetParam()});
    Writer writer = *frame.OpenWriter();
    if (ends < 2) {
      ASSERT_TRUE(IsOk(writer.Append(test::MakeNoise(50000))));
      std::optional<Snapshot> staged = *writer.StagedSnapshot();
      if (ends == 0) staged.reset();
      writer.Rollback();
    }
    ASSERT_TRUE(IsOk(writer.Append(test::MakeNoise(5000))));
    ASSERT_TRUE(IsOk(writer.Close()));
    sizes.push_back(std::filesystem::file_size(path));
  }
  EXPECT_EQ(sizes[0], sizes[2]);
  EXPECT_EQ(sizes[1], sizes[2]);
}

TEST_P(SnapshotTest, SnapshotStaysThroughCommitsCloseAndTheEndOfAll) {
  std::optional<Snapshot> base;
  std::optional<Snapshot> middle;
  {
    Frame frame = Open();
    base = frame.snapshot();
    Writer writer = *frame.OpenWriter();
    StageEdits(writer);
    middle = *writer.Commit();
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(IsOk(writer.Append(test::MakeNoise(3000))));
      ASSERT_TRUE(IsOk(writer.SetMetalayer("fixed", MakeItems(8, 77))));
      ASSERT_TRUE(IsOk(writer.Commit()));
    }
    ExpectBase(*base);
    ExpectStaged(*middle);
    ASSERT_TRUE(IsOk(writer.Close()));
    ExpectBase(*base);
  }
  ExpectBase(*base);
  ExpectStaged(*middle);
  ASSERT_TRUE(IsOk(PosixFileSystem()->Remove(path_)));
  ExpectBase(*base);
  ExpectStaged(*middle);
}

TEST_P(SnapshotTest, ChunkOutlivesEverything) {
  std::vector<Chunk> chunks;
  const std::vector<Buffer> expected = test::ChunksOf(Open().snapshot());
  {
    Frame frame = Open();
    Writer writer = *frame.OpenWriter();
    for (int64_t i = 0; i < 2; ++i) chunks.push_back(*frame.snapshot().GetChunk(i));
    ASSERT_TRUE(IsOk(writer.Append(test::MakeNoise(9000))));
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  ASSERT_TRUE(IsOk(PosixFileSystem()->Remove(path_)));
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(ToVector(chunks[i].bytes()), expected[i]);
}

TEST_P(SnapshotTest, ClosedWriterRefusesEverything) {
  Frame frame = Open();
  Writer writer = *frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer.Close()));
  constexpr auto kRefused = StatusCode::kFailedPrecondition;
  EXPECT_EQ(writer.Append(MakeItems(4)).code(), kRefused);
  EXPECT_EQ(writer.AppendCompressed(MakeItems(4)).code(), kRefused);
  EXPECT_EQ(writer.AppendSpecial(SpecialValue::kZeros, 1).code(), kRefused);
  EXPECT_EQ(writer.SetMetalayer("fixed", Buffer(8)).code(), kRefused);
  EXPECT_EQ(writer.SetVlmetalayer("new", {}).code(), kRefused);
  EXPECT_EQ(writer.DeleteVlmetalayer("kept").code(), kRefused);
  EXPECT_EQ(writer.StagedSnapshot().status().code(), kRefused);
  EXPECT_EQ(writer.Commit().status().code(), kRefused);
  EXPECT_EQ(writer.Checkpoint().code(), kRefused);
  EXPECT_EQ(writer.Close().code(), kRefused);
  writer.Rollback();
  ExpectBase(Open().snapshot());
}

TEST_P(SnapshotTest, SecondWriterWaitsForTheFirst) {
  Frame frame = Open();
  std::optional<Writer> writer = *frame.OpenWriter();
  EXPECT_EQ(frame.OpenWriter().status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(Open().OpenWriter().status().code(), StatusCode::kUnavailable);
  writer.reset();
  EXPECT_TRUE(IsOk(Open().OpenWriter()));
}

TEST_P(SnapshotTest, RefreshFindsTheCommitOfAnother) {
  Frame reader = Open();
  const Snapshot before = reader.snapshot();
  Frame frame = Open();
  Writer writer = *frame.OpenWriter();
  StageEdits(writer);
  ASSERT_TRUE(IsOk(writer.Commit()));
  ExpectBase(reader.snapshot());
  ExpectStaged(*reader.Refresh());
  ExpectStaged(reader.snapshot());
  ExpectBase(before);
}

TEST_P(SnapshotTest, PendingItemsAreVerified) {
  Writer writer = *Open().OpenWriter();
  ASSERT_TRUE(IsOk(writer.DeleteChunks(0, writer.StagedSnapshot()->info().nchunks)));
  for (const size_t size : {40, 1000, 40}) {
    ASSERT_TRUE(IsOk(writer.Append(MakeItems(size, 5))));
    const absl::StatusOr<Snapshot> snapshot = writer.Commit();
    ASSERT_TRUE(IsOk(snapshot));
    for (const VerifyDepth depth :
         {VerifyDepth::kStructure, VerifyDepth::kFingerprints, VerifyDepth::kContents}) {
      const absl::StatusOr<VerifyReport> report = snapshot->Verify({.depth = depth});
      ASSERT_TRUE(IsOk(report));
      EXPECT_TRUE(report->ok());
    }
  }
}

TEST_P(SnapshotTest, PartialChunkHasTheItemSizeOfTheOthers) {
  const Snapshot snapshot = [&] {
    Writer writer = *Open().OpenWriter();
    EXPECT_TRUE(IsOk(writer.Append(MakeItems(40, 5))));
    return *writer.Commit();
  }();
  const int64_t last = snapshot.info().nchunks - 1;
  const absl::StatusOr<Chunk> chunk = snapshot.GetChunk(last);
  ASSERT_TRUE(IsOk(chunk));
  EXPECT_EQ(InspectChunk(chunk->bytes())->typesize, snapshot.info().typesize);
  Buffer whole(static_cast<size_t>(*snapshot.ChunkNbytes(last)));
  ASSERT_TRUE(IsOk(snapshot.ReadChunk(last, whole)));
  Buffer item(static_cast<size_t>(snapshot.info().typesize));
  ASSERT_TRUE(IsOk(DecompressItems(chunk->bytes(), 3, item)));
  EXPECT_EQ(item, ToVector(Bytes(whole).subspan(3 * item.size(), item.size())));
}

TEST(SnapshotFile, IsThatOfThePathUntilACompactionMakesAnother) {
  const test::TempDir directory;
  const std::string path = directory.Path("f.b2frame");
  auto frame = Frame::Create(path, test::Cut(4, 1000));
  ASSERT_TRUE(IsOk(frame.status()));
  const Snapshot before = frame->snapshot();
  EXPECT_EQ(before.file(), *PosixFileSystem()->Identity(path));
  ASSERT_TRUE(IsOk(frame->Compact().status()));
  const auto after = frame->Refresh();
  ASSERT_TRUE(IsOk(after.status()));
  EXPECT_EQ(after->file(), *PosixFileSystem()->Identity(path));
  EXPECT_NE(before.file(), after->file());
}

}  // namespace
}  // namespace cairn::frame
