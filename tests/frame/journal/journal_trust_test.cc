// Journals that somebody made up, or that a reader cannot take: nothing that was committed is cut,
// and none costs more than it is long.
#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/base/hash.h"
#include "engine/chunk/plain.h"
#include "engine/format/index_entry.h"
#include "engine/format/journal.h"
#include "engine/format/seal.h"
#include "engine/frame/open/frame_core.h"
#include "tests/frame/small_frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

constexpr size_t kHashSize = 8;

void Reseal(MutableBytes record) {
  StoreLe(record.last(kHashSize).data(), Xxh3(Bytes(record).first(record.size() - kHashSize)));
}

class JournalTrustTest : public testing::Test {
 protected:
  // A checkpoint of four chunks.
  void SetUp() override {
    ASSERT_EQ(WriteFrame(path_, PlainCopies(64), Noise(256, 1)), absl::OkStatus());
  }
  Frame Open(const OpenOptions& options = {}) const {
    auto frame = Frame::Open(path_, options);
    EXPECT_EQ(frame.status(), absl::OkStatus());
    return *std::move(frame);
  }
  void PutBehind(Bytes bytes) {
    std::vector<std::byte> all = FileBytes(path_);
    all.insert(all.end(), bytes.begin(), bytes.end());
    PutFileBytes(path_, all);
  }
  // As a record behind all that the file holds.
  std::vector<std::byte> AtEnd(const format::CommitRecord& batch) const {
    return format::EncodeBatch(batch, std::ssize(FileBytes(path_)));
  }
  void PutBehind(const format::CommitRecord& batch) { PutBehind(AtEnd(batch)); }
  // A batch that follows and changes nothing.
  format::CommitRecord NextBatch() const {
    const auto core = frame::FrameCore::Open(path_, {});
    const std::shared_ptr<const frame::State> state = (*core)->newest();
    format::CommitRecord batch;
    batch.links = {.base = state->journal->base,
                   .generation = state->journal->generation + 1,
                   .previous = state->journal->last,
                   .durable_end = state->journal->end};
    batch.totals = {.nchunks = state->chunks.size(),
                    .nbytes = state->nbytes,
                    .stored_bytes = -1,
                    .chunksize = state->chunksize,
                    .vlblocks = false};
    return batch;
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
};

TEST_F(JournalTrustTest, CommitsThatPassALimitAreNotCut) {
  ASSERT_EQ(AppendTo(path_, Noise(256, 2)), absl::OkStatus());
  {
    Frame frame = Open();
    auto writer = frame.OpenWriter();
    ASSERT_EQ(writer->Append(Noise(256, 3)), absl::OkStatus());
    ASSERT_EQ(writer->Commit().status(), absl::OkStatus());
  }
  const std::vector<std::byte> before = FileBytes(path_);
  EXPECT_TRUE(
      absl::IsResourceExhausted(Frame::Open(path_, {.limits = {.max_nchunks = 8}}).status()));
  EXPECT_EQ(FileBytes(path_), before);
  EXPECT_EQ(Open().snapshot().info().nchunks, 12);
}

TEST_F(JournalTrustTest, ACommitWithoutItsChunksIsNoneWhateverLimitItWouldPass) {
  format::CommitRecord batch = NextBatch();
  batch.totals.nchunks += 1;
  batch.totals.nbytes += 64;
  batch.chunks = {format::InsertEdit{
      .nchunk = 4,
      .chunk = {.entry = batch.links.durable_end - PartsOf(FileBytes(path_)).header_len,
                .fingerprint = 1,
                .nbytes = 64,
                .cbytes = 96}}};
  PutBehind(Noise(96, 3));
  PutBehind(batch);
  Frame frame = Open({.limits = {.max_nchunks = 4}});
  EXPECT_EQ(DataOf(frame.snapshot()).value(), Noise(256, 1));
  EXPECT_EQ(frame.OpenWriter().status(), absl::OkStatus());
}

TEST_F(JournalTrustTest, EditsOfALayerWhoseNameNobodyMayGiveAreReplayed) {
  const std::string name("a\0b", 3);
  CreateOptions options = PlainCopies(64);
  options.fingerprint = FingerprintType::kNone;
  options.overwrite = true;
  ASSERT_EQ(WriteFrame(path_, options, Noise(256, 1), {{"aXb", "note"}}), absl::OkStatus());
  std::vector<std::byte> bytes = FileBytes(path_);
  const Bytes before = AsBytes("aXb");
  const auto at = std::search(bytes.begin(), bytes.end(), before.begin(), before.end());
  ASSERT_NE(at, bytes.end());
  at[1] = std::byte{0};
  PutFileBytes(path_, bytes);

  Frame frame = Open();
  ASSERT_EQ(frame.snapshot().vlmetalayers(), std::vector{name});
  auto writer = frame.OpenWriter();
  ASSERT_EQ(writer->DeleteVlmeta(name), absl::OkStatus());
  ASSERT_EQ(writer->Commit().status(), absl::OkStatus());
  ASSERT_EQ(writer->Append(Noise(64, 2)), absl::OkStatus());
  ASSERT_EQ(writer->Commit().status(), absl::OkStatus());
  const Snapshot snapshot = Open().snapshot();
  EXPECT_FALSE(snapshot.info().journal_damaged);
  EXPECT_TRUE(snapshot.vlmetalayers().empty());
  EXPECT_EQ(snapshot.info().nbytes, 320);
}

TEST_F(JournalTrustTest, ABatchWhoseTotalsCannotBeIsNotFollowed) {
  const std::vector<std::byte> before = FileBytes(path_);
  const auto refuses = [&](const format::CommitRecord& batch) {
    PutFileBytes(path_, before);
    PutBehind(batch);
    return Open().snapshot().info().journal_damaged;
  };
  const std::vector<std::byte> item(1);
  format::CommitRecord batch = NextBatch();
  EXPECT_FALSE(refuses(batch));
  batch.totals.nbytes = INT64_MIN;
  batch.tail.items = item;
  EXPECT_TRUE(refuses(batch));
}

TEST_F(JournalTrustTest, VariableChunksOfNoBytesAreNotFollowed) {
  CreateOptions options = PlainCopies(CreateOptions::kVariableChunks);
  options.overwrite = true;
  ASSERT_EQ(WriteFrame(path_, options, {}), absl::OkStatus());
  const std::vector<std::byte> chunk = chunk::PlainChunk(Noise(64, 2));
  format::CommitRecord batch = NextBatch();
  batch.chunks = {format::InsertEdit{
      .nchunk = 0,
      .chunk = {.entry = batch.links.durable_end - PartsOf(FileBytes(path_)).header_len,
                .fingerprint = format::HashChunk(chunk),
                .nbytes = 64,
                .cbytes = static_cast<int32_t>(chunk.size())}}};
  batch.totals.nchunks = 1;
  PutBehind(chunk);
  const std::vector<std::byte> before = FileBytes(path_);
  for (const int64_t nbytes : {0, 64}) {
    PutFileBytes(path_, before);
    batch.totals.nbytes = nbytes;
    PutBehind(batch);
    EXPECT_EQ(Open().snapshot().info().journal_damaged, nbytes == 0);
  }
}

TEST_F(JournalTrustTest, ATailIsNoLongerThanAChunkCanBe) {
  CreateOptions options = PlainCopies(64);
  options.overwrite = true;
  ASSERT_EQ(WriteFrame(path_, options, {}), absl::OkStatus());
  std::vector<std::byte> bytes = FileBytes(path_);
  format::CommitRecord batch = NextBatch();
  const std::vector<std::byte> items(40);
  const int32_t head = kMaxChunkBytes - 15;
  batch.totals.chunksize = INT32_MAX;
  batch.totals.nbytes = int64_t{head} + std::ssize(items);
  batch.tail.replaces = true;
  batch.tail.head = {.entry = format::EntryOfSpecial(SpecialValue::kZeros), .nbytes = head};
  batch.tail.items = items;
  PutBehind(batch);
  const Snapshot snapshot = Open().snapshot();
  EXPECT_TRUE(snapshot.info().journal_damaged);
  EXPECT_EQ(snapshot.info().nchunks, 0);
}

TEST_F(JournalTrustTest, ARecordOfALaterVersionIsNotCut) {
  std::vector<std::byte> record = AtEnd(NextBatch());
  record[8] = std::byte{3};
  Reseal(record);
  PutBehind(record);
  const std::vector<std::byte> before = FileBytes(path_);
  Frame frame = Open();
  EXPECT_EQ(DataOf(frame.snapshot()).value(), Noise(256, 1));
  EXPECT_TRUE(IsDamage(frame.OpenWriter().status(), "journal"));
  EXPECT_EQ(FileBytes(path_), before);
}

TEST_F(JournalTrustTest, AWholeBatchThatCannotBeIsNotCut) {
  format::CommitRecord batch = NextBatch();
  batch.totals.nbytes += 1000;
  PutBehind(batch);
  const std::vector<std::byte> before = FileBytes(path_);
  Frame frame = Open();
  EXPECT_EQ(DataOf(frame.snapshot()).value(), Noise(256, 1));
  EXPECT_FALSE(frame.snapshot().Verify()->ok());
  EXPECT_TRUE(IsDamage(frame.OpenWriter().status(), "journal"));
  EXPECT_EQ(FileBytes(path_), before);
}

TEST_F(JournalTrustTest, ABatchWhoseChunksOverlapIsNotFollowed) {
  const std::vector<std::byte> chunk = chunk::PlainChunk(Noise(64, 2));
  const int64_t header_len = PartsOf(FileBytes(path_)).header_len;
  format::CommitRecord batch = NextBatch();
  const format::PlacedChunk placed = {.entry = batch.links.durable_end - header_len,
                                      .fingerprint = format::HashChunk(chunk),
                                      .nbytes = 64,
                                      .cbytes = static_cast<int32_t>(chunk.size())};
  PutBehind(chunk);
  const std::vector<std::byte> before = FileBytes(path_);
  // One chunk is the first and perhaps the last too.
  for (const bool twice : {false, true}) {
    PutFileBytes(path_, before);
    batch.chunks = {format::ReplaceEdit{.nchunk = 0, .chunk = placed}};
    if (twice) batch.chunks.push_back(format::ReplaceEdit{.nchunk = 3, .chunk = placed});
    PutBehind(batch);
    EXPECT_EQ(DataOf(Open().snapshot()).value() == Noise(256, 1), twice);
    EXPECT_EQ(Open().snapshot().Verify()->ok(), !twice);
  }
}

// What chunks take in all is a count that nobody needs: edits that would lead out of its range go
// on without it.
TEST_F(JournalTrustTest, CommitsCountWhereTheStoredBytesBeforeThemCannotBe) {
  const std::vector<std::byte> before = FileBytes(path_);
  for (const int64_t stored : {int64_t{0}, INT64_MAX}) {
    SCOPED_TRACE(stored);
    PutFileBytes(path_, before);
    format::CommitRecord batch = NextBatch();
    batch.totals.stored_bytes = stored;
    PutBehind(batch);
    Frame frame = Open();
    auto writer = frame.OpenWriter();
    ASSERT_EQ(writer.status(), absl::OkStatus());
    if (stored == 0) {
      ASSERT_EQ(writer->DeleteChunks(0, 1), absl::OkStatus());
    } else {
      ASSERT_EQ(writer->Append(Noise(64, 2)), absl::OkStatus());
    }
    const auto committed = writer->Commit();
    ASSERT_EQ(committed.status(), absl::OkStatus());
    const std::vector<std::byte> data = DataOf(*committed).value();
    EXPECT_EQ(DataOf(Open().snapshot()).value(), data);
    ASSERT_EQ(writer->Close(), absl::OkStatus());
    EXPECT_EQ(DataOf(Open().snapshot()).value(), data);
    EXPECT_TRUE(Open().snapshot().info().sealed);
    EXPECT_TRUE(Open().snapshot().Verify()->ok());
  }
}

TEST_F(JournalTrustTest, ACheckpointSealsWhereTheStoredBytesCannotBe) {
  format::CommitRecord batch = NextBatch();
  batch.totals.stored_bytes = INT64_MAX;
  PutBehind(batch);
  ASSERT_EQ(Open().OpenWriter()->Close(), absl::OkStatus());
  EXPECT_TRUE(Open().snapshot().info().sealed);
  EXPECT_EQ(Open().snapshot().info().dead_bytes, -1);
  EXPECT_TRUE(Open().snapshot().Verify()->ok());
}

TEST_F(JournalTrustTest, ABatchBringsNoMoreLayersThanATrailerHolds) {
  format::CommitRecord batch = NextBatch();
  for (int i = 0; i <= kMaxVlMetalayers; ++i) {
    batch.layers.push_back(
        {.kind = format::LayerEdit::Kind::kSetVlmeta, .name = std::to_string(i)});
  }
  PutBehind(batch);
  EXPECT_TRUE(Open().snapshot().vlmetalayers().empty());
}

// The head of a record that claims the rest of the file.
std::vector<std::byte> HeadOf(uint64_t size) {
  std::vector<std::byte> head = format::EncodeBatch({}, 0);
  head.resize(static_cast<size_t>(format::kRecordHeadSize));
  StoreLe(head.data() + format::kRecordHeadSize - sizeof(size), size);
  return head;
}

TEST_F(JournalTrustTest, ManyHeadsOfRecordsCostNoMoreThanTheyAreLong) {
  constexpr uint64_t kSize = 4 << 20;
  std::vector<std::byte> heads = {std::byte{1}};  // the search begins where nothing can be read
  while (heads.size() < kSize) {
    const std::vector<std::byte> head = HeadOf(kSize - heads.size());
    heads.insert(heads.end(), head.begin(), head.end());
  }
  PutBehind(heads);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(DataOf(Open().snapshot()).value(), Noise(256, 1));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST_F(JournalTrustTest, HeadsOfRecordsBetweenBatchesCostNoMoreThanTheyAreLong) {
  constexpr uint64_t kSize = 4 << 20;
  format::CommitRecord batch = NextBatch();
  std::vector<std::byte> journal;
  while (journal.size() < kSize) {
    const std::vector<std::byte> head = HeadOf(kSize - journal.size());
    journal.insert(journal.end(), head.begin(), head.end());
    const std::vector<std::byte> record =
        format::EncodeBatch(batch, batch.links.durable_end + std::ssize(journal));
    journal.insert(journal.end(), record.begin(), record.end());
    batch.links.previous = format::StoredChecksum(record);
    ++batch.links.generation;
  }
  PutBehind(journal);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(DataOf(Open().snapshot()).value(), Noise(256, 1));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
}

TEST_F(JournalTrustTest, ARecordThatClaimsAHoleCostsNoMemory) {
  constexpr int64_t kSize = int64_t{8} << 40;
  std::vector<std::byte> head = HeadOf(kSize);
  const int64_t end = std::ssize(FileBytes(path_));
  PutBehind(head);
  if (::truncate(path_.c_str(), end + kSize) != 0) GTEST_SKIP() << "no such large files";
  EXPECT_EQ(DataOf(Open().snapshot()).value(), Noise(256, 1));
}

TEST_F(JournalTrustTest, BytesBehindAFrameInALargerFileAreNotSearched) {
  std::vector<std::byte> larger = Noise(16, 7);
  const std::vector<std::byte> whole = FileBytes(path_);
  larger.insert(larger.end(), whole.begin(), whole.end());
  larger.push_back(std::byte{1});
  // Behind a byte that is neither chunk nor record.
  const std::vector<std::byte> record = format::EncodeBatch(NextBatch(), std::ssize(whole) + 1);
  larger.insert(larger.end(), record.begin(), record.end());
  PutFileBytes(path_, larger);
  const Snapshot snapshot = Open({.offset = 16}).snapshot();
  EXPECT_EQ(snapshot.info().journal_size, 0);
  EXPECT_TRUE(snapshot.Verify()->ok());
}

}  // namespace
}  // namespace cairn::test
