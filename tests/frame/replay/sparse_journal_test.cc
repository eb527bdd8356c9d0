// Commits of sparse frames, whose records follow the index.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/recover.h"
#include "engine/format/journal.h"
#include "tests/support/bytes.h"
#include "tests/support/encode_commit.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/files.h"
#include "tests/support/frames.h"
#include "tests/support/other_boot.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"

namespace cairn::test {
namespace {

namespace fs = std::filesystem;

class SparseJournalTest : public testing::Test {
 protected:
  SparseJournalTest() {
    CreateOptions options = PlainCopies(kSmallChunk);
    options.layout = Layout::kSparse;
    EXPECT_TRUE(IsOk(WriteFrame(path_, options, MakeNoise(3 * kSmallChunk, 1))));
  }
  Frame Open(std::shared_ptr<FileSystem> files = PosixFileSystem()) const {
    auto frame = Frame::Open(path_, {.file_system = files});
    EXPECT_TRUE(IsOk(frame));
    return *std::move(frame);
  }
  Writer OpenWriter(std::shared_ptr<FileSystem> files = PosixFileSystem()) const {
    auto writer = Open(files).OpenWriter();
    EXPECT_TRUE(IsOk(writer));
    return *std::move(writer);
  }
  // Updates this chunk in a commit of its own.
  static Snapshot Update(Writer& writer, int64_t nchunk, uint64_t seed,
                         Durability durability = Durability::kProcess) {
    EXPECT_TRUE(IsOk(writer.UpdateChunk(nchunk, MakeNoise(kSmallChunk, seed))));
    auto committed = writer.Commit(durability);
    EXPECT_TRUE(IsOk(committed));
    return *std::move(committed);
  }
  static Buffer ChunkOf(const Snapshot& snapshot, int64_t nchunk) {
    Buffer chunk(kSmallChunk);
    EXPECT_TRUE(IsOk(snapshot.ReadChunk(nchunk, chunk)));
    return chunk;
  }
  std::string In(const std::string& name) const { return path_ + "/" + name; }
  size_t CountFiles() const { return NamesIn(path_).size(); }
  // The writes and syncs in the index file, and those of other files and of directories.
  static std::string OrderOf(const std::vector<Operation>& log) {
    std::string order;
    for (const Operation& operation : log) {
      const bool is_index = operation.path.ends_with("chunks.b2frame");
      if (operation.kind == Operation::Kind::kWrite && is_index) order += "write ";
      if (operation.kind == Operation::Kind::kSync) order += is_index ? "sync " : "file ";
      if (operation.kind == Operation::Kind::kSyncDirectory) order += "directory ";
    }
    return order;
  }
  // The operations of one commit.
  std::vector<Operation> LogOf(Durability durability) const {
    FaultFileSystem files;
    Writer writer = OpenWriter(Unowned(&files));
    Update(writer, 0, 20);
    EXPECT_TRUE(IsOk(writer.Append(MakeNoise(2 * kSmallChunk, 21))));
    files.StartLog();
    EXPECT_TRUE(IsOk(writer.Commit(durability)));
    return files.TakeLog();
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
};

int64_t CountSyncs(const std::vector<Operation>& log, const std::string& end) {
  return std::ranges::count_if(log, [&](const Operation& operation) {
    return operation.kind == Operation::Kind::kSync && operation.path.ends_with(end);
  });
}

int64_t CountSyncsOfDirectories(const std::vector<Operation>& log) {
  return std::ranges::count(log, Operation::Kind::kSyncDirectory, &Operation::kind);
}

TEST_F(SparseJournalTest, CommitLeavesTheIndexWhereItIs) {
  const Buffer before = FileBytes(In("chunks.b2frame"));
  Frame reader = Open();
  Writer writer = OpenWriter();
  const Snapshot committed = Update(writer, 1, 9);
  EXPECT_GT(committed.info().journal_size, 0);
  EXPECT_EQ(committed.info().frame_size, std::ssize(before));
  const Buffer after = FileBytes(In("chunks.b2frame"));
  EXPECT_TRUE(std::ranges::equal(before, Bytes(after).first(before.size())));
  const auto refreshed = reader.Refresh();
  ASSERT_TRUE(IsOk(refreshed));
  EXPECT_EQ(refreshed->info().generation, committed.info().generation);
  EXPECT_EQ(ChunkOf(*refreshed, 1), MakeNoise(kSmallChunk, 9));
  EXPECT_EQ(refreshed->info().dead_bytes, committed.info().dead_bytes);
  EXPECT_TRUE(refreshed->Verify()->ok());
}

TEST_F(SparseJournalTest, ProcessCommitSyncsNothing) {
  const std::vector<Operation> log = LogOf(Durability::kProcess);
  EXPECT_EQ(CountSyncs(log, ""), 0);
  EXPECT_EQ(CountSyncsOfDirectories(log), 0);
}

TEST_F(SparseJournalTest, DurableCommitSyncsEachNewFileOnceAndTheDirectoryAndTheIndexAfterThem) {
  const std::vector<Operation> log = LogOf(Durability::kMachine);
  EXPECT_EQ(CountSyncs(log, ".chunk"), 3);  // that of the commit before, too
  EXPECT_EQ(CountSyncsOfDirectories(log), 1);
  EXPECT_EQ(CountSyncs(log, "chunks.b2frame"), 1);
  std::vector<Operation::Kind> order;
  for (const Operation& operation : log) {
    const bool record = operation.kind == Operation::Kind::kWrite;
    if (operation.kind == Operation::Kind::kSync || record ||
        operation.kind == Operation::Kind::kSyncDirectory) {
      order.push_back(operation.kind);
    }
  }
  using Kind = Operation::Kind;
  EXPECT_EQ(order, (std::vector<Kind>{Kind::kSync, Kind::kSync, Kind::kSync, Kind::kSyncDirectory,
                                      Kind::kWrite, Kind::kSync, Kind::kWrite}));
}

TEST_F(SparseJournalTest, SharedSyncMakesTheFilesOfAllCommitsDurableBeforeTheIndex) {
  FaultFileSystem files;
  Writer writer = OpenWriter(Unowned(&files));
  Update(writer, 0, 20);
  const Snapshot second = Update(writer, 1, 21);
  ASSERT_TRUE(IsOk(writer.UpdateChunk(2, MakeNoise(kSmallChunk, 22))));  // is only staged
  files.StartLog();
  EXPECT_TRUE(IsOk(writer.Sync(second)));
  EXPECT_EQ(OrderOf(files.TakeLog()), "file file directory sync ");
}

TEST_F(SparseJournalTest, SharedSyncWhoseFilesFailStopsTheWriter) {
  FaultFileSystem files;
  Writer writer = OpenWriter(Unowned(&files));
  const Snapshot committed = Update(writer, 0, 20);
  files.Inject({});
  EXPECT_TRUE(absl::IsResourceExhausted(writer.Sync(committed)));
  EXPECT_TRUE(absl::IsResourceExhausted(writer.Sync(committed)));
  EXPECT_TRUE(absl::IsFailedPrecondition(writer.Commit().status()));
}

TEST_F(SparseJournalTest, SuspendedWriterCanSyncThoughAnotherOneRemovedItsFiles) {
  FaultFileSystem files;
  Writer writer = OpenWriter(Unowned(&files));
  Update(writer, 0, 20);
  const Snapshot committed = Update(writer, 0, 21);
  files.StartLog();
  ASSERT_TRUE(IsOk(writer.Suspend()));
  EXPECT_EQ(OrderOf(files.TakeLog()), "file file directory ");
  {
    Writer other = OpenWriter();
    Update(other, 0, 22);
    ASSERT_TRUE(IsOk(other.Close()));
  }
  EXPECT_TRUE(IsOk(writer.Sync(committed)));
}

TEST_F(SparseJournalTest, SuspendAfterADurableCommitWritesNothing) {
  FaultFileSystem files;
  Writer writer = OpenWriter(Unowned(&files));
  Update(writer, 0, 20, Durability::kMachine);
  const int64_t before = files.operations();
  ASSERT_TRUE(IsOk(writer.Suspend()));
  EXPECT_EQ(files.operations(), before);
}

TEST_F(SparseJournalTest, NextWriterGoesOnWithIt) {
  {
    Writer writer = OpenWriter();
    Update(writer, 0, 5);
    EXPECT_TRUE(IsOk(writer.Append(MakeNoise(10, 6))));
    EXPECT_TRUE(IsOk(writer.Commit(Durability::kProcess)));
  }
  Writer writer = OpenWriter();
  EXPECT_EQ(Update(writer, 1, 7).info().nchunks, 4);
  ASSERT_TRUE(IsOk(writer.Close()));
  const Snapshot closed = Open().snapshot();
  EXPECT_EQ(closed.info().journal_size, 0);
  EXPECT_EQ(ChunkOf(closed, 0), MakeNoise(kSmallChunk, 5));
  EXPECT_EQ(ChunkOf(closed, 1), MakeNoise(kSmallChunk, 7));
  EXPECT_EQ(CountFiles(), 5u);
}

TEST_F(SparseJournalTest, FilesOfEveryCommitStayUntilACheckpoint) {
  Writer writer = OpenWriter();
  for (uint64_t i = 0; i < 4; ++i) Update(writer, 0, 10 + i);
  EXPECT_EQ(CountFiles(), 8u);
  const uint64_t generation = Open().snapshot().info().generation;
  const auto before = Frame::Open(path_, {.generation = static_cast<uint64_t>(generation - 2)});
  ASSERT_TRUE(IsOk(before));
  EXPECT_EQ(ChunkOf(before->snapshot(), 0), MakeNoise(kSmallChunk, 11));
  EXPECT_EQ(Open().History()->size(), 5u);
}

TEST_F(SparseJournalTest, ReopeningAWriterKeepsThem) {
  {
    Writer writer = OpenWriter();
    Update(writer, 0, 10);
    Update(writer, 0, 11);
  }
  Writer writer = OpenWriter();
  EXPECT_EQ(CountFiles(), 6u);
}

TEST_F(SparseJournalTest, CheckpointRemovesThem) {
  Writer writer = OpenWriter();
  for (uint64_t i = 0; i < 4; ++i) Update(writer, 0, 10 + i);
  ASSERT_TRUE(IsOk(writer.Checkpoint()));
  EXPECT_EQ(CountFiles(), 4u);
}

TEST_F(SparseJournalTest, ReclaimRemovesThem) {
  Writer writer = OpenWriter();
  for (uint64_t i = 0; i < 4; ++i) Update(writer, 0, 10 + i);
  const auto report = writer.Reclaim();
  ASSERT_TRUE(IsOk(report));
  EXPECT_GE(report->freed, 4 * kSmallChunk);
  EXPECT_FALSE(report->blocked);
  EXPECT_EQ(CountFiles(), 4u);
}

TEST_F(SparseJournalTest, ManyDeadFilesAreDueForACheckpoint) {
  constexpr size_t kLarge = size_t{1} << 20;
  CreateOptions options = PlainCopies(kLarge);
  options.layout = Layout::kSparse;
  const std::string path = dir_.Path("large");
  ASSERT_TRUE(IsOk(WriteFrame(path, options, MakeNoise(kLarge, 1))));
  auto writer = Frame::Open(path)->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  for (uint64_t i = 0; i < 30; ++i) {
    ASSERT_TRUE(IsOk(writer->UpdateChunk(0, MakeNoise(kLarge, i))));
    ASSERT_TRUE(IsOk(writer->Commit(Durability::kProcess)));
    EXPECT_LE(NamesIn(path).size(), 8u);
  }
}

TEST_F(SparseJournalTest, ReaderOfAReplacedIndexKeepsItsFilesAndNoLonger) {
  Writer writer = OpenWriter();
  Update(writer, 0, 10);
  std::optional<Frame> reader = Open();
  Update(writer, 0, 11);
  ASSERT_TRUE(IsOk(writer.Checkpoint()));
  Update(writer, 1, 12);
  EXPECT_EQ(ChunkOf(reader->snapshot(), 0), MakeNoise(kSmallChunk, 10));
  // An up-to-date reader holds nothing of the old index.
  ASSERT_TRUE(IsOk(reader->Refresh()));
  EXPECT_EQ(ChunkOf(reader->snapshot(), 1), MakeNoise(kSmallChunk, 12));
  Update(writer, 1, 13);
  EXPECT_EQ(CountFiles(), 6u);  // the index, three chunks, and what the journal replaced
}

TEST_F(SparseJournalTest, AfterAPowerCutACommitWithoutItsFileIsNone) {
  {
    Writer writer = OpenWriter();
    Update(writer, 0, 10);
  }
  ASSERT_TRUE(fs::remove(In("00000003.chunk")));
  OtherBoot files;
  EXPECT_EQ(Open(Unowned(&files)).snapshot().info().generation, 1u);
  Writer writer = OpenWriter(Unowned(&files));
  EXPECT_EQ(Update(writer, 0, 11).info().generation, 2u);
}

TEST_F(SparseJournalTest, AfterAPowerCutACommitWithOtherContentIsNone) {
  {
    Writer writer = OpenWriter();
    Update(writer, 0, 10);
  }
  Buffer chunk = FileBytes(In("00000003.chunk"));
  chunk.back() ^= std::byte{1};
  PutFileBytes(In("00000003.chunk"), chunk);
  OtherBoot files;
  EXPECT_EQ(Open(Unowned(&files)).snapshot().info().generation, 1u);
}

TEST_F(SparseJournalTest, DurableCommitWithoutItsFileIsDamageOfThatChunk) {
  {
    Writer writer = OpenWriter();
    Update(writer, 0, 10, Durability::kMachine);
  }
  ASSERT_TRUE(fs::remove(In("00000003.chunk")));
  OtherBoot files;
  const Snapshot snapshot = Open(Unowned(&files)).snapshot();
  EXPECT_EQ(snapshot.info().generation, 2u);
  Buffer chunk(kSmallChunk);
  EXPECT_TRUE(IsDamage(snapshot.ReadChunk(0, chunk), "00000003.chunk"));
  // The chunk can be written again.
  Writer writer = OpenWriter(Unowned(&files));
  ASSERT_TRUE(IsOk(writer.UpdateChunk(0, MakeNoise(kSmallChunk, 11))));
}

TEST_F(SparseJournalTest, DamagedRecordStrandsTheCommitsAfterIt) {
  int64_t end = 0;
  {
    Writer writer = OpenWriter();
    const FrameInfo info = Update(writer, 0, 10).info();
    end = info.frame_size + info.journal_size;
    Update(writer, 1, 11);
  }
  Buffer index = FileBytes(In("chunks.b2frame"));
  index[static_cast<size_t>(end - format::kReceiptSize - 10)] ^= std::byte{4};
  PutFileBytes(In("chunks.b2frame"), index);
  const Snapshot snapshot = Open().snapshot();
  EXPECT_TRUE(snapshot.info().journal_damaged);
  EXPECT_EQ(snapshot.info().stranded_commits, 2);
  EXPECT_TRUE(absl::IsDataLoss(Open().OpenWriter().status()));
  EXPECT_TRUE(fs::exists(In("00000004.chunk")));
  EXPECT_TRUE(absl::IsDataLoss(Recover(path_).status()));
  const auto report = Recover(path_, {.drop_stranded = true});
  ASSERT_TRUE(IsOk(report));
  EXPECT_EQ(report->stranded_commits, 2);
  EXPECT_EQ(CountFiles(), 4u);
  EXPECT_FALSE(Open().snapshot().info().journal_damaged);
}

TEST_F(SparseJournalTest, RecoverWritesACheckpoint) {
  {
    Writer writer = OpenWriter();
    Update(writer, 0, 10);
  }
  const auto report = Recover(path_);
  ASSERT_TRUE(IsOk(report));
  EXPECT_EQ(report->commits, 1);
  const Snapshot snapshot = Open().snapshot();
  EXPECT_EQ(snapshot.info().journal_size, 0);
  EXPECT_EQ(ChunkOf(snapshot, 0), MakeNoise(kSmallChunk, 10));
}

// No writer leaves such a record, so it is not a commit. The record of the last one is written
// again with this number of a chunk file.
TEST_F(SparseJournalTest, RecordThatNamesNoChunkFileIsDamage) {
  int64_t begin = 0;
  {
    Writer writer = OpenWriter();
    begin = Open().snapshot().info().frame_size;
    Update(writer, 0, 10);
  }
  Buffer index = FileBytes(In("chunks.b2frame"));
  for (const int64_t number : {int64_t{3}, int64_t{0x100000000}}) {
    auto commit = format::ParseCommit(
        Bytes(index)
            .subspan(static_cast<size_t>(begin))
            .first(index.size() - static_cast<size_t>(begin) - format::kReceiptSize),
        begin);
    ASSERT_TRUE(IsOk(commit));
    ASSERT_EQ(commit->chunks.size(), 1u);
    std::get<format::ReplaceEdit>(commit->chunks[0]).chunk.entry.value = number;
    Buffer changed = index;
    std::ranges::copy(EncodeCommit(*commit, begin), changed.begin() + begin);
    PutFileBytes(In("chunks.b2frame"), changed);
    EXPECT_EQ(Open().snapshot().info().journal_damaged, number != 3) << number;
  }
}

}  // namespace
}  // namespace cairn::test
