#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::frame {
namespace {

using test::Buffer;
using test::ChunksOf;
using test::Cut;
using test::ExpectHolds;
using test::MakeItems;

void AppendInPieces(Writer& writer, Bytes items, size_t piece) {
  while (!items.empty()) {
    const size_t n = std::min(piece, items.size());
    ASSERT_TRUE(IsOk(writer.Append(items.first(n))));
    items = items.subspan(n);
  }
}

std::vector<Buffer> ChunksOfPieces(int32_t typesize, Bytes items, size_t piece) {
  Frame frame = test::NewInMemory(Cut(typesize, 1000));
  Writer writer = *frame.OpenWriter();
  AppendInPieces(writer, items, piece);
  EXPECT_TRUE(IsOk(writer.Close()));
  ExpectHolds(frame.snapshot(), items);
  return ChunksOf(frame.snapshot());
}

std::vector<int32_t> SizesOfChunks(const Snapshot& snapshot) {
  std::vector<int32_t> sizes;
  for (int64_t i = 0; i < snapshot.info().nchunks; ++i) sizes.push_back(*snapshot.ChunkNbytes(i));
  return sizes;
}

std::vector<SpecialValue> Specials(const Snapshot& snapshot) {
  std::vector<SpecialValue> specials;
  for (int64_t i = 0; i < snapshot.info().nchunks; ++i) {
    specials.push_back(snapshot.GetEntry(i)->special);
  }
  return specials;
}

// Returns the state that every Blosc2 would see.
Snapshot Checkpointed(Frame& frame, Writer& writer) {
  EXPECT_TRUE(IsOk(writer.Checkpoint()));
  return frame.snapshot();
}

TEST(AppendTest, PieceSizesDoNotChangeTheChunks) {
  const Buffer items = MakeItems(10'007);
  for (const int32_t typesize : {1, 3, 4, 300}) {
    SCOPED_TRACE(typesize);
    const std::vector<Buffer> expected = ChunksOfPieces(typesize, items, items.size());
    for (const size_t piece : {1, 7, 899, 900, 999, 1000, 1001, 3000}) {
      EXPECT_EQ(ChunksOfPieces(typesize, items, piece), expected) << "pieces of " << piece;
    }
  }
}

TEST(AppendTest, ChunksAreCutAtCompleteItemsOfTheChunksize) {
  Frame frame = test::NewInMemory(Cut(3, 1000));
  Writer writer = *frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer.Append(MakeItems(2100))));
  ASSERT_TRUE(IsOk(writer.Close()));
  EXPECT_EQ(frame.snapshot().info().chunksize, 999);
  EXPECT_EQ(SizesOfChunks(frame.snapshot()), (std::vector<int32_t>{999, 999, 102}));
}

TEST(AppendTest, ChunksHoldAtLeastOneItem) {
  Frame frame = test::NewInMemory(Cut(300, 10));
  Writer writer = *frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer.Append(MakeItems(900))));
  EXPECT_EQ(SizesOfChunks(*writer.Commit()), (std::vector<int32_t>{300, 300, 300}));
}

TEST(AppendTest, PartialChunkGoesOnAfterCommit) {
  const Buffer items = MakeItems(5300);
  Frame frame = test::NewInMemory(Cut(4, 1000));
  Writer writer = *frame.OpenWriter();
  for (size_t begin = 0; begin < items.size(); begin += 530) {
    ASSERT_TRUE(IsOk(writer.Append(Bytes(items).subspan(begin, 530))));
    const Snapshot snapshot = *writer.Commit();
    ExpectHolds(snapshot, Bytes(items).first(begin + 530));
  }
  EXPECT_EQ(ChunksOf(Checkpointed(frame, writer)), ChunksOfPieces(4, items, items.size()));
}

TEST(AppendTest, PartialChunkGoesOnAfterCloseAndReopen) {
  const test::TempDir dir;
  const std::string path = dir.Path("frame");
  const Buffer items = MakeItems(2100);
  ASSERT_TRUE(IsOk(Frame::Create(path, Cut(4, 1000))));
  for (size_t begin = 0; begin < items.size(); begin += 300) {
    Frame frame = *Frame::Open(path);
    EXPECT_EQ(frame.snapshot().info().chunksize, 1000);
    Writer writer = *frame.OpenWriter();
    ASSERT_TRUE(IsOk(writer.Append(Bytes(items).subspan(begin, 300))));
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  const Snapshot snapshot = Frame::Open(path)->snapshot();
  ExpectHolds(snapshot, items);
  EXPECT_EQ(ChunksOf(snapshot), ChunksOfPieces(4, items, items.size()));
}

TEST(AppendTest, PartialChunkOfZerosGoesOn) {
  Frame frame = test::NewInMemory(Cut(4, 1000));
  Writer writer = *frame.OpenWriter();
  Buffer items(1500);
  ASSERT_TRUE(IsOk(writer.Append(items)));
  EXPECT_EQ(Specials(Checkpointed(frame, writer)), std::vector(2, SpecialValue::kZeros));
  ASSERT_TRUE(IsOk(writer.Append(MakeItems(700))));
  test::AddTo(items, MakeItems(700));
  const Snapshot snapshot = *writer.Commit();
  ExpectHolds(snapshot, items);
  EXPECT_EQ(Specials(snapshot),
            (std::vector{SpecialValue::kZeros, SpecialValue::kNone, SpecialValue::kNone}));
}

TEST(AppendTest, EachCallMakesAChunkOfAFrameOfVariableChunks) {
  const std::vector<int32_t> sizes = {1, 4, 7, 3000, 12, 5000};
  const Buffer items = MakeItems(static_cast<size_t>(std::reduce(sizes.begin(), sizes.end())));
  Frame frame = test::NewInMemory(Cut(4, ChunkSize::Variable()));
  Writer writer = *frame.OpenWriter();
  size_t begin = 0;
  for (const int32_t size : sizes) {
    const auto n = static_cast<size_t>(size);
    ASSERT_TRUE(IsOk(writer.Append(Bytes(items).subspan(begin, n))));
    begin += n;
    ExpectHolds(*writer.Commit(), Bytes(items).first(begin));
  }
  EXPECT_EQ(SizesOfChunks(frame.snapshot()), sizes);
  EXPECT_TRUE(frame.snapshot().info().variable_chunks);
  EXPECT_EQ(frame.snapshot().info().format_version, 3);
}

TEST(AppendTest, LastItemNeedNotBeComplete) {
  const Buffer items = MakeItems(1003);
  Frame frame = test::NewInMemory(Cut(4, 100));
  Writer writer = *frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer.Append(Bytes(items).first(950))));
  const Snapshot cut = *writer.Commit();
  EXPECT_EQ(cut.info().nitems, 237);
  ExpectHolds(cut, Bytes(items).first(950));
  Buffer item(4);
  EXPECT_TRUE(IsOk(cut.ReadItems(236, item)));
  EXPECT_EQ(cut.ReadItems(237, item).code(), absl::StatusCode::kOutOfRange);
  ASSERT_TRUE(IsOk(writer.Append(Bytes(items).subspan(950))));
  ExpectHolds(*writer.Commit(), items);
}

TEST(AppendTest, ChunksOfZerosLieInTheIndexOfAFixedFrame) {
  Buffer items(200);
  test::AddTo(items, MakeItems(100));
  test::AddTo(items, Buffer(140));
  Frame frame = test::NewInMemory(Cut(4, 100));
  Writer writer = *frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer.Append(items)));
  const Snapshot snapshot = Checkpointed(frame, writer);
  ExpectHolds(snapshot, items);
  constexpr auto kZeros = SpecialValue::kZeros;
  EXPECT_EQ(Specials(snapshot), (std::vector{kZeros, kZeros, SpecialValue::kNone, kZeros, kZeros}));
  EXPECT_FALSE(snapshot.GetEntry(0)->stored());
  EXPECT_GT(snapshot.GetEntry(2)->offset, 0);
}

TEST(AppendTest, ChunkOfZerosWithAPartOfAnItemIsStored) {
  Frame frame = test::NewInMemory(Cut(4, 100));
  Writer writer = *frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer.Append(Buffer(150))));
  const Snapshot snapshot = *writer.Commit();
  ExpectHolds(snapshot, Buffer(150));
  EXPECT_EQ(Specials(snapshot), (std::vector{SpecialValue::kZeros, SpecialValue::kNone}));
  EXPECT_EQ(InspectChunk(snapshot.GetChunk(1)->bytes())->special, SpecialValue::kNone);
}

TEST(AppendTest, ChunksOfZerosAreStoredInAFrameOfVariableChunks) {
  Frame frame = test::NewInMemory(Cut(4, ChunkSize::Variable()));
  Writer writer = *frame.OpenWriter();
  for (const size_t size : {size_t{4}, size_t{100}, size_t{100'000}}) {
    ASSERT_TRUE(IsOk(writer.Append(Buffer(size))));
  }
  const Snapshot snapshot = *writer.Commit();
  ExpectHolds(snapshot, Buffer(100'104));
  for (int64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(snapshot.GetEntry(i)->special, SpecialValue::kNone);
    EXPECT_EQ(InspectChunk(snapshot.GetChunk(i)->bytes())->special, SpecialValue::kNone);
  }
}

TEST(AppendTest, AppendingNothingEditsNothing) {
  for (const ChunkSize chunksize : {ChunkSize(100), ChunkSize::Variable()}) {
    Frame frame = test::NewInMemory(Cut(4, chunksize));
    Writer writer = *frame.OpenWriter();
    ASSERT_TRUE(IsOk(writer.Append(MakeItems(8))));
    const uint64_t generation = writer.Commit()->info().generation;
    ASSERT_TRUE(IsOk(writer.Append({})));
    EXPECT_EQ(writer.Commit()->info().generation, generation);
    EXPECT_EQ(frame.snapshot().info().nchunks, 1);
  }
}

}  // namespace
}  // namespace cairn::frame
