// N-dimensional arrays: making them, and reading and writing boxes of them.
#include "cairn/array.h"

#include <algorithm>
#include <string>

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

const ArrayInfo kExample = {.shape = {5, 7}, .chunkshape = {3, 5}, .blockshape = {2, 3}};

Buffer FromOneOn(int count) {
  Buffer items;
  for (int i = 1; i <= count; ++i) items.push_back(static_cast<std::byte>(i));
  return items;
}

absl::StatusOr<Buffer> ReadBox(const Snapshot& snapshot, const BoxPlace& box) {
  const int64_t count = CountItems(box.shape);
  Buffer items(static_cast<size_t>(std::max<int64_t>(count, 0) * snapshot.info().typesize));
  const absl::Status status = snapshot.ReadBox(box.start, box.shape, items);
  if (!status.ok()) return status;
  return items;
}

// A frame that holds `content` and has a metalayer written by hand.
Snapshot FrameOf(Bytes content, const Metalayer& layer, CreateOptions options) {
  options.metalayers = {layer};
  Frame frame = NewInMemory(options);
  auto writer = frame.OpenWriter();
  EXPECT_TRUE(IsOk(writer));
  EXPECT_TRUE(IsOk(writer->Append(content)));
  EXPECT_TRUE(IsOk(writer->Close()));
  return frame.snapshot();
}

Metalayer LayerOf(const ArrayInfo& array) { return {"b2nd", format::EncodeB2nd(array)}; }

TEST(ArrayTest, NewOneIsZerosThatTakeNoRoom) {
  const Frame frame = NewInMemory(OfArray({{100, 100}, {30, 40}, {10, 10}, "<f4"}, 4));
  const Snapshot snapshot = frame.snapshot();
  EXPECT_EQ(snapshot.array(), (ArrayInfo{{100, 100}, {30, 40}, {10, 10}, "<f4"}));
  EXPECT_EQ(snapshot.info().nchunks, 12);
  EXPECT_EQ(snapshot.info().chunksize, 30 * 40 * 4);
  EXPECT_EQ(snapshot.info().blocksize, 10 * 10 * 4);
  EXPECT_EQ(snapshot.info().cbytes, 0);
  EXPECT_EQ(snapshot.metalayers().at(0).name, "b2nd");
  for (int64_t i = 0; i < 12; ++i) {
    EXPECT_EQ(snapshot.GetEntry(i)->special, SpecialValue::kZeros) << i;
  }
  const auto items = ReadBox(snapshot, {{0, 0}, {100, 100}});
  ASSERT_TRUE(IsOk(items));
  EXPECT_EQ(*items, Buffer(40000));
}

TEST(ArrayTest, LaysItemsOutInBlocksAndPadsWithZeros) {
  Frame frame = NewInMemory(OfArray(kExample));
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->WriteBox({{0, 0}}, {{5, 7}}, FromOneOn(35))));
  const auto snapshot = writer->Commit();
  ASSERT_TRUE(IsOk(snapshot));
  Buffer chunk(24);
  ASSERT_TRUE(IsOk(snapshot->ReadChunk(0, chunk)));
  const int expected[] = {1,  2,  3,  8, 9, 10, 4,  5,  0, 11, 12, 0,
                          15, 16, 17, 0, 0, 0,  18, 19, 0, 0,  0,  0};
  EXPECT_TRUE(std::ranges::equal(chunk, expected, {},
                                 [](std::byte byte) { return std::to_integer<int>(byte); }));
}

TEST(ArrayTest, FillsInTheTypeThatNumPyWouldRead) {
  EXPECT_EQ(NewInMemory(OfArray(kExample, 1)).snapshot().array()->dtype, "|u1");
  EXPECT_EQ(NewInMemory(OfArray(kExample, 12)).snapshot().array()->dtype, "|V12");
}

// Writes, commits, reopens and reads at random.
void CompareWithModel(const ArrayInfo& array, int32_t typesize, ArrayMaker& maker) {
  const TempDir dir;
  const std::string path = dir.Path("a.b2nd");
  CreateOptions options = OfArray(array, typesize);
  if (maker.Between(0, 1) == 0) options.compression.clevel = 0;
  if (maker.Between(0, 3) == 0) options.compression.filters = {{.filter = Filter::kDelta}};
  ASSERT_TRUE(IsOk(Frame::Create(path, options)));
  ArrayModel model(array.shape, typesize);
  for (int turn = 0; turn < 3; ++turn) {
    OpenOptions open;
    open.use_mmap = maker.Between(0, 1) == 0;
    auto frame = Frame::Open(path, open);
    ASSERT_TRUE(IsOk(frame));
    auto writer = frame->OpenWriter();
    ASSERT_TRUE(IsOk(writer));
    for (int64_t writes = maker.Between(1, 3); writes > 0; --writes) {
      const BoxPlace box = maker.MakeBox(array.shape);
      const Buffer items = maker.MakeItems(model.NbytesOf(box));
      ASSERT_TRUE(IsOk(writer->WriteBox(box.start, box.shape, items))) << box;
      model.Write(box, items);
    }
    const auto staged = writer->StagedSnapshot();
    ASSERT_TRUE(IsOk(staged));
    const auto committed = writer->Commit();
    ASSERT_TRUE(IsOk(committed));
    for (int reads = 0; reads < 8; ++reads) {
      const BoxPlace box = maker.MakeBox(array.shape);
      const auto items = ReadBox(reads < 4 ? *staged : *committed, box);
      ASSERT_TRUE(IsOk(items)) << box;
      ASSERT_EQ(*items, model.Read(box)) << box;
    }
    const auto report = committed->Verify();
    ASSERT_TRUE(IsOk(report));
    ASSERT_TRUE(report->ok());
  }
}

TEST(ArrayTest, RandomBoxesEqualTheModel) {
  ArrayMaker maker(1);
  constexpr int32_t kTypesizes[] = {1, 2, 3, 4, 8, 300};
  for (int ndim = 0; ndim <= kMaxDimensions; ++ndim) {
    for (const int32_t typesize : kTypesizes) {
      for (int i = 0; i < 2; ++i) {
        const ArrayInfo array = maker.MakeArray(ndim);
        SCOPED_TRACE(testing::PrintToString(array) + " of " + std::to_string(typesize));
        CompareWithModel(array, typesize, maker);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(ArrayTest, ReadsOnlyTheBlocksThatABoxTouches) {
  // A block whose position is damaged cannot be read.
  CreateOptions options = OfArray({{64, 64}, {64, 64}, {16, 16}});
  options.compression.filters = {};
  Frame frame = NewInMemory(options);
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  Buffer items(64 * 64);
  for (size_t i = 0; i < items.size(); ++i) items[i] = static_cast<std::byte>(1 + i / 64 % 50);
  ASSERT_TRUE(IsOk(writer->WriteBox({{0, 0}}, {{64, 64}}, items)));
  ASSERT_TRUE(IsOk(writer->Close()));
  auto bytes = frame.snapshot().ToBuffer();
  ASSERT_TRUE(IsOk(bytes));
  const auto entry = frame.snapshot().GetEntry(0);
  ASSERT_TRUE(IsOk(entry));
  ASSERT_TRUE(entry->offset.has_value());
  // The position of block 5, the second in the second row of blocks.
  const auto at = static_cast<std::ptrdiff_t>(*entry->offset + 32 + 4 * 5);
  std::fill_n(bytes->begin() + at, 4, std::byte{0xFF});
  OpenOptions open;
  open.verify = VerifyPolicy::kNever;
  const auto damaged = Frame::OpenBuffer(*bytes, open);
  ASSERT_TRUE(IsOk(damaged));
  ArrayModel model({64, 64}, 1);
  model.Write({{0, 0}, {64, 64}}, items);
  const Snapshot snapshot = damaged->snapshot();
  for (const BoxPlace& box : {BoxPlace{{0, 0}, {16, 64}}, BoxPlace{{16, 0}, {48, 16}},
                              BoxPlace{{10, 32}, {30, 32}}, BoxPlace{{32, 0}, {32, 64}}}) {
    const auto part = ReadBox(snapshot, box);
    ASSERT_TRUE(IsOk(part)) << box;
    EXPECT_EQ(*part, model.Read(box)) << box;
  }
  for (const BoxPlace& box : {BoxPlace{{16, 16}, {1, 1}}, BoxPlace{{31, 31}, {1, 1}}}) {
    EXPECT_TRUE(IsDamage(ReadBox(snapshot, box), "chunk 0: ")) << box;
  }
}

TEST(ArrayTest, ReadsChunksThatAreCutIntoOtherBlocks) {
  ArrayMaker maker(2);
  for (int i = 0; i < 100; ++i) {
    const ArrayInfo array = maker.MakeArray(static_cast<int>(maker.Between(1, 4)));
    SCOPED_TRACE(testing::PrintToString(array));
    Frame frame = NewInMemory(OfArray(array, 2));
    auto writer = frame.OpenWriter();
    ASSERT_TRUE(IsOk(writer));
    ArrayModel model(array.shape, 2);
    const BoxPlace all{std::vector<int64_t>(array.shape.size()), array.shape};
    model.Write(all, maker.MakeItems(model.NbytesOf(all)));
    ASSERT_TRUE(IsOk(writer->WriteBox(all.start, all.shape, model.items())));
    const auto own = writer->Commit();
    ASSERT_TRUE(IsOk(own));

    CreateOptions options;
    options.compression = OfTypesize(2);
    options.compression.blocksize = static_cast<int32_t>(2 * maker.Between(1, 40));
    options.compression.clevel = 1;
    options.chunksize = own->info().chunksize.value();
    const Snapshot other = FrameOf(ContentOf(*own), LayerOf(array), options);
    for (int reads = 0; reads < 5; ++reads) {
      const BoxPlace box = maker.MakeBox(array.shape);
      const auto items = ReadBox(other, box);
      ASSERT_TRUE(IsOk(items)) << box;
      ASSERT_EQ(*items, model.Read(box)) << box;
    }
  }
}

TEST(ArrayTest, ReadsTheOlderNameWithoutAType) {
  Buffer content = format::EncodeB2nd(kExample);
  content.resize(content.size() - 6);
  const Snapshot snapshot = FrameOf(Buffer(4 * 24, std::byte{7}), {"caterva", content}, Cut(1, 24));
  EXPECT_EQ(snapshot.array(), kExample);
  const auto items = ReadBox(snapshot, {{4, 6}, {1, 1}});
  ASSERT_TRUE(IsOk(items));
  EXPECT_EQ(*items, Buffer(1, std::byte{7}));
}

TEST(ArrayTest, HasOneItemWithoutDimensions) {
  Frame frame = NewInMemory(OfArray({.shape = {}, .chunkshape = {}, .blockshape = {}}, 8));
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->WriteBox({}, {}, FromOneOn(8))));
  const auto snapshot = writer->Commit();
  ASSERT_TRUE(IsOk(snapshot));
  Buffer item(8);
  ASSERT_TRUE(IsOk(snapshot->ReadBox({}, {}, item)));
  EXPECT_EQ(item, FromOneOn(8));
}

TEST(ArrayTest, MayHaveNoItems) {
  Frame frame = NewInMemory(OfArray({{4, 0, 3}, {2, 5, 3}, {1, 2, 3}}));
  EXPECT_EQ(frame.snapshot().info().nchunks, 0);
  EXPECT_TRUE(IsOk(ReadBox(frame.snapshot(), {{1, 0, 0}, {3, 0, 3}})));
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  EXPECT_TRUE(IsOk(writer->WriteBox({{1, 0, 0}}, {{3, 0, 3}}, {})));
  EXPECT_TRUE(IsOk(writer->Close()));
}

TEST(ArrayTest, IsBuiltInOneGoAndRolledBackToZeros) {
  const TempDir dir;
  auto writer = Frame::BeginCreate(dir.Path("a"), OfArray(kExample));
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->WriteBox({{0, 0}}, {{5, 7}}, FromOneOn(35))));
  writer->Rollback();
  ASSERT_TRUE(IsOk(writer->WriteBox({{2, 2}}, {{1, 1}}, FromOneOn(1))));
  ASSERT_TRUE(IsOk(writer->Close()));
  const auto frame = Frame::Open(dir.Path("a"));
  ASSERT_TRUE(IsOk(frame));
  ArrayModel model({5, 7}, 1);
  model.Write({{2, 2}, {1, 1}}, FromOneOn(1));
  const auto items = ReadBox(frame->snapshot(), {{0, 0}, {5, 7}});
  ASSERT_TRUE(IsOk(items));
  EXPECT_EQ(*items, model.items());
}

TEST(ArrayTest, StaysInItsBlocksWhateverTheWriterAsksFor) {
  Frame frame = NewInMemory(OfArray({{64}, {64}, {32}}));
  WriterOptions options;
  options.compression = CompressionOptions{.blocksize = 7};
  auto writer = frame.OpenWriter(options);
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->WriteBox({{0}}, {{64}}, MakeNoise(64))));
  const auto snapshot = writer->Commit();
  ASSERT_TRUE(IsOk(snapshot));
  const auto chunk = snapshot->GetChunk(0);
  ASSERT_TRUE(IsOk(chunk));
  EXPECT_EQ(InspectChunk(chunk->bytes())->blocksize, 32);
}

TEST(ArrayTest, ChecksTheArgumentsOfBoxes) {
  Frame frame = NewInMemory(OfArray(kExample, 2));
  const Snapshot snapshot = frame.snapshot();
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  const auto both_fail = [&](const BoxPlace& box, size_t size, absl::StatusCode code,
                             std::string_view part) {
    Buffer items(size, std::byte{1});
    EXPECT_TRUE(Fails(snapshot.ReadBox(box.start, box.shape, items), code, part));
    EXPECT_TRUE(Fails(writer->WriteBox(box.start, box.shape, items), code, part));
  };
  using enum absl::StatusCode;
  both_fail({{0}, {1}}, 2, kInvalidArgument, "in an array of 2");
  both_fail({{0, 0}, {1, 1}}, 1, kInvalidArgument, "has 2 bytes");
  both_fail({{0, 0}, {1, 0}}, 2, kInvalidArgument, "has 0 bytes");
  both_fail({{0, 6}, {1, 2}}, 4, kOutOfRange, "dimension 1: 2 items from item 6 on, of 7");
  const auto unchanged = writer->StagedSnapshot();
  ASSERT_TRUE(IsOk(unchanged));
  EXPECT_EQ(ContentOf(*unchanged), Buffer(4 * 48));
}

TEST(ArrayTest, IsMissingInOtherFrames) {
  Frame frame = NewInMemory(Cut(1, 100));
  EXPECT_EQ(frame.snapshot().array(), std::nullopt);
  EXPECT_TRUE(Fails(frame.snapshot().ReadBox({}, {}, {}), absl::StatusCode::kFailedPrecondition,
                    "holds no n-dimensional array"));
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  EXPECT_TRUE(Fails(writer->WriteBox({}, {}, {}), absl::StatusCode::kFailedPrecondition,
                    "holds no n-dimensional array"));
}

TEST(ArrayTest, SaysWhyAMetalayerIsNone) {
  const Snapshot snapshot = FrameOf(Buffer(10), {"b2nd", Buffer(5)}, Cut(1, 10));
  EXPECT_EQ(snapshot.array(), std::nullopt);
  EXPECT_TRUE(IsDamage(snapshot.ReadBox({}, {}, {}), "metalayer b2nd"));
}

TEST(ArrayTest, NamesWhatDoesNotFitItsMetalayer) {
  const auto read = [](const ArrayInfo& array, size_t nbytes, int32_t chunksize) {
    const Snapshot snapshot = FrameOf(Buffer(nbytes), LayerOf(array), Cut(1, chunksize));
    EXPECT_EQ(snapshot.array(), array);
    return ReadBox(snapshot, {std::vector<int64_t>(array.shape.size()),
                              std::vector<int64_t>(array.shape.size(), 1)});
  };
  EXPECT_TRUE(IsOk(read(kExample, 96, 24)));
  EXPECT_TRUE(IsDamage(read(kExample, 120, 24), "needs 4 chunks, the frame has 5"));
  EXPECT_TRUE(IsDamage(read(kExample, 100, 25), "chunks of 24 bytes, the frame's chunksize is 25"));
  EXPECT_TRUE(IsDamage(read(kExample, 90, 24), "needs 96 bytes"));
  constexpr int64_t kHuge = int64_t{1} << 62;
  EXPECT_TRUE(IsDamage(read({{kHuge, 4}, {3, 5}, {2, 3}}, 96, 24), "over 2^63 bytes"));
  EXPECT_TRUE(IsDamage(read({{kHuge}, {1}, {1}}, 1, 1), "needs 4611686018427387904 chunks"));
  const std::vector<int32_t> ones(kMaxDimensions, 1);
  EXPECT_TRUE(IsOk(read({std::vector<int64_t>(kMaxDimensions, 1), ones, ones}, 1, 1)));
}

TEST(ArrayTest, FollowsAnEditOfItsMetalayer) {
  Frame frame = NewInMemory(OfArray({{10}, {5}, {5}, "|u1"}));
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  const ArrayInfo smaller = {{8}, {5}, {5}, "|u1"};
  ASSERT_TRUE(IsOk(writer->SetMetalayer("b2nd", format::EncodeB2nd(smaller))));
  EXPECT_EQ(writer->StagedSnapshot()->array(), smaller);
  EXPECT_TRUE(
      Fails(writer->WriteBox({{8}}, {{1}}, FromOneOn(1)), absl::StatusCode::kOutOfRange, "of 8"));
  EXPECT_EQ(writer->Commit()->array(), smaller);
}

TEST(ArrayTest, RefusesOptionsThatContradictIt) {
  const auto refuses = [](const CreateOptions& options, std::string_view part) {
    return Fails(Frame::CreateInMemory(options).status(), absl::StatusCode::kInvalidArgument, part);
  };
  CreateOptions options = OfArray(kExample);
  options.chunksize = ChunkSize::Variable();
  EXPECT_TRUE(refuses(options, "cannot be variable"));
  for (const char* name : {"b2nd", "caterva"}) {
    options = OfArray(kExample);
    options.metalayers = {{name, {}}};
    EXPECT_TRUE(refuses(options, name));
  }
  options = OfArray(kExample);
  for (int i = 0; i < 16; ++i)
    options.metalayers.push_back({std::string(1, static_cast<char>('a' + i))});
  EXPECT_TRUE(refuses(options, "at most 16, got 17"));
  const std::vector<int32_t> ones(17, 1);
  EXPECT_TRUE(refuses(OfArray({std::vector<int64_t>(17, 1), ones, ones}), "17 dimensions"));
  EXPECT_TRUE(refuses(OfArray({{5, 7}, {3, 4}, {3, 5}}), "dimension 1 has chunks of 4"));
  options = OfArray(kExample);
  options.chunksize = ChunkSize::AsFirstChunk();
  EXPECT_TRUE(refuses(options, "chunksize"));
  EXPECT_TRUE(refuses(OfArray({{5}, {0}, {0}}), "dimension 0"));
  EXPECT_TRUE(refuses(OfArray({{0}, {0}, {0}}), "an item in every dimension"));
  EXPECT_TRUE(refuses(OfArray({{5}, {5}, {5}, "<f8"}), "dtype <f8 has items of 8 bytes"));
  EXPECT_TRUE(refuses(OfArray({{5}, {5}, {5}, "", 128}), "dtype_format"));
  EXPECT_TRUE(refuses(OfArray(kExample, 0), "typesize"));
}

TEST(ArrayTest, TakesEveryTypeThatMayFit) {
  for (const char* dtype : {"<f4", "float32", "[('x', '<i2'), ('y', '<i2')]", "<U1", "<M8[D]"}) {
    EXPECT_TRUE(IsOk(Frame::CreateInMemory(OfArray({{5}, {5}, {5}, dtype}, 4)))) << dtype;
  }
  EXPECT_TRUE(IsOk(Frame::CreateInMemory(OfArray({{5}, {5}, {5}, "<f8", 1}, 4)))) << "not NumPy's";
}

}  // namespace
}  // namespace cairn::test
