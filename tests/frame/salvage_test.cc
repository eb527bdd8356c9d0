// What can be saved of a file is, once, and the rest is named.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/recover.h"
#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/chunk/plain.h"
#include "tests/frame/frame_test_data.h"
#include "tests/frame/small_frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn {

void PrintTo(const LostBytes& lost, std::ostream* stream) {
  *stream << "[" << lost.begin << ", " << lost.end << "): " << lost.reason;
}

namespace test {
namespace {

constexpr int32_t kChunk = 4000;

struct Range {
  int64_t begin = 0;
  int64_t end = 0;
};

MutableBytes Part(Buffer& bytes, Range range) {
  return MutableBytes(bytes).subspan(static_cast<size_t>(range.begin),
                                     static_cast<size_t>(range.end - range.begin));
}

void Ruin(Buffer& bytes, Range range) {
  CopyBytes(Noise(static_cast<size_t>(range.end - range.begin), 99), Part(bytes, range));
}

// Where the chunks of a frame lie.
std::vector<Range> PlacesOf(Bytes bytes) {
  const absl::StatusOr<Frame> frame = Frame::OpenBuffer(bytes);
  EXPECT_TRUE(IsOk(frame));
  std::vector<Range> places;
  for (int64_t i = 0; i < frame->snapshot().info().nchunks; ++i) {
    const int64_t begin = frame->snapshot().GetEntry(i)->offset;
    places.push_back({begin, begin + std::ssize(frame->snapshot().GetChunk(i)->bytes())});
  }
  return places;
}

class SalvageTest : public testing::Test {
 protected:
  // The bytes of a frame with these chunks and two vlmetalayers.
  Buffer MakeFrame(const CreateOptions& options, const std::vector<Buffer>& pieces) {
    const std::string path = dir_.Path("made");
    CreateOptions again = options;
    again.overwrite = true;
    auto writer = Frame::Build(path, again);
    EXPECT_TRUE(IsOk(writer));
    for (const Buffer& piece : pieces) EXPECT_EQ(writer->Append(piece), absl::OkStatus());
    EXPECT_EQ(writer->SetVlmeta("noise", Noise(500, 77)), absl::OkStatus());
    EXPECT_EQ(writer->SetVlmeta("text", MakeItems(800, 78)), absl::OkStatus());
    EXPECT_EQ(writer->Close(), absl::OkStatus());
    return FileBytes(path);
  }

  absl::StatusOr<SalvageReport> SalvageBytes(Bytes bytes, const OpenOptions& options = {}) {
    PutFileBytes(dir_.Path("damaged"), bytes);
    EXPECT_EQ(RemoveIfThere(dir_.Path("saved")), absl::OkStatus());
    return Salvage(dir_.Path("damaged"), dir_.Path("saved"), options);
  }

  static absl::Status RemoveIfThere(const std::string& path) {
    const absl::Status status = PosixFileSystem()->Remove(path);
    return absl::IsNotFound(status) ? absl::OkStatus() : status;
  }

  Snapshot Saved() const {
    const absl::StatusOr<Frame> frame = Frame::Open(dir_.Path("saved"));
    EXPECT_TRUE(IsOk(frame));
    return frame->snapshot();
  }

  // What was saved is `content`, and the report says so.
  void ExpectSaved(const absl::StatusOr<SalvageReport>& report, Bytes content) const {
    ASSERT_TRUE(IsOk(report));
    ExpectHolds(Saved(), content);
    EXPECT_EQ(report->chunks, Saved().info().nchunks);
    EXPECT_EQ(report->nbytes, std::ssize(content));
  }

  // Exactly this range was lost, for a reason that says `part`.
  static void ExpectLost(const LostBytes& lost, Range range, std::string_view part) {
    EXPECT_EQ(lost.begin, range.begin);
    EXPECT_EQ(lost.end, range.end);
    EXPECT_TRUE(absl::StrContains(lost.reason, absl::string_view(part.data(), part.size())))
        << lost.reason;
  }

  const TempDir dir_;
};

// Ways to read the file.
class SalvageEitherWayTest : public SalvageTest, public testing::WithParamInterface<bool> {
 protected:
  OpenOptions Options() const {
    OpenOptions options;
    options.use_mmap = GetParam();
    return options;
  }
};

TEST_P(SalvageEitherWayTest, NothingIsLostOfAWholeFrame) {
  const Buffer items = MakeItems(10 * kChunk + 100);
  const auto report = SalvageBytes(MakeFrame(Cut(4, kChunk), {items}), Options());
  ASSERT_NO_FATAL_FAILURE(ExpectSaved(report, items));
  EXPECT_TRUE(report->lost.empty());
  EXPECT_EQ(Saved().info().chunksize, kChunk);
  EXPECT_EQ(Saved().info().typesize, 4);
}

TEST_P(SalvageEitherWayTest, ChunksNeedNeitherHeaderNorIndexNorTrailer) {
  // In a frame of typesize 8 index and values of vlmetalayers look like data.
  for (const int32_t typesize : {1, 4, 8}) {
    const Buffer items = MakeNoise(10 * kChunk + 104);
    Buffer frame = MakeFrame(Cut(typesize, kChunk), {items});
    const FrameParts parts = PartsOf(frame);
    const Range header = {0, parts.header_len};
    const Range rest = {parts.index_begin, parts.frame_size};
    Ruin(frame, header);
    Ruin(frame, rest);
    const auto report = SalvageBytes(frame, Options());
    ASSERT_NO_FATAL_FAILURE(ExpectSaved(report, items));
    ASSERT_EQ(report->lost.size(), 2u);
    ExpectLost(report->lost[0], header, "no chunk begins here");
    ExpectLost(report->lost[1], rest, "no chunk begins here");
    EXPECT_EQ(Saved().info().typesize, typesize);

    FillBytes(Part(frame, header), std::byte{0});
    FillBytes(Part(frame, rest), std::byte{0});
    const auto zeroed = SalvageBytes(frame, Options());
    ASSERT_NO_FATAL_FAILURE(ExpectSaved(zeroed, items));
    ExpectLost(zeroed->lost[1], rest, "zeros");
  }
}

TEST_P(SalvageEitherWayTest, ManySmallAndSomeLargeChunksAreFound) {
  std::vector<Buffer> pieces;
  Buffer all;
  for (size_t i = 0; i < 3000; ++i) {
    pieces.push_back(MakeNoise(i % 1000 == 500 ? (3 << 20) + i : 1 + i % 40, i));
    AddTo(all, pieces.back());
  }
  Buffer frame = MakeFrame(Cut(1, CreateOptions::kVariableChunks), pieces);
  FillBytes(Part(frame, {0, PartsOf(frame).header_len}), std::byte{0});
  ExpectSaved(SalvageBytes(frame, Options()), all);
}

INSTANTIATE_TEST_SUITE_P(MappedOrRead, SalvageEitherWayTest, testing::Bool());

TEST_F(SalvageTest, EachOfTheThreePartsMayBeMissingAlone) {
  for (const int32_t typesize : {4, 8}) {
    const Buffer items = MakeItems(5 * kChunk + 8);
    const Buffer frame = MakeFrame(Cut(typesize, kChunk), {items});
    const FrameParts parts = PartsOf(frame);
    for (const Range range :
         {Range{0, parts.header_len}, Range{parts.index_begin, parts.trailer_begin},
          Range{parts.trailer_begin, parts.frame_size},
          Range{parts.frame_size - 23, parts.frame_size},
          Range{parts.trailer_begin, parts.trailer_begin + 20}}) {
      Buffer damaged = frame;
      Ruin(damaged, range);
      const auto report = SalvageBytes(damaged);
      ASSERT_NO_FATAL_FAILURE(ExpectSaved(report, items));
      ASSERT_EQ(report->lost.size(), 1u);
      EXPECT_LE(report->lost[0].begin, range.begin);
      EXPECT_GE(report->lost[0].end, range.end);
    }
  }
}

TEST_F(SalvageTest, ADamagedChunkIsLostAndNamed) {
  const Buffer items = MakeItems(5 * kChunk);
  Buffer frame = MakeFrame(Cut(4, kChunk), {items});
  const Range lost = PlacesOf(frame)[2];
  // The size of the first stream.
  frame[static_cast<size_t>(lost.begin) + 36 + 3] ^= std::byte{0x40};
  Buffer rest(items.begin(), items.begin() + 2 * kChunk);
  AddTo(rest, Bytes(items).subspan(3 * kChunk));
  const auto report = SalvageBytes(frame);
  ASSERT_NO_FATAL_FAILURE(ExpectSaved(report, rest));
  ASSERT_EQ(report->lost.size(), 1u);
  ExpectLost(report->lost[0], lost, "chunk of ");
}

TEST_F(SalvageTest, NoChunkIsLookedForInsideABrokenOne) {
  CreateOptions options = Cut(4, kChunk);
  options.compression.filters.clear();
  options.compression.blocksize = kChunk / 2;
  // The second block does not compress and is stored as it is, the chunks in it too.
  const Buffer before = MakeNoise(kChunk, 1);
  Buffer items = before;
  AddTo(items, MakeItems(kChunk / 2));
  AddTo(items, Compressed(MakeNoise(kChunk / 2 - 32, 2), OfTypesize(4)));
  AddTo(items, MakeNoise(kChunk, 3));
  Buffer frame = MakeFrame(options, {items});
  const Range lost = PlacesOf(frame)[1];
  frame[static_cast<size_t>(lost.begin) + 40 + 3] ^= std::byte{0x40};
  const auto report = SalvageBytes(frame);
  ASSERT_TRUE(IsOk(report));
  EXPECT_EQ(report->chunks, 2);
  ASSERT_EQ(report->lost.size(), 1u);
  ExpectLost(report->lost[0], lost, "chunk of ");
}

TEST_F(SalvageTest, DataThatReadsLikeAnIndexIsKeptAmongData) {
  Buffer place(8);  // of the first chunk
  const std::vector<Buffer> pieces = {MakeNoise(400, 1), place, MakeNoise(400, 2)};
  Buffer all;
  for (const Buffer& piece : pieces) AddTo(all, piece);
  ExpectSaved(SalvageBytes(MakeFrame(Cut(8, CreateOptions::kVariableChunks), pieces)), all);
}

TEST_F(SalvageTest, AShortLastChunkOfOneNumberIsNoIndex) {
  Buffer items = MakeNoise(3 * kChunk);
  AddTo(items, Buffer(8, std::byte{0}));
  items[items.size() - 8] = std::byte{104};
  Buffer frame = MakeFrame(Cut(8, kChunk), {items});
  const FrameParts parts = PartsOf(frame);
  Ruin(frame, {0, parts.header_len});
  Ruin(frame, {parts.index_begin, parts.frame_size});
  ExpectSaved(SalvageBytes(frame), items);
}

TEST_F(SalvageTest, TheIndexOfASingleChunkIsNoData) {
  const Buffer items = MakeNoise(kChunk);
  Buffer frame = MakeFrame(Cut(8, kChunk), {items});
  const FrameParts parts = PartsOf(frame);
  Ruin(frame, {0, parts.header_len});
  Ruin(frame, {parts.trailer_begin, parts.frame_size});
  ExpectSaved(SalvageBytes(frame), items);
}

TEST_F(SalvageTest, AChunkWithoutItsHeaderIsLost) {
  const Buffer items = MakeNoise(5 * kChunk);
  Buffer frame = MakeFrame(Cut(4, kChunk), {items});
  const Range lost = PlacesOf(frame)[2];
  Ruin(frame, {lost.begin, lost.begin + 16});
  const auto report = SalvageBytes(frame);
  ASSERT_TRUE(IsOk(report));
  EXPECT_EQ(report->chunks, 4);
  ASSERT_EQ(report->lost.size(), 1u);
  ExpectLost(report->lost[0], lost, "no chunk begins here");
}

TEST_F(SalvageTest, OfATruncatedFileAllButTheCutChunkIsSaved) {
  const Buffer items = MakeNoise(5 * kChunk);
  Buffer frame = MakeFrame(Cut(4, kChunk), {items});
  const Range cut = PlacesOf(frame)[3];
  frame.resize(static_cast<size_t>(cut.end) - 10);
  const auto report = SalvageBytes(frame);
  ASSERT_NO_FATAL_FAILURE(ExpectSaved(report, Bytes(items).first(3 * kChunk)));
  ASSERT_EQ(report->lost.size(), 1u);
  ExpectLost(report->lost[0], {cut.begin, cut.end - 10}, "the file ends");
}

TEST_F(SalvageTest, AFrameThatIsUserDataIsNotUnpacked) {
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
  const Buffer stranger = Compressed(MakeItems(kChunk), OfTypesize(2));
  AddTo(bytes, stranger);
  const auto report = SalvageBytes(bytes);
  ASSERT_NO_FATAL_FAILURE(ExpectSaved(report, items));
  ASSERT_EQ(report->lost.size(), 1u);
  ExpectLost(report->lost[0], {begin, begin + std::ssize(stranger)}, "typesize 2");
}

TEST_F(SalvageTest, AHeaderThatNoChunkAgreesWithIsNotBelieved) {
  const Buffer items = MakeNoise(3 * kChunk);
  Buffer frame = MakeFrame(Cut(4, kChunk), {items});
  StoreBe(frame.data() + 0x30, uint32_t{5});
  ExpectSaved(SalvageBytes(frame), items);
  EXPECT_EQ(Saved().info().typesize, 4);
}

TEST_F(SalvageTest, TheHeaderTellsATypesizeThatChunksCannot) {
  const Buffer items = MakeNoise(30 * 300);
  Buffer frame = MakeFrame(Cut(300, 3000), {items});
  ExpectSaved(SalvageBytes(frame), items);
  EXPECT_EQ(Saved().info().typesize, 300);
}

TEST_F(SalvageTest, DeadChunksAreSavedToo) {
  const std::string path = dir_.Path("edited");
  ASSERT_EQ(WriteFrame(path, Cut(1, kChunk), MakeNoise(3 * kChunk, 1)), absl::OkStatus());
  auto writer = Frame::Open(path)->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_EQ(writer->UpdateChunk(0, MakeNoise(kChunk, 2)), absl::OkStatus());
  ASSERT_EQ(writer->Close(), absl::OkStatus());
  Buffer all = MakeNoise(3 * kChunk, 1);
  AddTo(all, MakeNoise(kChunk, 2));
  const auto report = SalvageBytes(FileBytes(path));
  ASSERT_NO_FATAL_FAILURE(ExpectSaved(report, all));
  EXPECT_TRUE(report->lost.empty());
}

// A frame whose writer died after these commits, with its header ruined.
class SalvageJournalTest : public SalvageTest {
 protected:
  Buffer MakeJournal(const CreateOptions& options, const std::vector<Buffer>& commits) {
    const std::string path = dir_.Path("journal");
    CreateOptions again = options;
    again.overwrite = true;
    EXPECT_TRUE(IsOk(WriteFrame(path, again, MakeNoise(2 * kChunk, 1))));
    auto writer = Frame::Open(path)->OpenWriter();
    EXPECT_TRUE(IsOk(writer));
    for (const Buffer& items : commits) {
      EXPECT_EQ(writer->Append(items), absl::OkStatus());
      EXPECT_TRUE(IsOk(writer->Commit(Durability::kProcess)));
    }
    Buffer bytes = FileBytes(path);
    EXPECT_GT(Frame::OpenBuffer(bytes)->snapshot().info().journal_size, 0);
    Ruin(bytes, {0, PartsOf(bytes).header_len});
    return bytes;
  }
};

TEST_F(SalvageJournalTest, ChunksAndItemsThatWereCommittedAreSaved) {
  const std::vector<Buffer> commits = {MakeNoise(kChunk + 100, 2), MakeNoise(60, 3),
                                       MakeNoise(kChunk, 4), MakeNoise(8, 5)};
  Buffer all = MakeNoise(2 * kChunk, 1);
  for (const Buffer& items : commits) AddTo(all, items);
  for (const int32_t typesize : {4, 8}) {
    const Buffer bytes = MakeJournal(Cut(typesize, kChunk), commits);
    const auto report = SalvageBytes(bytes);
    ASSERT_NO_FATAL_FAILURE(ExpectSaved(report, all));
    EXPECT_EQ(Saved().info().chunksize, kChunk);
    // Room that was reserved ahead holds nothing.
    ASSERT_LE(report->lost.size(), 2u);
    EXPECT_EQ(report->lost[0].begin, 0);
    if (report->lost.size() == 2) {
      EXPECT_EQ(report->lost[1].reason, "zeros");
    }
  }
}

TEST_F(SalvageJournalTest, ItemsThatReadLikeAChunkAreNoChunk) {
  const Buffer chunk = Compressed(MakeNoise(400, 3), OfTypesize(4));
  const Buffer bytes = MakeJournal(Cut(4, kChunk), {MakeNoise(100, 2), chunk});
  Buffer all = MakeNoise(2 * kChunk, 1);
  AddTo(all, MakeNoise(100, 2));
  AddTo(all, chunk);
  ExpectSaved(SalvageBytes(bytes), all);
}

TEST_F(SalvageJournalTest, ADamagedRecordLosesItsItemsOnly) {
  Buffer bytes = MakeJournal(Cut(4, kChunk), {MakeNoise(kChunk, 2), MakeNoise(100, 3)});
  const size_t record = AsText(bytes).rfind("CAIRNJNL");
  ASSERT_NE(record, std::string::npos);
  bytes[record + 30] ^= std::byte{1};
  Buffer all = MakeNoise(2 * kChunk, 1);
  AddTo(all, MakeNoise(kChunk, 2));
  const auto report = SalvageBytes(bytes);
  ASSERT_NO_FATAL_FAILURE(ExpectSaved(report, all));
  ASSERT_EQ(report->lost.size(), 2u);
  EXPECT_EQ(report->lost[1].begin, static_cast<int64_t>(record));
}

TEST_F(SalvageTest, VariableBlocksStayAsTheyAre) {
  const Buffer items = MakeItems(600);
  const std::vector<size_t> sizes = {100, 200, 300};
  const std::string path = dir_.Path("vl");
  auto writer = Frame::Build(path, Cut(1, CreateOptions::kVariableChunks));
  ASSERT_TRUE(IsOk(writer));
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(writer->AppendChunk(CompressedVl(items, sizes, 1)), absl::OkStatus());
  }
  ASSERT_EQ(writer->Close(), absl::OkStatus());
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
    ASSERT_EQ(DecompressChunk(*chunk, values), absl::OkStatus());
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

TEST_F(SalvageTest, AHugeChunkOfOneValueCostsNothing) {
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

TEST_F(SalvageTest, AChunkOverTheLimitIsLost) {
  const Buffer items = MakeNoise(3 * kChunk);
  OpenOptions options;
  options.limits.max_chunk_nbytes = kChunk - 1;
  EXPECT_TRUE(absl::IsNotFound(SalvageBytes(MakeFrame(Cut(4, kChunk), {items}), options).status()));
}

TEST_F(SalvageTest, WhatHoldsNoChunkGivesNotFoundAndMakesNoFile) {
  for (const Buffer& bytes : {Buffer(), Buffer(100), Noise(5, 1), Noise(1 << 20, 1),
                              Buffer(1 << 20), MakeFrame(Cut(4, kChunk), {})}) {
    EXPECT_TRUE(absl::IsNotFound(SalvageBytes(bytes).status()));
    EXPECT_TRUE(absl::IsNotFound(PosixFileSystem()->Identity(dir_.Path("saved")).status()));
  }
}

TEST_F(SalvageTest, TheArgumentsAreChecked) {
  const Buffer frame = MakeFrame(Cut(4, kChunk), {MakeNoise(kChunk)});
  ASSERT_TRUE(IsOk(SalvageBytes(frame)));
  EXPECT_TRUE(Fails(Salvage(dir_.Path("damaged"), dir_.Path("saved")),
                    absl::StatusCode::kAlreadyExists, "saved"));
  EXPECT_TRUE(
      Fails(Salvage(dir_.Path("none"), dir_.Path("other")), absl::StatusCode::kNotFound, "none"));
  EXPECT_TRUE(Fails(Salvage(dir_.path(), dir_.Path("other")), absl::StatusCode::kInvalidArgument,
                    "directory"));
}

TEST_F(SalvageTest, BytesThatOnlyLookLikeChunksAreNone) {
  // Sizes that fit, without what an encoder would write around them.
  Buffer plain = chunk::PlainChunk(MakeNoise(1000));
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

TEST_F(SalvageTest, AnEmptyChunkIsNoData) {
  const Buffer empty = chunk::PlainChunk({});
  EXPECT_TRUE(absl::IsNotFound(SalvageBytes(empty).status()));
}

}  // namespace
}  // namespace test
}  // namespace cairn
