// Commits after the trailer: what they cost, who sees them, and what is left of them.
#include "engine/format/journal.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "tests/support/bytes.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/files.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"

namespace cairn::test {
namespace {

using Kind = Operation::Kind;

Buffer Together(Buffer a, Bytes b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

class JournalFrameTest : public testing::Test {
 protected:
  Frame Create(const CreateOptions& given) {
    CreateOptions options = given;
    options.file_system = Unowned(&files_);
    auto frame = Frame::Create(path_, options);
    EXPECT_TRUE(IsOk(frame));
    return *std::move(frame);
  }
  Frame Open() {
    auto frame = Frame::Open(path_, {.file_system = Unowned(&files_)});
    EXPECT_TRUE(IsOk(frame));
    return *std::move(frame);
  }
  Buffer Data() { return DataOf(Open().snapshot()).value(); }
  // Returns the bytes that reached the disk meanwhile.
  int64_t BytesWritten() {
    int64_t sum = 0;
    for (const Operation& op : files_.TakeLog()) {
      if (op.kind == Kind::kWrite) sum += std::ssize(op.bytes);
    }
    return sum;
  }
  int64_t Syncs() {
    const std::vector<Operation> log = files_.TakeLog();
    return std::ranges::count(log, Kind::kSync, &Operation::kind);
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
  FaultFileSystem files_;
};

TEST_F(JournalFrameTest, AFewItemsCostAFewHundredBytesWhateverTheChunksize) {
  Frame frame = Create(PlainCopies(1 << 20));
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  files_.StartLog();
  for (uint64_t i = 0; i < 10; ++i) {
    ASSERT_TRUE(IsOk(writer->Append(MakeNoise(100, i))));
    ASSERT_TRUE(IsOk(writer->Commit()));
    EXPECT_LE(BytesWritten(), 300);
  }
  EXPECT_EQ(Open().snapshot().info().nbytes, 1000);
}

TEST_F(JournalFrameTest, ZerosAheadOfManySmallCommitsChangeNothing) {
  Frame frame = Create(PlainCopies(1 << 20));
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  files_.StartLog();
  int64_t zeroed_pages = 0;
  Buffer all;
  // Enough to pass the end of the first zeros.
  for (uint64_t i = 0; i < 120; ++i) {
    const Buffer items = MakeNoise(1000, i);
    ASSERT_TRUE(IsOk(writer->Append(items)));
    ASSERT_TRUE(IsOk(writer->Commit()));
    for (const Operation& op : files_.TakeLog()) {
      zeroed_pages += op.kind == Kind::kWrite && op.bytes.size() == 1 ? 1 : 0;
    }
    all.insert(all.end(), items.begin(), items.end());
    ASSERT_EQ(Data(), all);
  }
  EXPECT_GT(zeroed_pages, 64);
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_EQ(Data(), all);
  EXPECT_TRUE(Open().snapshot().Verify()->ok());
}

TEST_F(JournalFrameTest, AFewItemsCostNoMoreAfterAShortChunk) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(1 << 20), MakeNoise(700'000, 1))));
  Frame frame = Open();
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  files_.StartLog();
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(100, 2))));
  ASSERT_TRUE(IsOk(writer->Commit()));
  // The receipt, and that the commit is durable, are 80 of them.
  EXPECT_LE(BytesWritten(), 350);
  EXPECT_EQ(Data(), Together(MakeNoise(700'000, 1), MakeNoise(100, 2)));
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_EQ(Open().snapshot().info().nchunks, 1);
  EXPECT_EQ(Data(), Together(MakeNoise(700'000, 1), MakeNoise(100, 2)));
}

TEST_F(JournalFrameTest, OnlyACommitThatSurvivesTheMachineSyncsAndItDoesOnce) {
  Frame frame = Create(PlainCopies(64));
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(200, 1))));
  files_.StartLog();
  ASSERT_TRUE(IsOk(writer->Commit(Durability::kProcess)));
  EXPECT_EQ(Syncs(), 0);
  // This commit makes the one before durable, although nothing new is staged.
  ASSERT_TRUE(IsOk(writer->Commit(Durability::kMachine)));
  EXPECT_EQ(Syncs(), 1);
  ASSERT_TRUE(IsOk(writer->Commit(Durability::kMachine)));
  EXPECT_EQ(Syncs(), 0);
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(10, 2))));
  ASSERT_TRUE(IsOk(writer->Commit(Durability::kMachine)));
  EXPECT_EQ(Syncs(), 1);
}

TEST_F(JournalFrameTest, CommitIsSeenByOthersAndASnapshotBeforeItStaysAsItWas) {
  Frame frame = Create(PlainCopies(64));
  Frame other = Open();
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  Buffer all;
  std::vector<std::pair<Snapshot, Buffer>> taken;
  for (uint64_t i = 0; i < 50; ++i) {
    ASSERT_TRUE(IsOk(writer->Append(MakeNoise(10 + 7 * i, i))));
    const auto committed = writer->Commit(Durability::kProcess);
    ASSERT_TRUE(IsOk(committed));
    all = Together(std::move(all), MakeNoise(10 + 7 * i, i));
    const auto seen = other.Refresh();
    ASSERT_TRUE(IsOk(seen));
    EXPECT_EQ(seen->info().generation, committed->info().generation);
    EXPECT_EQ(DataOf(*seen).value(), all);
    taken.emplace_back(*seen, all);
  }
  ASSERT_TRUE(IsOk(writer->DeleteChunks(0, 3)));
  ASSERT_TRUE(IsOk(writer->Close()));
  for (const auto& [snapshot, data] : taken) EXPECT_EQ(DataOf(snapshot).value(), data);
}

TEST_F(JournalFrameTest, EveryKindOfEditIsReplayed) {
  CreateOptions options = PlainCopies(64);
  options.metalayers = {{"m", ToVector(AsBytes("before"))}};
  Frame frame = Create(options);
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(64 * 8, 1))));
  ASSERT_TRUE(IsOk(writer->SetVlmetalayer("v", AsBytes("first"))));
  ASSERT_TRUE(IsOk(writer->SetVlmetalayer("w", AsBytes("gone soon"))));
  ASSERT_TRUE(IsOk(writer->Commit()));
  ASSERT_TRUE(IsOk(writer->InsertChunk(2, MakeNoise(64, 2))));
  ASSERT_TRUE(IsOk(writer->UpdateChunk(5, MakeNoise(64, 3))));
  ASSERT_TRUE(IsOk(writer->DeleteChunks(0, 2)));
  ASSERT_TRUE(IsOk(writer->ReorderChunks(std::vector<int64_t>{6, 5, 4, 3, 2, 1, 0})));
  ASSERT_TRUE(IsOk(writer->AppendSpecial(SpecialValue::kZeros, 64)));
  ASSERT_TRUE(IsOk(writer->WriteItems(3, MakeNoise(70, 4))));
  ASSERT_TRUE(IsOk(writer->SetMetalayer("m", AsBytes("behind"))));
  ASSERT_TRUE(IsOk(writer->SetVlmetalayer("v", AsBytes("second"))));
  ASSERT_TRUE(IsOk(writer->DeleteVlmetalayer("w")));
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(20, 5))));
  const auto committed = writer->Commit();
  ASSERT_TRUE(IsOk(committed));
  const FrameContent expected = FullContentOf(*committed).value();
  EXPECT_EQ(expected.metalayers.at("m"), "behind");
  EXPECT_GT(committed->info().journal_size, 0);
  EXPECT_EQ(FullContentOf(Open().snapshot()).value(), expected);
  EXPECT_TRUE(Open().snapshot().Verify()->ok());
  // Checkpointed, too.
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_EQ(Open().snapshot().info().journal_size, 0);
  EXPECT_EQ(FullContentOf(Open().snapshot()).value(), expected);
}

TEST_F(JournalFrameTest, DroppedWriterLeavesItsCommitsAndNothingElse) {
  Frame frame = Create(PlainCopies(64));
  int64_t end = 0;
  {
    auto writer = frame.OpenWriter();
    ASSERT_TRUE(IsOk(writer));
    ASSERT_TRUE(IsOk(writer->Append(MakeNoise(100, 1))));
    const auto committed = writer->Commit();
    ASSERT_TRUE(IsOk(committed));
    end = committed->info().frame_size + committed->info().journal_size;
    ASSERT_TRUE(IsOk(writer->Append(MakeNoise(1000, 2))));
  }
  EXPECT_EQ(std::ssize(FileBytes(path_)), end);
  EXPECT_EQ(Data(), MakeNoise(100, 1));
}

TEST_F(JournalFrameTest, WhatADeadWriterLeftIsCutByTheNextOne) {
  Frame frame = Create(PlainCopies(64));
  ASSERT_TRUE(IsOk(AppendTo(path_, MakeNoise(100, 1))));
  const Buffer whole = FileBytes(path_);
  PutFileBytes(path_, Together(whole, MakeNoise(5000, 2)));
  EXPECT_EQ(Data(), MakeNoise(100, 1));
  EXPECT_TRUE(IsOk(Open().OpenWriter()));
  EXPECT_EQ(FileBytes(path_), whole);
}

// A frame with a journal of three commits, all durable, and where each one ends.
struct Journaled {
  Buffer bytes;
  std::vector<int64_t> ends;
  std::vector<Buffer> data;
};

class JournalDamageTest : public JournalFrameTest {
 protected:
  Journaled MakeJournal() {
    Frame frame = Create(PlainCopies(64));
    Journaled made;
    auto writer = frame.OpenWriter();
    EXPECT_TRUE(IsOk(writer));
    Buffer all;
    for (uint64_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(IsOk(writer->Append(MakeNoise(90, i))));
      const auto committed = writer->Commit();
      EXPECT_TRUE(IsOk(committed));
      all = Together(std::move(all), MakeNoise(90, i));
      made.ends.push_back(committed->info().frame_size + committed->info().journal_size);
      made.data.push_back(all);
    }
    made.bytes = FileBytes(path_);
    made.bytes.resize(static_cast<size_t>(made.ends.back()));
    return made;
  }
};

TEST_F(JournalDamageTest, EveryEndOfTheFileLeavesTheCommitsThatAreComplete) {
  const Journaled made = MakeJournal();
  const Frame empty = Open();
  const int64_t begin = empty.snapshot().info().frame_size;
  for (int64_t size = begin; size <= made.ends.back(); ++size) {
    const auto frame = Frame::OpenBuffer(Bytes(made.bytes).first(static_cast<size_t>(size)));
    ASSERT_TRUE(IsOk(frame)) << size;
    // Without its receipt a commit is complete.
    const auto whole =
        std::ranges::upper_bound(made.ends, size + format::kReceiptSize) - made.ends.begin();
    const Buffer expected = whole == 0 ? Buffer() : made.data[static_cast<size_t>(whole - 1)];
    EXPECT_EQ(DataOf(frame->snapshot()).value(), expected) << size;
  }
}

TEST_F(JournalDamageTest, FlippedBitIsSeenWhereALaterCommitShowsThatItWasDurable) {
  const Journaled made = MakeJournal();
  const int64_t begin = Open().snapshot().info().frame_size;
  for (int64_t at = begin; at < made.ends.back(); ++at) {
    Buffer flipped = made.bytes;
    flipped[static_cast<size_t>(at)] ^= std::byte{1} << (at % 8);
    const auto frame = Frame::OpenBuffer(flipped);
    ASSERT_TRUE(IsOk(frame)) << at;
    const Snapshot snapshot = frame->snapshot();
    const absl::StatusOr<Buffer> data = DataOf(snapshot);
    if (!data.ok()) {
      // A chunk of a commit that counts.
      EXPECT_TRUE(absl::IsDataLoss(data.status())) << at;
      EXPECT_FALSE(snapshot.Verify()->ok()) << at;
      continue;
    }
    const bool known = std::ranges::find(made.data, *data) != made.data.end() || data->empty();
    EXPECT_TRUE(known) << at;
    // Receipts are not a part of a commit.
    const bool in_receipt = std::ranges::any_of(
        made.ends, [at](int64_t end) { return at >= end - format::kReceiptSize && at < end; });
    if (in_receipt) {
      EXPECT_EQ(*data, made.data.back()) << at;
    } else if (at < made.ends[1]) {
      const auto report = snapshot.Verify();
      ASSERT_TRUE(IsOk(report));
      EXPECT_FALSE(report->ok()) << at;
      EXPECT_FALSE(snapshot.info().sealed) << at;
    }
  }
}

TEST_F(JournalDamageTest, NoWriterAppendsToADamagedJournal) {
  Journaled made = MakeJournal();
  const int64_t begin = Open().snapshot().info().frame_size;
  // In the record of the first commit, after its one chunk.
  made.bytes[static_cast<size_t>(made.ends[0] - format::kReceiptSize - 12)] ^= std::byte{1};
  PutFileBytes(path_, made.bytes);
  const auto writer = Open().OpenWriter();
  EXPECT_TRUE(IsDamage(writer.status(), "journal"));
  EXPECT_EQ(FileBytes(path_), made.bytes);
  EXPECT_EQ(Open().snapshot().Verify()->findings.at(0).section, "journal");
  EXPECT_EQ(Open().snapshot().info().frame_size, begin);
}

TEST_F(JournalDamageTest, JournalIsReplayedAlsoAfterADamagedTrailer) {
  Journaled made = MakeJournal();
  const int64_t begin = Open().snapshot().info().frame_size;
  made.bytes[static_cast<size_t>(begin - 1)] ^= std::byte{1};
  const auto frame = Frame::OpenBuffer(made.bytes);
  ASSERT_TRUE(IsOk(frame));
  EXPECT_TRUE(frame->snapshot().info().trailer_damaged);
  EXPECT_EQ(DataOf(frame->snapshot()).value(), made.data.back());
}

TEST_F(JournalFrameTest, AutomaticCheckpointsKeepTheJournalShort) {
  Frame frame = Create(PlainCopies(16));
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  Buffer all;
  int64_t edits = 0;
  int64_t folded = 0;
  for (uint64_t i = 0; i < 20'000; ++i) {
    const Buffer chunk = MakeNoise(16, i);
    ASSERT_TRUE(IsOk(writer->Append(chunk)));
    const auto committed = writer->Commit(Durability::kProcess);
    ASSERT_TRUE(IsOk(committed));
    edits += 2;  // the chunk and the commit
    if (committed->info().journal_size == 0) {
      ++folded;
      edits = 0;
    }
    ASSERT_LE(edits, 1 << 14);
    all.insert(all.end(), chunk.begin(), chunk.end());
  }
  EXPECT_EQ(folded, 3);
  EXPECT_EQ(Data(), all);
}

// Each of them costs a reader more than an append does.
TEST_F(JournalFrameTest, EditsAllOverALargeFrameAreCheckpointedBeforeTheyAreTooMany) {
  constexpr int64_t kChunks = 1'500'000;
  constexpr int64_t kMost = 1 << 17;
  CreateOptions options = PlainCopies(16);
  options.fingerprint = FingerprintType::kNone;  // without it the bytes that die count, too
  Frame frame = Create(options);
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->AppendSpecial(SpecialValue::kZeros,
                                         kChunks * 16 / frame.snapshot().info().typesize, {})));
  ASSERT_TRUE(IsOk(writer->Checkpoint()));
  const Buffer items = MakeNoise(16, 1);
  for (int64_t i = 0; i < kMost + 1000; ++i) {
    ASSERT_TRUE(IsOk(writer->UpdateChunk(i * 10 + 5, items)));
    if (i % 1000 != 999) continue;
    const auto committed = writer->Commit(Durability::kProcess);
    ASSERT_TRUE(IsOk(committed));
    ASSERT_EQ(committed->info().journal_size == 0, i >= kMost) << i;
  }
}

TEST_F(JournalFrameTest, BufferOfAFrameWithAJournalHoldsItsCommits) {
  Frame frame = Create(PlainCopies(64));
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(200, 1))));
  ASSERT_TRUE(IsOk(writer->Commit()));
  const auto buffer = frame.snapshot().ToBuffer();
  ASSERT_TRUE(IsOk(buffer));
  const auto copy = Frame::OpenBuffer(*buffer);
  ASSERT_TRUE(IsOk(copy));
  EXPECT_EQ(copy->snapshot().info().journal_size, 0);
  EXPECT_TRUE(copy->snapshot().info().sealed);
  EXPECT_EQ(DataOf(copy->snapshot()).value(), MakeNoise(200, 1));
}

TEST_F(JournalFrameTest, DamagedChunkAtTheEndCanBeDeletedWhenItemsArePendingAfterIt) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(64), MakeNoise(100, 1))));
  const ChunkEntry second = Open().snapshot().GetEntry(1).value();
  {
    auto writer = Open().OpenWriter();
    ASSERT_TRUE(IsOk(writer->Append(MakeNoise(5, 2))));
    ASSERT_TRUE(IsOk(writer->Commit()));
  }
  Buffer bytes = FileBytes(path_);
  bytes[static_cast<size_t>(*second.offset) + 40] ^= std::byte{1};
  PutFileBytes(path_, bytes);
  Frame frame = Open();
  Buffer tail(41);
  EXPECT_TRUE(IsDamage(frame.snapshot().ReadChunk(1, tail), "chunk 1"));
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  EXPECT_TRUE(IsDamage(writer->Append(MakeNoise(5, 3)), "chunk 1"));
  ASSERT_TRUE(IsOk(writer->DeleteChunks(1, 1)));
  ASSERT_TRUE(IsOk(writer->Close()));
  Buffer first = MakeNoise(100, 1);
  first.resize(64);
  EXPECT_EQ(Data(), first);
}

}  // namespace
}  // namespace cairn::test
