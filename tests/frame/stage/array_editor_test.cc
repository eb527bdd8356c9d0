// Arrays that change their shape.
#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/support/array_model.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

using Extents = std::vector<int64_t>;

BoxPlace AllOf(const Extents& shape) { return {Extents(shape.size()), shape}; }

absl::StatusOr<Buffer> ReadWhole(const Snapshot& snapshot) {
  const BoxPlace all = AllOf(snapshot.array()->shape);
  Buffer items(static_cast<size_t>(CountItems(all.shape) * snapshot.info().typesize));
  const absl::Status status = snapshot.ReadBox(all.start, all.shape, items);
  if (!status.ok()) return status;
  return items;
}

void ExpectArray(const Snapshot& snapshot, const ArrayModel& model) {
  ASSERT_TRUE(snapshot.array().has_value());
  ASSERT_EQ(snapshot.array()->shape, model.shape());
  const auto items = ReadWhole(snapshot);
  ASSERT_TRUE(IsOk(items));
  ASSERT_EQ(*items, model.items());
  const auto report = snapshot.Verify();
  ASSERT_TRUE(IsOk(report));
  ASSERT_TRUE(report->ok()) << report->findings.at(0).reason;
}

// The example, filled with ones.
Writer OfOnes(Frame& frame, ArrayModel* model) {
  auto writer = frame.OpenWriter();
  EXPECT_TRUE(IsOk(writer));
  const Buffer ones(35, std::byte{1});
  EXPECT_TRUE(IsOk(writer->WriteBox(Extents{0, 0}, Extents{5, 7}, ones)));
  model->Write(AllOf({5, 7}), ones);
  return *std::move(writer);
}

// Returns the model in another shape, with zeros for new items.
ArrayModel Resized(const ArrayModel& model, const Extents& shape, int32_t typesize) {
  ArrayModel resized(shape, typesize);
  BoxPlace kept = AllOf(shape);
  for (size_t d = 0; d < shape.size(); ++d) {
    kept.shape[d] = std::min(shape[d], model.shape()[d]);
  }
  resized.Write(kept, model.Read(kept));
  return resized;
}

TEST(ArrayEditorTest, GrowsByZerosAndShrinksToWhatIsLeft) {
  Frame frame = NewInMemory(OfArray(SmallArray()));
  ArrayModel model({5, 7}, 1);
  Writer writer = OfOnes(frame, &model);
  for (const Extents& shape : {Extents{9, 12}, Extents{4, 12}, Extents{4, 2}, Extents{1, 1},
                               Extents{8, 8}, Extents{0, 8}, Extents{0, 3}, Extents{5, 7}}) {
    SCOPED_TRACE(testing::PrintToString(shape));
    ASSERT_TRUE(IsOk(writer.ResizeArray(shape)));
    model = Resized(model, shape, 1);
    const auto staged = writer.StagedSnapshot();
    ASSERT_TRUE(IsOk(staged));
    ExpectArray(*staged, model);
    const auto committed = writer.Commit();
    ASSERT_TRUE(IsOk(committed));
    ExpectArray(*committed, model);
    ASSERT_TRUE(IsOk(writer.Checkpoint()));
    ExpectArray(frame.snapshot(), model);
  }
}

TEST(ArrayEditorTest, LeavesZerosInThePaddingOfWhatItCuts) {
  Frame frame = NewInMemory(OfArray(SmallArray()));
  ArrayModel model({5, 7}, 1);
  Writer writer = OfOnes(frame, &model);
  ASSERT_TRUE(IsOk(writer.ResizeArray(Extents{2, 4})));
  const auto snapshot = writer.Commit();
  ASSERT_TRUE(IsOk(snapshot));
  ASSERT_EQ(snapshot->info().nchunks, 1);
  // 2 x 4 ones in blocks of 2 x 3.
  EXPECT_EQ(
      ContentOf(*snapshot),
      Buffer({std::byte{1}, std::byte{1}, std::byte{1}, std::byte{1}, std::byte{1}, std::byte{1},
              std::byte{1}, {},           {},           std::byte{1}, {},           {},
              {},           {},           {},           {},           {},           {},
              {},           {},           {},           {},           {},           {}}));
}

TEST(ArrayEditorTest, ShowsNothingOfWhatOthersLeftInThePadding) {
  // C-Blosc2 leaves what was cut off beyond the edge.
  Frame frame = NewInMemory(OfArray(SmallArray()));
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  for (int64_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(IsOk(writer->UpdateChunk(i, Buffer(24, std::byte{1}))));
  }
  ASSERT_TRUE(IsOk(writer->ResizeArray(Extents{6, 9})));
  ArrayModel model({6, 9}, 1);
  model.Write(AllOf({5, 7}), Buffer(35, std::byte{1}));
  const auto snapshot = writer->Commit();
  ASSERT_TRUE(IsOk(snapshot));
  ExpectArray(*snapshot, model);
}

TEST(ArrayEditorTest, ReadsAndWritesOnlyTheEdgeThatMoves) {
  // Chunk 0 cannot be read, and lies on no edge.
  CreateOptions options = OfArray({.shape = {6, 5}, .chunkshape = {2, 5}, .blockshape = {2, 5}});
  Frame frame = NewInMemory(options);
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->WriteBox(Extents{0, 0}, Extents{6, 5}, MakeNoise(30))));
  ASSERT_TRUE(IsOk(writer->Commit()));
  const auto before = frame.Refresh();
  ASSERT_TRUE(IsOk(before));
  ASSERT_TRUE(IsOk(writer->ResizeArray(Extents{9, 5})));
  ASSERT_TRUE(IsOk(writer->AppendSlices(0, MakeNoise(5, 2))));
  const auto after = writer->Commit();
  ASSERT_TRUE(IsOk(after));
  ASSERT_EQ(after->info().nchunks, 5);
  for (int64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(after->GetEntry(i)->offset, before->GetEntry(i)->offset) << i;
  }
  EXPECT_EQ(after->GetEntry(3)->special, SpecialValue::kZeros);
  EXPECT_GE(after->GetEntry(4)->offset, 0);
}

TEST(ArrayEditorTest, AppendsAlongAnyAxis) {
  for (int axis = 0; axis < 2; ++axis) {
    Frame frame = NewInMemory(OfArray(SmallArray()));
    ArrayModel model({5, 7}, 1);
    Writer writer = OfOnes(frame, &model);
    const auto d = static_cast<size_t>(axis);
    for (int64_t slices = 1; slices < 6; ++slices) {
      SCOPED_TRACE(testing::Message() << slices << " along " << axis);
      BoxPlace added = AllOf(model.shape());
      added.start[d] = added.shape[d];
      added.shape[d] = slices;
      const Buffer items = MakeItems(model.NbytesOf(added), static_cast<uint64_t>(slices));
      Extents shape = model.shape();
      shape[d] += slices;
      model = Resized(model, shape, 1);
      model.Write(added, items);
      ASSERT_TRUE(IsOk(writer.AppendSlices(axis, items)));
      const auto committed = writer.Commit();
      ASSERT_TRUE(IsOk(committed));
      ExpectArray(*committed, model);
    }
  }
}

TEST(ArrayEditorTest, ChecksTheArgumentsOfAnAppend) {
  Frame frame = NewInMemory(OfArray(SmallArray(), 2));
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  using enum absl::StatusCode;
  EXPECT_TRUE(Fails(writer->AppendSlices(-1, Buffer(14)), kOutOfRange, "axis -1"));
  EXPECT_TRUE(Fails(writer->AppendSlices(2, Buffer(14)), kOutOfRange, "has 2 dimensions"));
  EXPECT_TRUE(Fails(writer->AppendSlices(0, Buffer(15)), kInvalidArgument,
                    "15 bytes are not a multiple of 14, the bytes of a slice along axis 0"));
  EXPECT_TRUE(Fails(writer->AppendSlices(1, Buffer(4)), kInvalidArgument,
                    "4 bytes are not a multiple of 10"));
  EXPECT_TRUE(IsOk(writer->AppendSlices(0, {})));
  EXPECT_EQ(writer->StagedSnapshot()->array()->shape, (Extents{5, 7}));
  ASSERT_TRUE(IsOk(writer->ResizeArray(Extents{5, 0})));
  EXPECT_TRUE(Fails(writer->AppendSlices(0, Buffer(2)), kInvalidArgument,
                    "2 bytes are not a multiple of 0"));
  EXPECT_TRUE(IsOk(writer->AppendSlices(1, Buffer(10, std::byte{1}))));
}

TEST(ArrayEditorTest, ChecksShapes) {
  Frame frame = NewInMemory(OfArray(SmallArray(), 2));
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  using enum absl::StatusCode;
  EXPECT_TRUE(Fails(writer->ResizeArray(Extents{5}), kInvalidArgument, "the array has 2"));
  EXPECT_TRUE(Fails(writer->ResizeArray(Extents{5, -1}), kInvalidArgument, "shape -1"));
  EXPECT_TRUE(
      Fails(writer->ResizeArray(Extents{int64_t{1} << 62, 7}), kInvalidArgument, "over 2^63"));
  EXPECT_TRUE(Fails(writer->ResizeArray(Extents{int64_t{1} << 40, 7}), kResourceExhausted,
                    "frame: more than 268"));
  EXPECT_EQ(writer->StagedSnapshot()->array()->shape, (Extents{5, 7}));
  Frame other = NewInMemory(Cut(1, 100));
  auto plain = other.OpenWriter();
  ASSERT_TRUE(IsOk(plain));
  EXPECT_TRUE(Fails(plain->ResizeArray({}), kFailedPrecondition, "holds no n-dimensional array"));
  EXPECT_TRUE(Fails(plain->AppendSlices(0, {}), kFailedPrecondition, "no n-dimensional array"));
}

TEST(ArrayEditorTest, IsPartOfOneCommit) {
  const TempDir dir;
  Frame frame = *Frame::Create(dir.Path("a"), OfArray(SmallArray()));
  {
    ArrayModel model({5, 7}, 1);
    Writer writer = OfOnes(frame, &model);
    ASSERT_TRUE(IsOk(writer.Commit()));
    ASSERT_TRUE(IsOk(writer.ResizeArray(Extents{9, 9})));
    ASSERT_TRUE(IsOk(writer.WriteBox(Extents{8, 8}, Extents{1, 1}, Buffer(1, std::byte{7}))));
    EXPECT_EQ(frame.Refresh()->array()->shape, (Extents{5, 7}));
    writer.Rollback();
    EXPECT_EQ(writer.StagedSnapshot()->array()->shape, (Extents{5, 7}));
    ASSERT_TRUE(IsOk(writer.ResizeArray(Extents{9, 9})));
    ASSERT_TRUE(IsOk(writer.SetVlmetalayer("why", Buffer(3))));
    ASSERT_TRUE(IsOk(writer.Commit()));
    ASSERT_TRUE(IsOk(writer.ResizeArray(Extents{1, 1})));
  }
  // The writer died before it committed the last one; what it did commit is in the journal.
  const Snapshot snapshot = Frame::Open(dir.Path("a"))->snapshot();
  EXPECT_GT(snapshot.info().journal_size, 0);
  ArrayModel model({5, 7}, 1);
  model.Write(AllOf({5, 7}), Buffer(35, std::byte{1}));
  ExpectArray(snapshot, Resized(model, {9, 9}, 1));
  EXPECT_TRUE(IsOk(snapshot.GetVlmetalayer("why")));
}

TEST(ArrayEditorTest, GoesToANewFileWhereTheMetalayerPassesTheFirstSector) {
  const TempDir dir;
  CreateOptions options = OfArray(SmallArray());
  options.array->dtype = "[('" + std::string(1000, 'x') + "', '|u1')]";
  Frame frame = *Frame::Create(dir.Path("a"), options);
  ArrayModel model({5, 7}, 1);
  Writer writer = OfOnes(frame, &model);
  ASSERT_TRUE(IsOk(writer.Commit()));
  ASSERT_TRUE(IsOk(writer.ResizeArray(Extents{4, 20})));
  ASSERT_TRUE(IsOk(writer.Close()));
  ExpectArray(Frame::Open(dir.Path("a"))->snapshot(), Resized(model, {4, 20}, 1));
}

TEST(ArrayEditorTest, WorksInSparseFrames) {
  const TempDir dir;
  CreateOptions options = OfArray(SmallArray());
  options.layout = Layout::kSparse;
  Frame frame = *Frame::Create(dir.Path("a"), options);
  ArrayModel model({5, 7}, 1);
  Writer writer = OfOnes(frame, &model);
  ASSERT_TRUE(IsOk(writer.ResizeArray(Extents{2, 12})));
  ASSERT_TRUE(IsOk(writer.Close()));
  ExpectArray(Frame::Open(dir.Path("a"))->snapshot(), Resized(model, {2, 12}, 1));
}

TEST(ArrayEditorTest, ShrinksPastAChunkThatCannotBeRead) {
  const TempDir dir;
  auto frame =
      Frame::Create(dir.Path("a"), OfArray({.shape = {63}, .chunkshape = {32}, .blockshape = {8}}));
  ASSERT_TRUE(IsOk(frame));
  auto writer = frame->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->WriteBox(Extents{0}, Extents{63}, MakeNoise(63))));
  ASSERT_TRUE(IsOk(writer->Close()));
  {
    std::fstream file(dir.Path("a"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(frame->snapshot().GetEntry(1)->offset.value());
    file << std::string(40, 'x');
  }
  frame = Frame::Open(dir.Path("a"));
  ASSERT_TRUE(IsOk(frame));
  writer = frame->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  // An edit that must read a damaged chunk first is refused, and changes nothing.
  EXPECT_TRUE(IsDamage(writer->ResizeArray(Extents{40}), "chunk 1"));
  EXPECT_TRUE(IsDamage(writer->ResizeArray(Extents{65}), "chunk 1"));
  EXPECT_TRUE(IsDamage(writer->AppendSlices(0, Buffer(2)), "chunk 1"));
  EXPECT_EQ(writer->StagedSnapshot()->array()->shape, (Extents{63}));
  ASSERT_TRUE(IsOk(writer->ResizeArray(Extents{30})));
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_TRUE(frame->Refresh()->Verify()->ok());
}

void EditLikeModel(int ndim, int32_t typesize, ArrayMaker& maker) {
  const TempDir dir;
  const ArrayInfo array = maker.MakeArray(ndim);
  SCOPED_TRACE(testing::PrintToString(array));
  CreateOptions options = OfArray(array, typesize);
  if (maker.Between(0, 5) == 0) options.layout = Layout::kSparse;
  ASSERT_TRUE(IsOk(Frame::Create(dir.Path("a"), options)));
  ArrayModel model(array.shape, typesize);
  ArrayModel committed = model;
  auto frame = Frame::Open(dir.Path("a"));
  ASSERT_TRUE(IsOk(frame));
  auto writer = frame->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  for (int edits = 0; edits < 14; ++edits) {
    Extents shape = model.shape();
    const auto d = static_cast<size_t>(maker.Between(0, ndim - 1));
    const int64_t kind = maker.Between(0, 7);
    if (kind == 0) {
      const bool none = CountItems(shape) == 0;
      const BoxPlace box = none ? AllOf(shape) : maker.MakeBox(shape);
      const Buffer items = maker.MakeItems(model.NbytesOf(box));
      ASSERT_TRUE(IsOk(writer->WriteBox(box.start, box.shape, items))) << box;
      model.Write(box, items);
    } else if (kind == 1) {
      BoxPlace added = AllOf(shape);
      added.start[d] = shape[d];
      added.shape[d] = maker.Between(1, 4);
      const Buffer items = maker.MakeItems(model.NbytesOf(added));
      if (items.empty()) continue;
      shape[d] += added.shape[d];
      model = Resized(model, shape, typesize);
      model.Write(added, items);
      ASSERT_TRUE(IsOk(writer->AppendSlices(static_cast<int>(d), items)));
    } else if (kind == 2) {
      ASSERT_TRUE(
          IsOk(maker.Between(0, 1) == 0 ? writer->Checkpoint() : writer->Commit().status()));
      committed = model;
      *frame = *Frame::Open(dir.Path("a"));
      ExpectArray(frame->snapshot(), model);
    } else if (kind == 3) {
      writer->Rollback();
      model = committed;
    } else {
      for (int64_t& extent : shape) {
        if (maker.Between(0, 1) == 0) extent = maker.Between(0, 2 * extent + 2);
      }
      if (CountItems(shape) > 2000) continue;
      ASSERT_TRUE(IsOk(writer->ResizeArray(shape)));
      model = Resized(model, shape, typesize);
    }
    const auto staged = writer->StagedSnapshot();
    ASSERT_TRUE(IsOk(staged));
    ASSERT_NO_FATAL_FAILURE(ExpectArray(*staged, model));
  }
}

TEST(ArrayEditorTest, RandomShapesEqualTheModel) {
  ArrayMaker maker(3);
  for (int ndim = 1; ndim <= 5; ++ndim) {
    for (int i = 0; i < 6; ++i) {
      EditLikeModel(ndim, i % 3 == 0 ? 4 : 1, maker);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(ArrayEditorTest, IsCutIntoChosenShapesWhereNoneAreGiven) {
  const ArrayInfo given = {.shape = {0, 100}, .chunkshape = {}, .blockshape = {}};
  Frame frame = NewInMemory(OfArray(given, 8));
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  const Buffer items = MakeItems(3000 * 800);
  ASSERT_TRUE(IsOk(writer->AppendSlices(0, items)));
  ASSERT_TRUE(IsOk(writer->Close()));
  const Snapshot snapshot = frame.snapshot();
  EXPECT_EQ(snapshot.array()->shape, (Extents{3000, 100}));
  EXPECT_EQ(snapshot.array()->chunkshape, (std::vector<int32_t>{1310, 100}));
  const auto read = ReadWhole(snapshot);
  ASSERT_TRUE(IsOk(read));
  EXPECT_EQ(*read, items);
}

}  // namespace
}  // namespace cairn::test
