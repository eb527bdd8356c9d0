// Journals that were forged, or that a reader cannot take: nothing that was committed is cut,
// and none costs more than it is long.
#include <algorithm>
#include <functional>
#include <memory>
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
#include "engine/chunk/special.h"
#include "engine/format/index_entry.h"
#include "engine/format/journal.h"
#include "engine/format/seal.h"
#include "engine/frame/open/frame_core.h"
#include "tests/support/bytes.h"
#include "tests/support/cost.h"
#include "tests/support/encode_commit.h"
#include "tests/support/files.h"
#include "tests/support/frame_parts.h"
#include "tests/support/frames.h"
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
    ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(64), MakeNoise(256, 1))));
  }
  Frame Open(const OpenOptions& options = {}) const {
    auto frame = Frame::Open(path_, options);
    EXPECT_TRUE(IsOk(frame));
    return *std::move(frame);
  }
  void AppendToFile(Bytes bytes) {
    Buffer all = FileBytes(path_);
    all.insert(all.end(), bytes.begin(), bytes.end());
    PutFileBytes(path_, all);
  }
  // At the end of the file.
  Buffer AtEnd(const format::CommitRecord& commit) const {
    return EncodeCommit(commit, std::ssize(FileBytes(path_)));
  }
  void AppendToFile(const format::CommitRecord& commit) { AppendToFile(AtEnd(commit)); }
  // A commit that follows and changes nothing.
  format::CommitRecord NextCommit() const {
    const auto core = frame::FrameCore::Open(path_, {});
    const std::shared_ptr<const frame::State> state = (*core)->newest();
    format::CommitRecord commit;
    commit.links = {.base = state->journal->base,
                    .generation = state->journal->generation + 1,
                    .previous = state->journal->last,
                    .durable_end = state->journal->end};
    commit.totals = {.nchunks = state->chunks.size(),
                     .nbytes = state->nbytes,
                     .stored_bytes = -1,
                     .chunksize = state->chunksize,
                     .vlblocks = false};
    return commit;
  }
  // Opens and reads the frame with journals of 1 and of 4 MiB after it.
  void ExpectReadInLinearTime(const std::function<Buffer(int64_t)>& journal_of_size) const {
    const Buffer frame = FileBytes(path_);
    ExpectLinear(1 << 20, [&](int64_t size) {
      const std::string path = dir_.Path(std::to_string(size));
      Buffer all = frame;
      AddTo(all, journal_of_size(size));
      PutFileBytes(path, all);
      return [path] {
        const auto opened = Frame::Open(path);
        ASSERT_TRUE(IsOk(opened));
        EXPECT_EQ(DataOf(opened->snapshot()).value(), MakeNoise(256, 1));
      };
    });
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
};

TEST_F(JournalTrustTest, CommitsThatPassALimitAreNotCut) {
  ASSERT_TRUE(IsOk(AppendTo(path_, MakeNoise(256, 2))));
  {
    Frame frame = Open();
    auto writer = frame.OpenWriter();
    ASSERT_TRUE(IsOk(writer->Append(MakeNoise(256, 3))));
    ASSERT_TRUE(IsOk(writer->Commit()));
  }
  const Buffer before = FileBytes(path_);
  EXPECT_TRUE(
      absl::IsResourceExhausted(Frame::Open(path_, {.limits = {.max_nchunks = 8}}).status()));
  EXPECT_EQ(FileBytes(path_), before);
  EXPECT_EQ(Open().snapshot().info().nchunks, 12);
}

TEST_F(JournalTrustTest, CommitWithoutItsChunksIsNoneWhateverLimitItWouldPass) {
  format::CommitRecord commit = NextCommit();
  commit.totals->nchunks += 1;
  commit.totals->nbytes += 64;
  commit.chunks = {format::InsertEdit{
      .nchunk = 4,
      .chunk = {.entry = {.value = commit.links.durable_end - PartsOf(FileBytes(path_)).header_len,
                          .fingerprint = 1,
                          .cbytes = 96},
                .nbytes = 64}}};
  AppendToFile(MakeNoise(96, 3));
  AppendToFile(commit);
  Frame frame = Open({.limits = {.max_nchunks = 4}});
  EXPECT_EQ(DataOf(frame.snapshot()).value(), MakeNoise(256, 1));
  EXPECT_TRUE(IsOk(frame.OpenWriter()));
}

TEST_F(JournalTrustTest, EditsOfALayerWhoseNameIsRefusedAreReplayed) {
  const std::string name("a\0b", 3);
  CreateOptions options = PlainCopies(64);
  options.fingerprint = FingerprintType::kNone;
  options.overwrite = true;
  ASSERT_TRUE(IsOk(WriteFrame(path_, options, MakeNoise(256, 1), {{"aXb", "note"}})));
  Buffer bytes = FileBytes(path_);
  const Bytes before = AsBytes("aXb");
  const auto at = std::search(bytes.begin(), bytes.end(), before.begin(), before.end());
  ASSERT_NE(at, bytes.end());
  at[1] = std::byte{0};
  PutFileBytes(path_, bytes);

  Frame frame = Open();
  ASSERT_EQ(frame.snapshot().vlmetalayers(), std::vector{name});
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer->DeleteVlmetalayer(name)));
  ASSERT_TRUE(IsOk(writer->Commit()));
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(64, 2))));
  ASSERT_TRUE(IsOk(writer->Commit()));
  const Snapshot snapshot = Open().snapshot();
  EXPECT_FALSE(snapshot.info().journal_damaged);
  EXPECT_TRUE(snapshot.vlmetalayers().empty());
  EXPECT_EQ(snapshot.info().nbytes, 320);
}

TEST_F(JournalTrustTest, CommitWhoseTotalsCannotBeIsNotReplayed) {
  const Buffer before = FileBytes(path_);
  const auto refuses = [&](const format::CommitRecord& commit) {
    PutFileBytes(path_, before);
    AppendToFile(commit);
    return Open().snapshot().info().journal_damaged;
  };
  const Buffer item(1);
  format::CommitRecord commit = NextCommit();
  EXPECT_FALSE(refuses(commit));
  commit.totals->nbytes = INT64_MIN;
  commit.partial.items = item;
  EXPECT_TRUE(refuses(commit));
}

TEST_F(JournalTrustTest, VariableChunksOfNoBytesAreNotReplayed) {
  CreateOptions options = PlainCopies(ChunkSize::Variable());
  options.overwrite = true;
  ASSERT_TRUE(IsOk(WriteFrame(path_, options, {})));
  const Buffer chunk = chunk::MemcpyedChunk(MakeNoise(64, 2));
  format::CommitRecord commit = NextCommit();
  commit.chunks = {format::InsertEdit{
      .nchunk = 0,
      .chunk = {.entry = {.value = commit.links.durable_end - PartsOf(FileBytes(path_)).header_len,
                          .fingerprint = format::HashChunk(chunk),
                          .cbytes = static_cast<int32_t>(chunk.size())},
                .nbytes = 64}}};
  commit.totals->nchunks = 1;
  AppendToFile(chunk);
  const Buffer before = FileBytes(path_);
  for (const int64_t nbytes : {0, 64}) {
    PutFileBytes(path_, before);
    commit.totals->nbytes = nbytes;
    AppendToFile(commit);
    EXPECT_EQ(Open().snapshot().info().journal_damaged, nbytes == 0);
  }
}

TEST_F(JournalTrustTest, PartialChunkIsNoLongerThanAChunkCanBe) {
  CreateOptions options = PlainCopies(64);
  options.overwrite = true;
  ASSERT_TRUE(IsOk(WriteFrame(path_, options, {})));
  Buffer bytes = FileBytes(path_);
  format::CommitRecord commit = NextCommit();
  const Buffer items(40);
  const int32_t head = kMaxChunkBytes - 15;
  commit.totals->chunksize = INT32_MAX;
  commit.totals->nbytes = int64_t{head} + std::ssize(items);
  commit.partial.replaces = true;
  commit.partial.head = {.entry = {.value = format::EntryOfSpecial(SpecialValue::kZeros)},
                         .nbytes = head};
  commit.partial.items = items;
  AppendToFile(commit);
  const Snapshot snapshot = Open().snapshot();
  EXPECT_TRUE(snapshot.info().journal_damaged);
  EXPECT_EQ(snapshot.info().nchunks, 0);
}

TEST_F(JournalTrustTest, RecordOfALaterVersionIsNotCut) {
  Buffer record = AtEnd(NextCommit());
  record[8] = std::byte{4};
  Reseal(record);
  AppendToFile(record);
  const Buffer before = FileBytes(path_);
  Frame frame = Open();
  EXPECT_EQ(DataOf(frame.snapshot()).value(), MakeNoise(256, 1));
  EXPECT_TRUE(IsDamage(frame.OpenWriter().status(), "journal"));
  EXPECT_EQ(FileBytes(path_), before);
}

TEST_F(JournalTrustTest, IntactCommitThatCannotBeIsNotCut) {
  format::CommitRecord commit = NextCommit();
  commit.totals->nbytes += 1000;
  AppendToFile(commit);
  const Buffer before = FileBytes(path_);
  Frame frame = Open();
  EXPECT_EQ(DataOf(frame.snapshot()).value(), MakeNoise(256, 1));
  EXPECT_FALSE(frame.snapshot().Verify()->ok());
  EXPECT_TRUE(IsDamage(frame.OpenWriter().status(), "journal"));
  EXPECT_EQ(FileBytes(path_), before);
}

TEST_F(JournalTrustTest, CommitWhoseChunksOverlapIsNotReplayed) {
  const Buffer chunk = chunk::MemcpyedChunk(MakeNoise(64, 2));
  const int64_t header_len = PartsOf(FileBytes(path_)).header_len;
  format::CommitRecord commit = NextCommit();
  const format::IndexedChunk placed = {.entry = {.value = commit.links.durable_end - header_len,
                                                 .fingerprint = format::HashChunk(chunk),
                                                 .cbytes = static_cast<int32_t>(chunk.size())},
                                       .nbytes = 64};
  AppendToFile(chunk);
  const Buffer before = FileBytes(path_);
  // The chunk is the first one, and perhaps the last one too.
  for (const bool twice : {false, true}) {
    PutFileBytes(path_, before);
    commit.chunks = {format::ReplaceEdit{.nchunk = 0, .chunk = placed}};
    if (twice) commit.chunks.push_back(format::ReplaceEdit{.nchunk = 3, .chunk = placed});
    AppendToFile(commit);
    EXPECT_EQ(DataOf(Open().snapshot()).value() == MakeNoise(256, 1), twice);
    EXPECT_EQ(Open().snapshot().Verify()->ok(), !twice);
  }
}

// No read needs the sum of the bytes that chunks take. Edits that would lead out of its range are
// applied without it.
TEST_F(JournalTrustTest, CommitsCountWhereTheStoredBytesBeforeThemCannotBe) {
  const Buffer before = FileBytes(path_);
  for (const int64_t stored : {int64_t{0}, INT64_MAX}) {
    SCOPED_TRACE(stored);
    PutFileBytes(path_, before);
    format::CommitRecord commit = NextCommit();
    commit.totals->stored_bytes = stored;
    AppendToFile(commit);
    Frame frame = Open();
    auto writer = frame.OpenWriter();
    ASSERT_TRUE(IsOk(writer));
    if (stored == 0) {
      ASSERT_TRUE(IsOk(writer->DeleteChunks(0, 1)));
    } else {
      ASSERT_TRUE(IsOk(writer->Append(MakeNoise(64, 2))));
    }
    const auto committed = writer->Commit();
    ASSERT_TRUE(IsOk(committed));
    const Buffer data = DataOf(*committed).value();
    EXPECT_EQ(DataOf(Open().snapshot()).value(), data);
    ASSERT_TRUE(IsOk(writer->Close()));
    EXPECT_EQ(DataOf(Open().snapshot()).value(), data);
    EXPECT_TRUE(Open().snapshot().info().sealed);
    EXPECT_TRUE(Open().snapshot().Verify()->ok());
  }
}

TEST_F(JournalTrustTest, CheckpointSealsWhereTheStoredBytesCannotBe) {
  format::CommitRecord commit = NextCommit();
  commit.totals->stored_bytes = INT64_MAX;
  AppendToFile(commit);
  ASSERT_TRUE(IsOk(Open().OpenWriter()->Close()));
  EXPECT_TRUE(Open().snapshot().info().sealed);
  EXPECT_EQ(Open().snapshot().info().dead_bytes, std::nullopt);
  EXPECT_TRUE(Open().snapshot().Verify()->ok());
}

TEST_F(JournalTrustTest, CommitBringsNoMoreLayersThanATrailerHolds) {
  format::CommitRecord commit = NextCommit();
  for (int i = 0; i <= kMaxVlMetalayers; ++i) {
    commit.layers.push_back(
        {.kind = format::LayerEdit::Kind::kSetVlmeta, .name = std::to_string(i)});
  }
  AppendToFile(commit);
  EXPECT_TRUE(Open().snapshot().vlmetalayers().empty());
}

// The head of a record that claims the rest of the file.
Buffer HeadOf(uint64_t size) {
  Buffer head = EncodeCommit({}, 0);
  head.resize(static_cast<size_t>(format::kRecordHeadSize));
  StoreLe(head.data() + format::kRecordHeadSize - sizeof(size), size);
  return head;
}

TEST_F(JournalTrustTest, ManyHeadsOfRecordsAreSearchedInLinearTime) {
  ExpectReadInLinearTime([](int64_t size) {
    Buffer heads = {std::byte{1}};  // the search begins where nothing can be read
    while (std::ssize(heads) < size) {
      AddTo(heads, HeadOf(static_cast<uint64_t>(size - std::ssize(heads))));
    }
    return heads;
  });
}

TEST_F(JournalTrustTest, HeadsOfRecordsBetweenCommitsAreSearchedInLinearTime) {
  ExpectReadInLinearTime([this](int64_t size) {
    format::CommitRecord commit = NextCommit();
    Buffer journal;
    while (std::ssize(journal) < size) {
      AddTo(journal, HeadOf(static_cast<uint64_t>(size - std::ssize(journal))));
      const Buffer record = EncodeCommit(commit, commit.links.durable_end + std::ssize(journal));
      AddTo(journal, record);
      commit.links.previous = format::StoredChecksum(record);
      ++commit.links.generation;
    }
    return journal;
  });
}

TEST_F(JournalTrustTest, RecordThatClaimsAHoleCostsNoMemory) {
  constexpr int64_t kSize = int64_t{8} << 40;
  Buffer head = HeadOf(kSize);
  const int64_t end = std::ssize(FileBytes(path_));
  AppendToFile(head);
  if (::truncate(path_.c_str(), end + kSize) != 0) GTEST_SKIP() << "no such large files";
  EXPECT_EQ(DataOf(Open().snapshot()).value(), MakeNoise(256, 1));
}

TEST_F(JournalTrustTest, BytesAfterAFrameInALargerFileAreNotSearched) {
  Buffer larger = MakeNoise(16, 7);
  const Buffer whole = FileBytes(path_);
  larger.insert(larger.end(), whole.begin(), whole.end());
  larger.push_back(std::byte{1});
  // After a byte that is neither chunk nor record.
  const Buffer record = EncodeCommit(NextCommit(), std::ssize(whole) + 1);
  larger.insert(larger.end(), record.begin(), record.end());
  PutFileBytes(path_, larger);
  const Snapshot snapshot = Open({.offset = 16}).snapshot();
  EXPECT_EQ(snapshot.info().journal_size, 0);
  EXPECT_TRUE(snapshot.Verify()->ok());
}

}  // namespace
}  // namespace cairn::test
