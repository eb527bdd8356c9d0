#include <array>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"

namespace cairn::frame {
namespace {

using absl::StatusCode;
using test::Buffer;
using test::Compressed;
using test::Cut;
using test::ExpectHolds;
using test::MakeItems;
using test::OfTypesize;

// Byte positions in a chunk's header.
constexpr size_t kVersionByte = 0x00;
constexpr size_t kFlagsByte = 0x02;
constexpr size_t kBlosc2FlagsByte = 0x1F;

class AppendCompressedTest : public testing::Test {
 protected:
  // Appends the chunk to the empty frame and gives it as it is stored.
  Buffer Stored(Bytes chunk) {
    EXPECT_TRUE(IsOk(writer_.AppendCompressed(chunk)));
    const absl::StatusOr<Snapshot> snapshot = writer_.Commit();
    EXPECT_TRUE(IsOk(snapshot));
    EXPECT_EQ(snapshot->info().nchunks, 1);
    return test::ChunksOf(*snapshot)[0];
  }

  Frame frame_ = test::NewInMemory(Cut(4, 1000));
  Writer writer_ = *frame_.OpenWriter();
};

TEST_F(AppendCompressedTest, ChunkStaysAsItIs) {
  CompressionOptions options = OfTypesize(4);
  options.codec = Codec::kZstd;
  options.filters = {{.filter = Filter::kBitShuffle}};
  const Buffer items = MakeItems(1000);
  const Buffer chunk = Compressed(items, options);
  EXPECT_EQ(Stored(chunk), chunk);
  ExpectHolds(frame_.snapshot(), items);
}

TEST_F(AppendCompressedTest, BytesAfterTheChunkAreLeftOut) {
  const Buffer chunk = Compressed(MakeItems(1000), OfTypesize(4));
  Buffer longer = chunk;
  test::AddTo(longer, MakeItems(10));
  EXPECT_EQ(Stored(longer), chunk);
}

TEST_F(AppendCompressedTest, ShortChunkCanOnlyBeTheLast) {
  ASSERT_TRUE(IsOk(writer_.AppendCompressed(Compressed(MakeItems(1000), OfTypesize(4)))));
  ASSERT_TRUE(IsOk(writer_.AppendCompressed(Compressed(MakeItems(400), OfTypesize(4)))));
  const Buffer more = Compressed(MakeItems(1000), OfTypesize(4));
  EXPECT_EQ(writer_.AppendCompressed(more).code(), StatusCode::kFailedPrecondition);
  ASSERT_TRUE(IsOk(writer_.Commit()));
  EXPECT_EQ(writer_.AppendCompressed(more).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(frame_.snapshot().info().nchunks, 2);
  // Items fill it up; then chunks may follow again.
  ASSERT_TRUE(IsOk(writer_.Append(MakeItems(600))));
  EXPECT_TRUE(IsOk(writer_.AppendCompressed(more)));
  EXPECT_EQ(writer_.Commit()->info().nbytes, 3000);
}

TEST_F(AppendCompressedTest, NoChunkFollowsAPartialChunk) {
  ASSERT_TRUE(IsOk(writer_.Append(MakeItems(1200))));
  EXPECT_EQ(writer_.AppendCompressed(Compressed(MakeItems(1000), OfTypesize(4))).code(),
            StatusCode::kFailedPrecondition);
  ExpectHolds(*writer_.Commit(), MakeItems(1200));
}

TEST_F(AppendCompressedTest, RefusedChunksChangeNothing) {
  ASSERT_TRUE(IsOk(writer_.Append(MakeItems(1000))));
  const uint64_t generation = writer_.Commit()->info().generation;
  const auto refusal = [this](Bytes chunk) { return writer_.AppendCompressed(chunk).code(); };
  EXPECT_EQ(refusal(Compressed(MakeItems(1004), OfTypesize(4))), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal(Compressed(MakeItems(1000), OfTypesize(2))), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal(Compressed({}, OfTypesize(4))), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal(test::CompressedVl(MakeItems(1000), std::array<size_t, 1>{1000}, 4)),
            StatusCode::kFailedPrecondition);
  EXPECT_EQ(refusal({}), StatusCode::kDataLoss);
  const Buffer whole = Compressed(MakeItems(1000), OfTypesize(4));
  EXPECT_EQ(refusal(Bytes(whole).first(whole.size() - 1)), StatusCode::kDataLoss);
  EXPECT_EQ(writer_.Commit()->info().generation, generation);
  ExpectHolds(frame_.snapshot(), MakeItems(1000));
}

TEST_F(AppendCompressedTest, ChunkWithAShortHeaderIsCodedAgain) {
  CompressionOptions options = OfTypesize(4);
  options.format = ChunkFormat::kBlosc1;
  const Buffer items = MakeItems(1000);
  const Buffer chunk = Compressed(items, options);
  ASSERT_FALSE(InspectChunk(chunk)->extended);
  const ChunkInfo stored = *InspectChunk(Stored(chunk));
  EXPECT_EQ(stored.version, 5);
  EXPECT_TRUE(stored.extended);
  ExpectHolds(frame_.snapshot(), items);
}

// C-Blosc2 writes such ones when it is asked for chunks of Blosc1.
TEST_F(AppendCompressedTest, ChunkOfVersion5WithAShortHeaderIsCodedAgain) {
  CompressionOptions options = OfTypesize(4);
  options.format = ChunkFormat::kBlosc1;
  const Buffer items = test::MakeNoise(1000);  // a memcpyed chunk: all versions of it are the same
  Buffer chunk = Compressed(items, options);
  ASSERT_TRUE(InspectChunk(chunk)->memcpyed);
  chunk[kVersionByte] = std::byte{5};
  EXPECT_TRUE(InspectChunk(Stored(chunk))->extended);
  ExpectHolds(frame_.snapshot(), items);
}

TEST_F(AppendCompressedTest, ChunkOfVersion4IsCodedAgain) {
  const Buffer items = MakeItems(1000);
  Buffer chunk = Compressed(items, OfTypesize(4));
  chunk[kVersionByte] = std::byte{4};
  EXPECT_EQ(InspectChunk(Stored(chunk))->version, 5);
  ExpectHolds(frame_.snapshot(), items);
}

TEST_F(AppendCompressedTest, DictionaryBitOfAMemcpyedChunkIsCleared) {
  const Buffer items = test::MakeNoise(1000);
  const Buffer chunk = Compressed(items, OfTypesize(4));
  ASSERT_TRUE(InspectChunk(chunk)->memcpyed);
  Buffer marked = chunk;
  marked[kBlosc2FlagsByte] |= std::byte{1};
  const Buffer stored = Stored(marked);
  EXPECT_EQ(stored[kBlosc2FlagsByte] & std::byte{1}, std::byte{0});
  EXPECT_EQ(stored[kFlagsByte], chunk[kFlagsByte]);
  ExpectHolds(frame_.snapshot(), items);
}

TEST_F(AppendCompressedTest, RepeatedValueOfTheTypesizeIsStored) {
  const Buffer value = MakeItems(4);
  const Buffer chunk = *MakeSpecialChunk(SpecialValue::kRepeat, 1000, value, OfTypesize(4));
  EXPECT_EQ(Stored(chunk), chunk);
  ExpectHolds(frame_.snapshot(), test::Repeated(value, 1000));
}

TEST_F(AppendCompressedTest, RepeatedValueOfAnotherWidthIsCodedAgain) {
  const Buffer value = MakeItems(8);
  const Buffer chunk = *MakeSpecialChunk(SpecialValue::kRepeat, 1000, value, OfTypesize(4));
  EXPECT_EQ(InspectChunk(Stored(chunk))->special, SpecialValue::kNone);
  ExpectHolds(frame_.snapshot(), test::Repeated(value, 1000));
}

TEST_F(AppendCompressedTest, ValuesOfTheIndexAreNotStored) {
  for (const SpecialValue special :
       {SpecialValue::kZeros, SpecialValue::kNans, SpecialValue::kUninit}) {
    const Buffer chunk = *MakeSpecialChunk(special, 1000, {}, OfTypesize(4));
    ASSERT_TRUE(IsOk(writer_.AppendCompressed(chunk)));
  }
  const Snapshot snapshot = *writer_.Commit();
  EXPECT_EQ(snapshot.info().cbytes, 0);
  EXPECT_EQ(snapshot.GetEntry(0)->special, SpecialValue::kZeros);
  EXPECT_EQ(snapshot.GetEntry(1)->special, SpecialValue::kNans);
  EXPECT_EQ(snapshot.GetEntry(2)->special, SpecialValue::kUninit);
}

TEST(AppendCompressedToVariableTest, ValuesWithoutDataAreStoredAsBlocks) {
  Frame frame = test::NewInMemory(Cut(4, ChunkSize::Variable()));
  Writer writer = *frame.OpenWriter();
  const Buffer chunk = *MakeSpecialChunk(SpecialValue::kZeros, 600, {}, OfTypesize(4));
  ASSERT_TRUE(IsOk(writer.AppendCompressed(chunk)));
  ASSERT_TRUE(IsOk(writer.AppendCompressed(Compressed(MakeItems(50), OfTypesize(4)))));
  ASSERT_TRUE(IsOk(writer.AppendCompressed(Compressed(MakeItems(5000), OfTypesize(4)))));
  const Snapshot snapshot = *writer.Commit();
  EXPECT_EQ(snapshot.GetEntry(0)->special, SpecialValue::kNone);
  Buffer items(600);
  test::AddTo(items, MakeItems(50));
  test::AddTo(items, MakeItems(5000));
  ExpectHolds(snapshot, items);
}

TEST(AppendVlChunkTest, FrameOfVariableBlocksReadsBack) {
  for (const ChunkSize chunksize : {ChunkSize(1000), ChunkSize::Variable()}) {
    SCOPED_TRACE(chunksize.nbytes().value_or(0));
    Frame frame = test::NewInMemory(Cut(4, chunksize));
    Writer writer = *frame.OpenWriter();
    const Buffer items = MakeItems(2500);
    const std::array<size_t, 3> sizes = {1, 700, 299};
    const std::array<size_t, 2> last = {77, 423};
    for (const size_t begin : {size_t{0}, size_t{1000}}) {
      const Bytes part = Bytes(items).subspan(begin, 1000);
      ASSERT_TRUE(IsOk(writer.AppendCompressed(test::CompressedVl(part, sizes, 4))));
    }
    ASSERT_TRUE(
        IsOk(writer.AppendCompressed(test::CompressedVl(Bytes(items).subspan(2000), last, 4))));
    const Snapshot snapshot = *writer.Commit();
    EXPECT_TRUE(snapshot.info().vlblocks);
    EXPECT_EQ(snapshot.info().format_version, 3);
    ExpectHolds(snapshot, items);
    EXPECT_EQ(*BlockSizes(snapshot.GetChunk(1)->bytes()), (std::vector<int32_t>{1, 700, 299}));
  }
}

TEST(AppendVlChunkTest, FrameOfVariableBlocksTakesNothingElse) {
  Frame frame = test::NewInMemory(Cut(4, 1000));
  Writer writer = *frame.OpenWriter();
  const Buffer items = MakeItems(1000);
  ASSERT_TRUE(
      IsOk(writer.AppendCompressed(test::CompressedVl(items, std::array<size_t, 1>{1000}, 4))));
  EXPECT_EQ(writer.AppendCompressed(Compressed(items, OfTypesize(4))).code(),
            StatusCode::kFailedPrecondition);
  EXPECT_EQ(writer.Append(items).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(writer.AppendSpecial(SpecialValue::kZeros, 250).code(),
            StatusCode::kFailedPrecondition);
  ExpectHolds(*writer.Commit(), items);
  EXPECT_EQ(writer.Append(items).code(), StatusCode::kFailedPrecondition);
}

TEST(AppendVlChunkTest, FrameOfVariableBlocksThatWasEmptiedTakesOrdinaryChunks) {
  const Buffer items = MakeItems(1000);
  const Buffer variable = test::CompressedVl(items, std::array<size_t, 2>{300, 700}, 4);
  // Emptied in the commit that appends again, by one that stays in the journal, or that is
  // checkpointed.
  for (const int commits : {0, 1, 2}) {
    SCOPED_TRACE(commits);
    Frame frame = test::NewInMemory(Cut(4, 1000));
    Writer writer = *frame.OpenWriter();
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(IsOk(writer.AppendCompressed(variable)));
    ASSERT_TRUE(IsOk(writer.Commit()));
    ASSERT_TRUE(IsOk(writer.DeleteChunks(0, 1)));
    EXPECT_EQ(writer.Append(items).code(), StatusCode::kFailedPrecondition) << "one is left";
    ASSERT_TRUE(IsOk(writer.DeleteChunks(0, 1)));
    EXPECT_FALSE(writer.StagedSnapshot()->info().vlblocks);
    if (commits == 1) {
      EXPECT_FALSE(writer.Commit()->info().vlblocks);
    } else if (commits == 2) {
      ASSERT_TRUE(IsOk(writer.Checkpoint()));
    }
    ASSERT_TRUE(IsOk(writer.Append(items)));
    const Snapshot snapshot = *writer.Commit();
    EXPECT_FALSE(snapshot.info().vlblocks);
    ExpectHolds(snapshot, items);
    EXPECT_EQ(writer.AppendCompressed(variable).code(), StatusCode::kFailedPrecondition);
    ASSERT_TRUE(IsOk(writer.Close()));
    const Buffer bytes = frame.snapshot().ToBuffer().value();
    ExpectHolds(Frame::OpenBuffer(bytes)->snapshot(), items);
  }
}

}  // namespace
}  // namespace cairn::frame
