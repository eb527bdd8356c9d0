// Salvage of damaged frames: all that can be saved is, and the rest is named.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/recover.h"
#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "tests/frame/repair/salvaging.h"
#include "tests/support/files.h"
#include "tests/support/frame_parts.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

using SalvageDamageTest = Salvaging;

// Ways to read the file.
class SalvageEitherWayTest : public Salvaging, public testing::WithParamInterface<bool> {
 protected:
  OpenOptions Options() const {
    OpenOptions options;
    options.use_mmap = GetParam();
    return options;
  }
};

TEST_P(SalvageEitherWayTest, NothingIsLostOfAnIntactFrame) {
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
    const ByteRange header = {0, parts.header_len};
    const ByteRange rest = {parts.index_begin, parts.frame_size};
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
  Buffer frame = MakeFrame(Cut(1, ChunkSize::Variable()), pieces);
  FillBytes(Part(frame, {0, PartsOf(frame).header_len}), std::byte{0});
  ExpectSaved(SalvageBytes(frame, Options()), all);
}

INSTANTIATE_TEST_SUITE_P(MappedOrRead, SalvageEitherWayTest, testing::Bool());

TEST_F(SalvageDamageTest, EachOfTheThreePartsMayBeMissingAlone) {
  for (const int32_t typesize : {4, 8}) {
    const Buffer items = MakeItems(5 * kChunk + 8);
    const Buffer frame = MakeFrame(Cut(typesize, kChunk), {items});
    const FrameParts parts = PartsOf(frame);
    for (const ByteRange range :
         {ByteRange{0, parts.header_len}, ByteRange{parts.index_begin, parts.trailer_begin},
          ByteRange{parts.trailer_begin, parts.frame_size},
          ByteRange{parts.frame_size - 23, parts.frame_size},
          ByteRange{parts.trailer_begin, parts.trailer_begin + 20}}) {
      Buffer damaged = frame;
      Ruin(damaged, range);
      const auto report = SalvageBytes(damaged);
      ASSERT_NO_FATAL_FAILURE(ExpectSaved(report, items));
      // The trailer has a copy of the header, and the fingerprints of the index's chunks.
      if (range.begin == 0 || range.begin == parts.index_begin) {
        EXPECT_TRUE(report->lost.empty() && report->unproven.empty());
        continue;
      }
      ASSERT_EQ(report->lost.size(), 1u);
      EXPECT_LE(report->lost[0].begin, range.begin);
      EXPECT_GE(report->lost[0].end, range.end);
    }
  }
}

TEST_F(SalvageDamageTest, DamagedChunkLeavesAHoleAndIsNamed) {
  const Buffer items = MakeItems(5 * kChunk);
  Buffer frame = MakeFrame(Cut(4, kChunk), {items});
  const ByteRange lost = PlacesOf(frame)[2];
  // The size of the first stream.
  frame[static_cast<size_t>(lost.begin) + 36 + 3] ^= std::byte{0x40};
  const auto report = SalvageBytes(frame);
  ASSERT_TRUE(IsOk(report));
  EXPECT_EQ(report->chunks, 4);
  EXPECT_EQ(report->nbytes, 4 * kChunk);
  EXPECT_EQ(report->holes, std::vector<int64_t>{2});
  EXPECT_TRUE(report->unproven.empty());
  ASSERT_EQ(report->lost.size(), 1u);
  ExpectLost(report->lost[0], lost, "chunk 2: ");
  const Snapshot saved = Saved();
  EXPECT_EQ(saved.info().nchunks, 5);
  EXPECT_EQ(saved.vlmetalayers(), (std::vector<std::string>{"noise", "text", "lost_chunks"}));
  for (int64_t i = 0; i < 5; ++i) {
    Buffer chunk(kChunk);
    const absl::Status status = saved.ReadChunk(i, chunk);
    if (i == 2) {
      EXPECT_TRUE(Fails(status, absl::StatusCode::kDataLoss, "a hole"));
    } else {
      ASSERT_TRUE(IsOk(status));
      EXPECT_TRUE(std::ranges::equal(chunk, Bytes(items).subspan(i * kChunk, kChunk)));
    }
  }
  const auto verified = saved.Verify();
  ASSERT_TRUE(IsOk(verified));
  ASSERT_EQ(verified->findings.size(), 1u);
  EXPECT_EQ(verified->findings[0].section, "chunk 2");
}

TEST_F(SalvageDamageTest, WithoutFingerprintsNoChunkIsProven) {
  const Buffer items = MakeItems(3 * kChunk);
  CreateOptions options = Cut(4, kChunk);
  options.fingerprint = FingerprintType::kNone;
  const auto report = SalvageBytes(MakeFrame(options, {items}));
  ASSERT_NO_FATAL_FAILURE(ExpectSaved(report, items));
  EXPECT_EQ(report->unproven, (std::vector<int64_t>{0, 1, 2}));
  EXPECT_TRUE(IsOk(Saved().GetVlmetalayer("unproven_chunks")));
}

TEST_F(SalvageDamageTest, NoChunkIsLookedForInsideABrokenOne) {
  CreateOptions options = Cut(4, kChunk);
  options.compression.filters.clear();
  options.compression.blocksize = kChunk / 2;
  // The second block does not compress and is stored as it is, the chunks in it too.
  const Buffer before = MakeNoise(kChunk, 1);
  Buffer items = before;
  AddTo(items, Repeated(AsBytes("compresses well, "), kChunk / 2));
  AddTo(items, Compressed(MakeNoise(kChunk / 2 - 32, 2), OfTypesize(4)));
  AddTo(items, MakeNoise(kChunk, 3));
  Buffer frame = MakeFrame(options, {items});
  const ByteRange lost = PlacesOf(frame)[1];
  frame[static_cast<size_t>(lost.begin) + 40 + 3] ^= std::byte{0x40};
  const auto report = SalvageBytes(frame);
  ASSERT_TRUE(IsOk(report));
  EXPECT_EQ(report->chunks, 2);
  ASSERT_EQ(report->lost.size(), 1u);
  ExpectLost(report->lost[0], lost, "chunk 1: ");
}

// A commit that was rolled back may leave bytes that read like the header of an old chunk.
class SalvageRemainsTest : public Salvaging {
 protected:
  // Puts them between the first two chunks, and expects that they alone are lost. The chunk that
  // they tell of is `size` bytes long without its header, or as long as the next two chunks.
  void ExpectRemainsHideNothing(std::byte flags, std::optional<int64_t> size) {
    const Buffer items = MakeNoise(5 * kChunk);
    Buffer frame = MakeFrame(Cut(4, kChunk), {items});
    const std::vector<ByteRange> places = PlacesOf(frame);
    const int64_t two_chunks = places[2].end - places[1].begin;
    Buffer remains = {std::byte{0xC3}, std::byte{2}, std::byte{1}, flags, std::byte{4}};
    for (const int64_t number :
         {int64_t{2} * kChunk, int64_t{2} * kChunk, 16 + size.value_or(two_chunks)}) {
      remains.resize(remains.size() + 4);
      StoreLe<uint32_t>(&remains[remains.size() - 4], static_cast<uint32_t>(number));
    }
    frame.insert(frame.begin() + places[1].begin, remains.begin(), remains.end());
    const auto report = SalvageBytes(frame);
    ASSERT_NO_FATAL_FAILURE(ExpectSaved(report, items));
    ASSERT_EQ(report->lost.size(), 1u);
    const int64_t begin = places[1].begin;
    ExpectLost(report->lost[0], {begin, begin + std::ssize(remains)}, "no chunk begins here");
  }
};

TEST_F(SalvageRemainsTest, BrokenChunkThatEndsWhereAnotherBeginsHidesNone) {
  ExpectRemainsHideNothing(std::byte{0}, std::nullopt);
}

TEST_F(SalvageRemainsTest, MemcpyedChunkHidesNone) {
  ExpectRemainsHideNothing(std::byte{2}, 2 * kChunk);
}

TEST_F(SalvageDamageTest, ChunkWithoutItsHeaderIsLost) {
  const Buffer items = MakeNoise(5 * kChunk);
  Buffer frame = MakeFrame(Cut(4, kChunk), {items});
  const ByteRange lost = PlacesOf(frame)[2];
  Ruin(frame, {lost.begin, lost.begin + 16});
  const auto report = SalvageBytes(frame);
  ASSERT_TRUE(IsOk(report));
  EXPECT_EQ(report->chunks, 4);
  ASSERT_EQ(report->lost.size(), 1u);
  ExpectLost(report->lost[0], lost, "chunk 2: ");
}

TEST_F(SalvageDamageTest, OfATruncatedFileAllButTheCutChunkIsSaved) {
  const Buffer items = MakeNoise(5 * kChunk);
  Buffer frame = MakeFrame(Cut(4, kChunk), {items});
  const ByteRange cut = PlacesOf(frame)[3];
  frame.resize(static_cast<size_t>(cut.end) - 10);
  const auto report = SalvageBytes(frame);
  ASSERT_NO_FATAL_FAILURE(ExpectSaved(report, Bytes(items).first(3 * kChunk)));
  ASSERT_EQ(report->lost.size(), 1u);
  ExpectLost(report->lost[0], {cut.begin, cut.end - 10}, "the file ends");
}

// A frame whose writer died after these commits.
class SalvageJournalTest : public Salvaging {
 protected:
  Buffer MakeJournal(const CreateOptions& options, const std::vector<Buffer>& commits) {
    const std::string path = dir_.Path("journal");
    CreateOptions again = options;
    again.overwrite = true;
    EXPECT_TRUE(IsOk(WriteFrame(path, again, MakeNoise(2 * kChunk, 1))));
    auto writer = Frame::Open(path)->OpenWriter();
    EXPECT_TRUE(IsOk(writer));
    for (const Buffer& items : commits) {
      EXPECT_TRUE(IsOk(writer->Append(items)));
      EXPECT_TRUE(IsOk(writer->Commit(Durability::kProcess)));
    }
    const Buffer bytes = FileBytes(path);
    EXPECT_GT(Frame::OpenBuffer(bytes)->snapshot().info().journal_size, 0);
    return bytes;
  }
};

TEST_F(SalvageJournalTest, ChunksAndItemsThatWereCommittedAreSaved) {
  const std::vector<Buffer> commits = {MakeNoise(kChunk + 100, 2), MakeNoise(60, 3),
                                       MakeNoise(kChunk, 4), MakeNoise(8, 5)};
  Buffer all = MakeNoise(2 * kChunk, 1);
  for (const Buffer& items : commits) AddTo(all, items);
  for (const int32_t typesize : {4, 8}) {
    Buffer bytes = MakeJournal(Cut(typesize, kChunk), commits);
    Ruin(bytes, {0, PartsOf(bytes).header_len});
    auto report = SalvageBytes(bytes);
    ASSERT_NO_FATAL_FAILURE(ExpectSaved(report, all));
    EXPECT_TRUE(report->lost.empty() && report->unproven.empty());

    bytes = MakeJournal(Cut(typesize, kChunk), commits);
    RuinWhatNamesChunks(bytes);
    report = SalvageBytes(bytes);
    ASSERT_NO_FATAL_FAILURE(ExpectSaved(report, all));
    EXPECT_EQ(Saved().info().chunksize, kChunk);
    EXPECT_EQ(std::ssize(report->unproven), report->chunks);
    // Room that was reserved ahead holds nothing.
    ASSERT_GE(report->lost.size(), 2u);
    EXPECT_EQ(report->lost[0].begin, 0);
    for (size_t i = 2; i < report->lost.size(); ++i) {
      EXPECT_EQ(report->lost[i].reason, "zeros");
    }
  }
}

TEST_F(SalvageJournalTest, ItemsThatReadLikeAChunkAreNoChunk) {
  const Buffer chunk = Compressed(MakeNoise(400, 3), OfTypesize(4));
  Buffer bytes = MakeJournal(Cut(4, kChunk), {MakeNoise(100, 2), chunk});
  RuinWhatNamesChunks(bytes);
  Buffer all = MakeNoise(2 * kChunk, 1);
  AddTo(all, MakeNoise(100, 2));
  AddTo(all, chunk);
  ExpectSaved(SalvageBytes(bytes), all);
}

TEST_F(SalvageJournalTest, DamagedRecordLosesItsItemsOnly) {
  Buffer bytes = MakeJournal(Cut(4, kChunk), {MakeNoise(kChunk, 2), MakeNoise(100, 3)});
  RuinWhatNamesChunks(bytes);
  const size_t receipt = AsText(bytes).rfind("CAIRNRCT");
  const size_t record = AsText(bytes).rfind("CAIRNJNL", receipt - 1);
  ASSERT_NE(record, std::string::npos);
  bytes[record + 30] ^= std::byte{1};
  Buffer all = MakeNoise(2 * kChunk, 1);
  AddTo(all, MakeNoise(kChunk, 2));
  const auto report = SalvageBytes(bytes);
  ASSERT_NO_FATAL_FAILURE(ExpectSaved(report, all));
  // After the receipt there is space that was reserved ahead.
  ASSERT_EQ(report->lost.size(), 4u);
  EXPECT_EQ(report->lost[2].begin, static_cast<int64_t>(record));
  EXPECT_EQ(report->lost[2].end, static_cast<int64_t>(receipt));
  EXPECT_EQ(report->lost[3].reason, "zeros");
}

}  // namespace
}  // namespace cairn::test
