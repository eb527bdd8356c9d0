// Salvage tells the chunks of a frame from bytes that only read like one.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/chunk.h"
#include "cairn/frame.h"
#include "cairn/recover.h"
#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/chunk/special.h"
#include "engine/format/journal.h"
#include "tests/frame/repair/salvaging.h"
#include "tests/support/counting_file_system.h"
#include "tests/support/encode_commit.h"
#include "tests/support/files.h"
#include "tests/support/frame_parts.h"
#include "tests/support/frame_repair.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/unowned.h"

namespace cairn::test {
namespace {

using SalvageTest = Salvaging;

TEST_F(SalvageTest, DataThatReadsLikeAnIndexIsKeptAmongData) {
  Buffer place(8);  // of the first chunk
  const std::vector<Buffer> pieces = {MakeNoise(400, 1), place, MakeNoise(400, 2)};
  Buffer all;
  for (const Buffer& piece : pieces) AddTo(all, piece);
  ExpectSaved(SalvageBytes(MakeFrame(Cut(8, ChunkSize::Variable()), pieces)), all);
}

TEST_F(SalvageTest, ShortLastChunkOfOneNumberIsNoIndex) {
  Buffer items = MakeNoise(3 * kChunk);
  AddTo(items, Buffer(8, std::byte{0}));
  items[items.size() - 8] = std::byte{104};
  Buffer frame = MakeFrame(Cut(8, kChunk), {items});
  const FrameParts parts = PartsOf(frame);
  Ruin(frame, {0, parts.header_len});
  Ruin(frame, {parts.index_begin, parts.frame_size});
  ExpectSaved(SalvageBytes(frame), items);
}

TEST_F(SalvageTest, IndexOfASingleChunkIsNoData) {
  const Buffer items = MakeNoise(kChunk);
  Buffer frame = MakeFrame(Cut(8, kChunk), {items});
  const FrameParts parts = PartsOf(frame);
  Ruin(frame, {0, parts.header_len});
  Ruin(frame, {parts.trailer_begin, parts.frame_size});
  ExpectSaved(SalvageBytes(frame), items);
}

TEST_F(SalvageTest, FrameThatIsUserDataIsNotUnpacked) {
  const Buffer inner = MakeFrame(Cut(4, kChunk), {MakeNoise(3 * kChunk)});
  const auto size = static_cast<int32_t>(inner.size());
  Buffer content = inner;
  AddTo(content, inner);
  Buffer frame = MakeFrame(PlainCopies(size), {content});
  const FrameParts parts = PartsOf(frame);
  Ruin(frame, {0, parts.header_len});
  const auto report = SalvageBytes(frame);
  ASSERT_NO_FATAL_FAILURE(ExpectSaved(report, content));
  EXPECT_EQ(report->chunks, 2);
}

TEST_F(SalvageTest, ChunksOfAnotherTypesizeAreNoPartOfTheFrame) {
  const Buffer items = MakeNoise(3 * kChunk);
  Buffer bytes = MakeFrame(Cut(4, kChunk), {items});
  const int64_t begin = std::ssize(bytes);
  RuinWhatNamesChunks(bytes);
  const Buffer stranger = Compressed(MakeItems(kChunk), OfTypesize(2));
  AddTo(bytes, stranger);
  const auto report = SalvageBytes(bytes);
  ASSERT_NO_FATAL_FAILURE(ExpectSaved(report, items));
  ASSERT_EQ(report->lost.size(), 3u);
  ExpectLost(report->lost[2], {begin, begin + std::ssize(stranger)}, "typesize 2");
}

TEST_F(SalvageTest, HeaderThatNoChunkAgreesWithIsNotBelieved) {
  const Buffer items = MakeNoise(3 * kChunk);
  Buffer frame = MakeFrame(Cut(4, kChunk), {items});
  StoreBe(frame.data() + 0x30, uint32_t{5});
  ExpectSaved(SalvageBytes(frame), items);
  EXPECT_EQ(Saved().info().typesize, 4);
}

TEST_F(SalvageTest, HeaderGivesATypesizeThatChunksCannot) {
  const Buffer items = MakeNoise(30 * 300);
  Buffer frame = MakeFrame(Cut(300, 3000), {items});
  ExpectSaved(SalvageBytes(frame), items);
  EXPECT_EQ(Saved().info().typesize, 300);
}

TEST_F(SalvageTest, TypesizeThatNoFrameCanHaveIsNotBelieved) {
  const Buffer items = MakeNoise(3 * kChunk);
  Buffer frame = MakeFrame(Cut(1, kChunk), {items});
  StoreBe(frame.data() + 0x30, uint32_t{0x2E000001});
  RepairSeal(frame);
  ExpectSaved(SalvageBytes(frame), items);
  EXPECT_EQ(Saved().info().typesize, 1);
}

TEST_F(SalvageTest, DeadChunksAreSavedOnlyWithoutAnIndex) {
  const std::string path = dir_.Path("edited");
  ASSERT_TRUE(IsOk(WriteFrame(path, Cut(1, kChunk), MakeNoise(3 * kChunk, 1))));
  auto writer = Frame::Open(path)->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->UpdateChunk(0, MakeNoise(kChunk, 2))));
  ASSERT_TRUE(IsOk(writer->Close()));
  Buffer live = MakeNoise(kChunk, 2);
  AddTo(live, Bytes(MakeNoise(3 * kChunk, 1)).subspan(kChunk));
  Buffer bytes = FileBytes(path);
  auto report = SalvageBytes(bytes);
  ASSERT_NO_FATAL_FAILURE(ExpectSaved(report, live));
  EXPECT_TRUE(report->lost.empty());
  EXPECT_TRUE(report->unproven.empty());

  RuinWhatNamesChunks(bytes);
  Buffer all = MakeNoise(3 * kChunk, 1);
  AddTo(all, MakeNoise(kChunk, 2));
  report = SalvageBytes(bytes);
  ASSERT_NO_FATAL_FAILURE(ExpectSaved(report, all));
  EXPECT_EQ(report->unproven, (std::vector<int64_t>{0, 1, 2, 3}));
}

TEST_F(SalvageTest, VariableBlocksStayAsTheyAre) {
  const Buffer items = MakeItems(600);
  const std::vector<size_t> sizes = {100, 200, 300};
  const std::string path = dir_.Path("vl");
  auto writer = Frame::BeginCreate(path, Cut(1, ChunkSize::Variable()));
  ASSERT_TRUE(IsOk(writer));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(IsOk(writer->AppendCompressed(CompressedVl(items, sizes, 1))));
  }
  ASSERT_TRUE(IsOk(writer->Close()));
  Buffer frame = FileBytes(path);
  const std::vector<Buffer> chunks = ChunksOf(Frame::OpenBuffer(frame)->snapshot());
  Ruin(frame, {0, PartsOf(frame).header_len});
  ASSERT_TRUE(IsOk(SalvageBytes(frame)));
  EXPECT_EQ(ChunksOf(Saved()), chunks);
}

TEST_F(SalvageTest, OldAndSpecialChunksAreSaved) {
  CompressionOptions old = OfTypesize(4);
  old.format = ChunkFormat::kBlosc1;
  const Buffer items = MakeItems(kChunk);
  Buffer bytes = Compressed(items, old);
  Buffer all = items;
  for (const SpecialValue special : {SpecialValue::kZeros, SpecialValue::kNans}) {
    const auto chunk = MakeSpecialChunk(special, 400, {}, OfTypesize(4));
    ASSERT_TRUE(IsOk(chunk));
    AddTo(bytes, *chunk);
    Buffer values(400);
    ASSERT_TRUE(IsOk(DecompressChunk(*chunk, values)));
    AddTo(all, values);
  }
  const auto repeated =
      MakeSpecialChunk(SpecialValue::kRepeat, 400, AsBytes("ABCD"), OfTypesize(4));
  ASSERT_TRUE(IsOk(repeated));
  AddTo(bytes, *repeated);
  AddTo(all, Repeated(AsBytes("ABCD"), 400));
  const auto report = SalvageBytes(bytes);
  ASSERT_NO_FATAL_FAILURE(ExpectSaved(report, all));
  EXPECT_TRUE(report->lost.empty());
}

TEST_F(SalvageTest, HugeChunkOfOneValueCostsNothing) {
  constexpr int32_t kHuge = 2'000'000'000;
  Buffer bytes = Compressed(MakeItems(kChunk), OfTypesize(4));
  AddTo(bytes, *MakeSpecialChunk(SpecialValue::kZeros, kHuge, {}, OfTypesize(4)));
  const auto report = SalvageBytes(bytes);
  ASSERT_TRUE(IsOk(report));
  EXPECT_EQ(report->nbytes, kChunk + int64_t{kHuge});
}

TEST_F(SalvageTest, OnlyTheFrameFromTheGivenOffsetOnIsLookedAt) {
  const Buffer first = MakeNoise(kChunk, 1);
  const Buffer second = MakeNoise(kChunk, 2);
  Buffer bytes = MakeFrame(Cut(4, kChunk), {first});
  OpenOptions options;
  options.offset = std::ssize(bytes);
  AddTo(bytes, MakeFrame(Cut(4, kChunk), {second}));
  const auto report = SalvageBytes(bytes, options);
  ASSERT_NO_FATAL_FAILURE(ExpectSaved(report, second));
  EXPECT_TRUE(report->lost.empty());
  options.offset = std::ssize(bytes) + 1;
  EXPECT_TRUE(Fails(SalvageBytes(bytes, options), absl::StatusCode::kOutOfRange, "offset"));
}

TEST_F(SalvageTest, ChunkOverTheLimitIsLost) {
  const Buffer items = MakeNoise(3 * kChunk);
  OpenOptions options;
  options.limits.max_chunk_nbytes = kChunk - 1;
  EXPECT_TRUE(absl::IsNotFound(SalvageBytes(MakeFrame(Cut(4, kChunk), {items}), options).status()));
}

TEST_F(SalvageTest, WhatHoldsNoChunkGivesNotFoundAndMakesNoFile) {
  for (const Buffer& bytes : {Buffer(), Buffer(100), MakeNoise(5, 1), MakeNoise(1 << 20, 1),
                              Buffer(1 << 20), MakeFrame(Cut(4, kChunk), {})}) {
    EXPECT_TRUE(absl::IsNotFound(SalvageBytes(bytes).status()));
    EXPECT_TRUE(absl::IsNotFound(PosixFileSystem()->Identity(dir_.Path("saved")).status()));
  }
}

TEST_F(SalvageTest, ArgumentsAreChecked) {
  const Buffer frame = MakeFrame(Cut(4, kChunk), {MakeNoise(kChunk)});
  ASSERT_TRUE(IsOk(SalvageBytes(frame)));
  EXPECT_TRUE(Fails(Salvage(dir_.Path("damaged"), dir_.Path("saved")),
                    absl::StatusCode::kAlreadyExists, "saved"));
  EXPECT_TRUE(
      Fails(Salvage(dir_.Path("none"), dir_.Path("other")), absl::StatusCode::kNotFound, "none"));
  EXPECT_TRUE(Fails(Salvage(dir_.path(), dir_.Path("other")), absl::StatusCode::kInvalidArgument,
                    "directory"));
}

TEST_F(SalvageTest, StopsWhereverItIsToldToAndMakesNoFrame) {
  PutFileBytes(dir_.Path("damaged"), MakeFrame(Cut(4, kChunk), {MakeNoise(4 * kChunk)}));
  const std::vector<std::string> before = NamesIn(dir_.path());
  int calls = 0;
  const auto salvage = [&](int most) {
    calls = 0;
    return Salvage(dir_.Path("damaged"), dir_.Path("saved"),
                   {.progress = [&calls, most](int64_t) { return ++calls <= most; }});
  };
  int most = 0;
  while (absl::IsCancelled(salvage(most).status())) {
    EXPECT_EQ(calls, ++most);
    EXPECT_EQ(NamesIn(dir_.path()), before);
  }
  EXPECT_EQ(calls, most);
  EXPECT_GE(calls, 4) << "once for each chunk";
  EXPECT_EQ(ContentOf(Saved()), MakeNoise(4 * kChunk));
}

TEST_F(SalvageTest, BytesThatOnlyLookLikeChunksAreNone) {
  // Sizes that fit, without what an encoder would write around them.
  Buffer plain = chunk::MemcpyedChunk(MakeNoise(1000));
  for (const auto& [place, value] : std::vector<std::pair<size_t, int>>{{0x00, 1},
                                                                        {0x00, 7},
                                                                        {0x01, 2},
                                                                        {0x03, 0},
                                                                        {0x09, 0x7F},
                                                                        {0x10, 99},
                                                                        {0x1E, 2},
                                                                        {0x1F, 0x08},
                                                                        {0x1F, 0x50}}) {
    Buffer bytes = plain;
    bytes[place] = static_cast<std::byte>(value);
    EXPECT_TRUE(absl::IsNotFound(SalvageBytes(bytes).status())) << place;
  }
  EXPECT_TRUE(IsOk(SalvageBytes(plain)));
}

TEST_F(SalvageTest, EmptyChunkIsNoData) {
  const Buffer empty = chunk::MemcpyedChunk({});
  EXPECT_TRUE(absl::IsNotFound(SalvageBytes(empty).status()));
}

TEST_F(SalvageTest, ItemsOfTheJournalCannotFollowChunksOfVariableBlocks) {
  const Buffer first = MakeNoise(100, 1);
  const Buffer second = MakeNoise(300, 2);
  const Bytes blocks[] = {first, second};
  Buffer chunk(MaxVlCompressedSize(400, 2));
  chunk.resize(CompressVlBlocks(blocks, OfTypesize(1), chunk).value());
  Buffer bytes = chunk;
  format::CommitRecord commit;
  commit.partial.items = first;
  AddTo(bytes, EncodeCommit(commit, std::ssize(bytes)));
  const auto report = SalvageBytes(bytes);
  Buffer all = first;
  AddTo(all, second);
  ASSERT_NO_FATAL_FAILURE(ExpectSaved(report, all));
  ASSERT_EQ(report->lost.size(), 1u);
  ExpectLost(report->lost[0], {std::ssize(chunk), std::ssize(bytes)}, "variable blocks");
}

TEST_F(SalvageTest, LooksAtWhatFollowsLookalikesCostFewBytes) {
  constexpr uint32_t kClaimed = 2 << 20;
  Buffer bytes(64 << 10);
  for (size_t at = 0; at < bytes.size(); at += 16) {
    std::byte* const header = bytes.data() + at;
    header[0] = std::byte{4};
    header[1] = std::byte{1};
    header[3] = std::byte{1};
    for (const size_t field : {4, 8, 12}) StoreLe(header + field, kClaimed);
  }
  bytes.resize(kClaimed + bytes.size());
  CountingFileSystem files;
  EXPECT_TRUE(absl::IsNotFound(
      SalvageBytes(bytes, {.use_mmap = false, .file_system = Unowned(&files)}).status()));
  EXPECT_LT(files.reading().bytes, 10 * std::ssize(bytes));
}

}  // namespace
}  // namespace cairn::test
