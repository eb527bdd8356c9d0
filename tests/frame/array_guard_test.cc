// Tests that chunks and metalayer of an array agree, and that a disagreement made by others is
// seen.
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/format/b2nd.h"
#include "tests/support/array_model.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

using Extents = std::vector<int64_t>;
using enum absl::StatusCode;

ArrayInfo TypedArray() {
  ArrayInfo array = SmallArray();
  array.dtype = "|u1";
  return array;
}

CompressionOptions Blocks(int32_t blocksize) {
  CompressionOptions options;
  options.blocksize = blocksize;
  return options;
}

void ExpectRefusesToRecut(Writer& writer) {
  const Buffer chunk = Compressed(MakeItems(24), Blocks(6));
  const std::string_view part = "resize it, append along an axis or write a box instead";
  EXPECT_TRUE(Fails(writer.Append(MakeItems(24)), kFailedPrecondition, part));
  EXPECT_TRUE(Fails(writer.AppendCompressed(chunk), kFailedPrecondition, part));
  EXPECT_TRUE(Fails(writer.AppendSpecial(SpecialValue::kZeros, 24), kFailedPrecondition, part));
  EXPECT_TRUE(Fails(writer.InsertChunk(1, MakeItems(24)), kFailedPrecondition, part));
  EXPECT_TRUE(Fails(writer.InsertCompressed(1, chunk), kFailedPrecondition, part));
  EXPECT_TRUE(Fails(writer.DeleteChunks(3, 1), kFailedPrecondition, part));
  EXPECT_TRUE(Fails(writer.ReorderChunks(Extents{3, 2, 1, 0}), kFailedPrecondition, part));
  // A last chunk of a size of its own.
  EXPECT_TRUE(Fails(writer.UpdateChunk(3, MakeItems(23)), kFailedPrecondition, "of 24 bytes"));
  EXPECT_TRUE(Fails(writer.UpdateCompressed(3, Compressed(MakeItems(23), Blocks(6))),
                    kFailedPrecondition, "of 24 bytes"));
  EXPECT_TRUE(Fails(writer.UpdateCompressed(3, Compressed(MakeItems(24), Blocks(12))),
                    kFailedPrecondition, "blocks of 6 bytes, got 12"));
}

TEST(ArrayGuardTest, RefusesEditsOfItsChunks) {
  const TempDir dir;
  Frame frame = *Frame::Create(dir.Path("a"), OfArray(TypedArray()));
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ExpectRefusesToRecut(*writer);
  EXPECT_EQ(ContentOf(*writer->StagedSnapshot()), Buffer(96));
  // Nor with other edits staged, or committed to the journal.
  ASSERT_TRUE(IsOk(writer->WriteBox(Extents{0, 0}, Extents{1, 1}, Buffer(1, std::byte{1}))));
  ExpectRefusesToRecut(*writer);
  ASSERT_TRUE(IsOk(writer->Commit()));
  ExpectRefusesToRecut(*writer);
}

TEST(ArrayGuardTest, TakesEditsThatLeaveChunksWhatTheyAre) {
  Frame frame = NewInMemory(OfArray(TypedArray()));
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  EXPECT_TRUE(IsOk(writer->UpdateChunk(3, MakeItems(24))));
  EXPECT_TRUE(IsOk(writer->UpdateCompressed(2, Compressed(MakeItems(24), Blocks(6)))));
  EXPECT_TRUE(IsOk(writer->WriteItems(20, MakeItems(10))));
  EXPECT_TRUE(IsOk(writer->Append({})));
  EXPECT_TRUE(IsOk(writer->AppendSpecial(SpecialValue::kZeros, 0)));
  EXPECT_TRUE(IsOk(writer->DeleteChunks(1, 0)));
  const auto snapshot = writer->Commit();
  ASSERT_TRUE(IsOk(snapshot));
  EXPECT_TRUE(snapshot->Verify()->ok());
}

TEST(ArrayGuardTest, GuardsAnArrayThatIsBeingBuilt) {
  const TempDir dir;
  auto writer = Frame::BeginCreate(dir.Path("a"), OfArray(TypedArray()));
  ASSERT_TRUE(IsOk(writer));
  ExpectRefusesToRecut(*writer);
  writer->Rollback();
  ExpectRefusesToRecut(*writer);
}

TEST(ArrayGuardTest, GuardsAnArrayWithoutItems) {
  Frame frame = NewInMemory(OfArray({.shape = {0, 7}, .chunkshape = {3, 5}, .blockshape = {2, 3}}));
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  EXPECT_TRUE(Fails(writer->Append(MakeItems(24)), kFailedPrecondition, "resize it"));
}

// A frame whose chunks and metalayer may disagree, made as others may.
Frame HandMade(const TempDir& dir, const ArrayInfo& array, size_t nbytes, int32_t chunksize = 24,
               int32_t blocksize = 6) {
  CreateOptions options = Cut(1, chunksize);
  options.compression.blocksize = blocksize;
  options.overwrite = true;
  options.metalayers = {{"b2nd", format::EncodeB2nd(array)}};
  auto writer = Frame::BeginCreate(dir.Path("f"), options);
  EXPECT_TRUE(IsOk(writer));
  EXPECT_TRUE(IsOk(writer->Append(MakeNoise(nbytes))));
  EXPECT_TRUE(IsOk(writer->Close()));
  return *Frame::Open(dir.Path("f"));
}

std::string FindingOf(const Frame& frame, VerifyDepth depth) {
  const auto report = frame.snapshot().Verify({.depth = depth});
  if (!report.ok()) return report.status().ToString();
  std::string all;
  for (const Finding& finding : report->findings) all += finding.section + ": " + finding.reason;
  return all;
}

TEST(ArrayGuardTest, VerifyNamesWhatDoesNotFit) {
  const TempDir dir;
  const auto finds = [&](const ArrayInfo& array, size_t nbytes, int32_t chunksize = 24,
                         int32_t blocksize = 6) {
    const Frame frame = HandMade(dir, array, nbytes, chunksize, blocksize);
    const std::string found = FindingOf(frame, VerifyDepth::kContents);
    EXPECT_EQ(FindingOf(frame, VerifyDepth::kStructure), found);
    return found;
  };
  EXPECT_EQ(finds(TypedArray(), 96), "");
  EXPECT_EQ(finds(TypedArray(), 120), "metalayer b2nd: array: needs 4 chunks, the frame has 5");
  EXPECT_EQ(finds(TypedArray(), 72), "metalayer b2nd: array: needs 4 chunks, the frame has 3");
  EXPECT_EQ(finds({{0}, {24}, {6}, "|u1"}, 24),
            "metalayer b2nd: array: needs 0 chunks, the frame has 1");
  EXPECT_EQ(finds(TypedArray(), 100, 25),
            "metalayer b2nd: array: needs chunks of 24 bytes, the frame's chunksize is 25");
  EXPECT_EQ(finds(TypedArray(), 90),
            "metalayer b2nd: array: needs 96 bytes in 4 chunks, the frame holds 90");
  EXPECT_EQ(finds(TypedArray(), 96, 24, 12),
            "metalayer b2nd: array: needs blocks of 6 bytes, the frame's blocksize is 12");
  ArrayInfo other = TypedArray();
  other.dtype = "<f4";
  EXPECT_EQ(finds(other, 96),
            "metalayer b2nd: array: dtype <f4 has items of 4 bytes, the typesize is 1");
}

TEST(ArrayGuardTest, VerifyNamesAChunkThatIsCutOtherwise) {
  const TempDir dir;
  CreateOptions options = Cut(1, 24);
  options.metalayers = {{"b2nd", format::EncodeB2nd(TypedArray())}};
  auto writer = Frame::BeginCreate(dir.Path("f"), options);
  ASSERT_TRUE(IsOk(writer));
  for (const int32_t blocksize : {6, 6, 12, 6}) {
    ASSERT_TRUE(IsOk(writer->AppendCompressed(Compressed(MakeItems(24), Blocks(blocksize)))));
  }
  ASSERT_TRUE(IsOk(writer->Close()));
  const Frame frame = *Frame::Open(dir.Path("f"));
  for (const VerifyDepth depth : {VerifyDepth::kStructure, VerifyDepth::kContents}) {
    EXPECT_EQ(FindingOf(frame, depth), "chunk 2: chunk 2: array: needs blocks of 6 bytes, got 12");
  }
}

TEST(ArrayGuardTest, VerifyNamesAMetalayerThatIsNone) {
  CreateOptions options = Cut(1, 10);
  options.metalayers = {{"caterva", Buffer(5)}};
  const Frame frame = NewInMemory(options);
  EXPECT_TRUE(FindingOf(frame, VerifyDepth::kStructure).starts_with("metalayer caterva: "));
}

TEST(ArrayGuardTest, VerifyTakesWhatOthersSayOfItemsWithoutAType) {
  const TempDir dir;
  CreateOptions options = Cut(4, 24);
  options.compression.blocksize = 24;
  options.metalayers = {{"b2nd", format::EncodeB2nd({{6}, {6}, {6}, "|u1"})}};
  auto writer = Frame::BeginCreate(dir.Path("f"), options);
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(24))));
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_EQ(FindingOf(*Frame::Open(dir.Path("f")), VerifyDepth::kContents), "");
}

TEST(ArrayGuardTest, VerifyChecksArraysOfTheMostDimensions) {
  const std::vector<int32_t> ones(kMaxDimensions, 1);
  const TempDir dir;
  const Frame frame = HandMade(dir, {Extents(kMaxDimensions, 1), ones, ones, "|u1"}, 1, 1, 1);
  const auto report = frame.snapshot().Verify();
  ASSERT_TRUE(IsOk(report));
  EXPECT_TRUE(report->ok());
  EXPECT_TRUE(report->notes.empty());
}

// This array has one dimension, so its items lie as in a frame without an array.
TEST(ArrayGuardTest, LineIsOnlyReadWhereItsShapeIsThatOfItsChunks) {
  const TempDir dir;
  const std::vector<int64_t> items = {0, 7};
  Buffer dst(2);
  for (const int64_t extent : {25, 48}) {
    const Frame frame = HandMade(dir, {{extent}, {24}, {6}, "|u1"}, 48);
    EXPECT_TRUE(IsOk(frame.snapshot().ReadItems(0, dst))) << extent;
    EXPECT_TRUE(IsOk(frame.snapshot().ReadItemsAt(items, dst))) << extent;
  }
  for (const int64_t extent : {24, 8, 49, 100}) {
    const Snapshot line = HandMade(dir, {{extent}, {24}, {6}, "|u1"}, 48).snapshot();
    EXPECT_TRUE(IsDamage(line.ReadItems(0, dst), "array: needs")) << extent;
    EXPECT_TRUE(IsDamage(line.ReadItemsAt(items, dst), "array: needs")) << extent;
    const FieldSpan field = {.offset = 0, .size = 1, .dst = dst};
    EXPECT_TRUE(IsDamage(line.ReadFields(0, 2, {&field, 1}), "array: needs")) << extent;
  }
}

TEST(ArrayGuardTest, FrameThatDisagreesCanBeMended) {
  const TempDir dir;
  Frame frame = HandMade(dir, TypedArray(), 120);
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->DeleteChunks(4, 1)));
  const auto mended = writer->Commit();
  ASSERT_TRUE(IsOk(mended));
  EXPECT_TRUE(mended->Verify()->ok());
  EXPECT_TRUE(Fails(writer->DeleteChunks(3, 1), kFailedPrecondition, "resize it"));
}

TEST(ArrayGuardTest, FrameThatIsMendedGetsBlocksOfTheArray) {
  const TempDir dir;
  Frame frame = HandMade(dir, TypedArray(), 120, 24, 12);
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->DeleteChunks(4, 1)));
  ASSERT_TRUE(IsOk(writer->Commit()));
  ASSERT_TRUE(IsOk(writer->WriteBox(Extents{0, 0}, Extents{5, 7}, MakeNoise(35))));
  const auto snapshot = writer->Commit();
  ASSERT_TRUE(IsOk(snapshot));
  EXPECT_EQ(InspectChunk(snapshot->GetChunk(0)->bytes())->blocksize, 6);
}

TEST(ArrayGuardTest, LeavesFreeShapesToTheProgram) {
  TempDir dir;
  CreateOptions options = OfArray(TypedArray());
  auto frame = Frame::Create(dir.Path("a.b2nd"), options);
  ASSERT_TRUE(IsOk(frame));
  auto writer = frame->OpenWriter({.free_shapes = true});
  ASSERT_TRUE(IsOk(writer));
  ArrayInfo larger = TypedArray();
  larger.shape = {7, 7};
  // Chunks first, then the shape, and the other way round.
  const Buffer chunk = Compressed(MakeItems(24), Blocks(6));
  EXPECT_TRUE(IsOk(writer->InsertCompressed(4, chunk)));
  EXPECT_TRUE(IsOk(writer->InsertCompressed(5, chunk)));
  EXPECT_TRUE(IsOk(writer->SetMetalayer("b2nd", format::EncodeB2nd(larger))));
  auto snapshot = writer->Commit();
  ASSERT_TRUE(IsOk(snapshot));
  Buffer items(49);
  EXPECT_TRUE(IsOk(snapshot->ReadBox(Extents{0, 0}, Extents{7, 7}, items)));
  EXPECT_TRUE(IsOk(writer->SetMetalayer("b2nd", format::EncodeB2nd(TypedArray()))));
  EXPECT_TRUE(IsOk(writer->Commit()));
  EXPECT_TRUE(IsOk(writer->DeleteChunks(4, 2)));
  EXPECT_TRUE(IsOk(writer->Checkpoint()));
  items.resize(35);
  snapshot = frame->Refresh();
  ASSERT_TRUE(IsOk(snapshot));
  EXPECT_TRUE(IsOk(snapshot->ReadBox(Extents{0, 0}, Extents{5, 7}, items)));
}

TEST(ArrayGuardTest, TakesMetalayersThatFitTheChunksAlone) {
  Frame frame = NewInMemory(OfArray(TypedArray()));
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  const auto set = [&](const ArrayInfo& array) {
    return writer->SetMetalayer("b2nd", format::EncodeB2nd(array));
  };
  const auto refuses = [&](const ArrayInfo& array, std::string_view part) {
    return Fails(set(array), kFailedPrecondition, part);
  };
  ArrayInfo other = TypedArray();
  EXPECT_TRUE(Fails(writer->SetMetalayer("b2nd", Buffer(53)), kFailedPrecondition,
                    "does not fit the chunks"));
  EXPECT_TRUE(Fails(writer->SetMetalayer("b2nd", Buffer(5)), kInvalidArgument, "keeps its size"));
  EXPECT_TRUE(Fails(writer->SetMetalayer("caterva", Buffer(5)), kNotFound, "caterva"));
  other.shape = {50, 7};
  EXPECT_TRUE(refuses(other, "needs 34 chunks, the frame has 4"));
  other = TypedArray();
  other.chunkshape = {3, 7};
  EXPECT_TRUE(refuses(other, "needs 2 chunks"));
  other.chunkshape = {3, 6};
  other.blockshape = {1, 3};
  EXPECT_TRUE(refuses(other, "needs chunks of 18 bytes"));
  other = TypedArray();
  other.blockshape = {1, 6};
  EXPECT_TRUE(refuses(other, "needs chunks of 18 bytes"));
  other.chunkshape = {4, 6};
  other.blockshape = {2, 2};
  EXPECT_TRUE(refuses(other, "needs blocks of 4 bytes"));
  other = TypedArray();
  other.dtype = "<i2";
  EXPECT_TRUE(refuses(other, "dtype <i2 has items of 2 bytes"));
  EXPECT_EQ(writer->StagedSnapshot()->array(), TypedArray());
  // This shape has equal chunks.
  other = TypedArray();
  other.shape = {6, 6};
  EXPECT_TRUE(IsOk(set(other)));
  other.dtype = "|i1";
  EXPECT_TRUE(IsOk(set(other)));
  EXPECT_EQ(writer->Commit()->array(), other);
}

}  // namespace
}  // namespace cairn::test
