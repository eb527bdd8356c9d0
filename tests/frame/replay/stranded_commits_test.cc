// Journals that are damaged, and journals that a power cut cut short: the one is told, the other
// is taken as it is.
#include "engine/frame/replay/stranded_commits.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/recover.h"
#include "engine/base/bytes.h"
#include "engine/format/journal.h"
#include "tests/support/bytes.h"
#include "tests/support/encode_commit.h"
#include "tests/support/files.h"
#include "tests/support/frames.h"
#include "tests/support/other_boot.h"
#include "tests/support/search.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"

namespace cairn::test {
namespace {

class StrandedCommitsTest : public testing::Test {
 protected:
  // A frame and a writer that dies after making these commits.
  Buffer Commit(const std::vector<Durability>& commits, size_t size = 20) {
    absl::StatusOr<Frame> frame = Frame::Create(path_, PlainCopies(64));
    EXPECT_TRUE(IsOk(frame));
    checkpoint_ = frame->snapshot().info().frame_size;
    {
      absl::StatusOr<Writer> writer = frame->OpenWriter();
      EXPECT_TRUE(IsOk(writer));
      for (const Durability durability : commits) {
        const Buffer items = MakeNoise(size, ends_.size());
        EXPECT_TRUE(IsOk(writer->Append(items)));
        const absl::StatusOr<Snapshot> made = writer->Commit(durability);
        EXPECT_TRUE(IsOk(made));
        ends_.push_back(made->info().frame_size + made->info().journal_size);
        data_.insert(data_.end(), items.begin(), items.end());
      }
    }
    return FileBytes(path_);
  }
  Snapshot Open(std::shared_ptr<FileSystem> files = PosixFileSystem()) const {
    const absl::StatusOr<Frame> frame = Frame::Open(path_, {.file_system = files});
    EXPECT_TRUE(IsOk(frame));
    return frame->snapshot();
  }
  absl::Status OpenWriter(std::shared_ptr<FileSystem> files = PosixFileSystem()) const {
    absl::StatusOr<Frame> frame = Frame::Open(path_, {.file_system = files});
    return frame.ok() ? frame->OpenWriter().status() : frame.status();
  }
  // Flips a bit of the record of this commit.
  void Damage(Buffer& bytes, size_t commit) {
    bytes[static_cast<size_t>(ends_[commit] - format::kReceiptSize - 10)] ^= std::byte{4};
    PutFileBytes(path_, bytes);
  }
  // Removes the fact that the last commit is durable, as if it had never reached the disk.
  void ForgetThatItIsDurable(Buffer& bytes) const {
    const int64_t begin = ends_.back() - format::kReceiptSize;
    auto receipt = format::FindReceipt(Bytes(bytes).subspan(static_cast<size_t>(begin)), begin);
    ASSERT_TRUE(receipt.has_value());
    receipt->durable_generation = 0;
    Buffer old;
    format::AppendReceipt(*receipt, begin, old);
    std::ranges::copy(old, bytes.begin() + begin);
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
  int64_t checkpoint_ = 0;
  std::vector<int64_t> ends_;  // of the commits in the file, with their receipts
  Buffer data_;
  OtherBoot other_boot_;
};

TEST_F(StrandedCommitsTest, DamagedFirstRecordIsReportedAndNothingIsCut) {
  std::vector<Durability> commits(999, Durability::kProcess);
  commits.push_back(Durability::kMachine);
  Buffer bytes = Commit(commits);
  Damage(bytes, 0);
  const Snapshot snapshot = Open();
  EXPECT_EQ(snapshot.info().nbytes, 0);
  EXPECT_TRUE(snapshot.info().journal_damaged);
  EXPECT_EQ(snapshot.info().stranded_commits, 1000);
  const absl::StatusOr<VerifyReport> report = snapshot.Verify();
  ASSERT_TRUE(IsOk(report));
  ASSERT_EQ(report->findings.size(), 1);
  EXPECT_EQ(report->findings[0].section, "journal");
  EXPECT_EQ(report->findings[0].begin, checkpoint_);
  EXPECT_EQ(report->findings[0].end, ends_[0] - format::kReceiptSize);
  EXPECT_TRUE(IsDamage(OpenWriter(), "1000 commits after generation"));
  EXPECT_EQ(FileBytes(path_), bytes);
}

TEST_F(StrandedCommitsTest, RecoverCutsThemOnlyWhenAsked) {
  Buffer bytes = Commit(std::vector<Durability>(5, Durability::kProcess));
  Damage(bytes, 2);
  const absl::StatusOr<RecoveryReport> dry =
      Recover(path_, {.dry_run = true, .drop_stranded = true});
  ASSERT_TRUE(IsOk(dry));
  EXPECT_EQ(dry->stranded_commits, 3);
  EXPECT_TRUE(IsDamage(Recover(path_).status(), "3 commits after generation"));
  EXPECT_EQ(FileBytes(path_), bytes);
  const absl::StatusOr<RecoveryReport> report = Recover(path_, {.drop_stranded = true});
  ASSERT_TRUE(IsOk(report));
  EXPECT_EQ(report->stranded_commits, 3);
  EXPECT_EQ(report->commits, 2);
  data_.resize(40);
  EXPECT_EQ(DataOf(Open()).value(), data_);
  EXPECT_TRUE(Open().Verify()->ok());
  EXPECT_TRUE(IsOk(OpenWriter()));
}

// Returns a record as a search finds it.
frame::FoundRecord Found(const format::CommitLinks& links, int64_t begin) {
  return {.kind = format::RecordKind::kCommit,
          .begin = begin,
          .bytes = EncodeCommit({.links = links}, begin),
          .receipt = {}};
}
frame::FoundRecord Found(const format::Receipt& receipt, int64_t begin) {
  frame::FoundRecord found = {
      .kind = format::RecordKind::kReceipt, .begin = begin, .bytes = {}, .receipt = {}};
  format::AppendReceipt(receipt, begin, found.bytes);
  return found;
}

// The journals 10, 20 and 30 follow newer checkpoints, and their writers owe the headers.
class OtherJournalsTest : public testing::Test {
 protected:
  void Note(const frame::FoundRecord& record) { stranded_.Note(record, trust_); }
  void Begin(uint64_t base, int64_t durable_end = 0) {
    Note(Found({.base = base, .generation = base, .previous = base, .durable_end = durable_end},
               static_cast<int64_t>(1000 * base)));
  }
  std::vector<uint64_t> Others() const {
    std::vector<uint64_t> bases = stranded_.other_bases();
    std::ranges::sort(bases);
    return bases;
  }

  const uint64_t boot_ = 7;
  frame::JournalTrust trust_{boot_};
  const frame::JournalPosition end_ = {.base = 1, .generation = 5, .end = 500, .receipt = {}};
  frame::StrandedCommits stranded_{end_, 500};
};

TEST_F(OtherJournalsTest, AreProvenByRecordsThatNameDurableBytes) {
  Begin(10);
  EXPECT_TRUE(Others().empty());
  Begin(20, 300);
  EXPECT_EQ(Others(), std::vector<uint64_t>{20});
  Note(Found({.base = 10, .generation = 11, .previous = 3, .durable_end = 100}, 30000));
  EXPECT_EQ(Others(), (std::vector<uint64_t>{10, 20}));
}

TEST_F(OtherJournalsTest, AreProvenByReceiptsOfThisBootAndByThoseOfDurableCommits) {
  for (const uint64_t base : {10, 20, 30}) Begin(base);
  Note(Found({.base = 10, .generation = 10, .boot = boot_}, 31000));
  Note(Found({.base = 20, .generation = 20, .boot = boot_ + 1}, 32000));
  Note(Found({.base = 30, .generation = 31, .boot = boot_ + 1, .durable_generation = 30}, 33000));
  EXPECT_EQ(Others(), (std::vector<uint64_t>{10, 30}));
}

TEST_F(OtherJournalsTest, AreNotThoseThatAreOlderOrBeginElsewhere) {
  Note(Found({.base = 4, .generation = 4, .previous = 4, .durable_end = 100}, 4000));
  Note(Found({.base = 40, .generation = 40, .previous = 3, .durable_end = 100}, 5000));
  EXPECT_TRUE(Others().empty());
}

class EveryBitTest : public StrandedCommitsTest, public testing::WithParamInterface<Durability> {};

TEST_P(EveryBitTest, OfEveryRecordIsReportedOrNeededByNothing) {
  const Buffer bytes = Commit(std::vector<Durability>(3, GetParam()), 90);
  for (int64_t bit = checkpoint_ * 8; bit < ends_.back() * 8; bit += kTryEach) {
    Buffer flipped = bytes;
    flipped[static_cast<size_t>(bit / 8)] ^= std::byte{1} << (bit % 8);
    PutFileBytes(path_, flipped);
    const Snapshot snapshot = Open();
    const absl::StatusOr<Buffer> data = DataOf(snapshot);
    if (snapshot.info().journal_damaged) {
      EXPECT_GE(snapshot.info().stranded_commits, 1) << bit;
      EXPECT_FALSE(snapshot.Verify()->ok()) << bit;
      EXPECT_TRUE(absl::IsDataLoss(OpenWriter())) << bit;
      EXPECT_EQ(FileBytes(path_), flipped) << bit;
    } else if (data.ok()) {
      EXPECT_EQ(*data, data_) << bit;
    } else {
      // The damage is in a chunk, whose commit counts with all the others.
      EXPECT_TRUE(absl::IsDataLoss(data.status())) << bit;
      EXPECT_FALSE(snapshot.Verify()->ok()) << bit;
      EXPECT_EQ(snapshot.info().nbytes, std::ssize(data_)) << bit;
    }
  }
}

TEST_P(EveryBitTest, AfterAPowerCutHidesNothingThatIsShownToBeDurable) {
  const Buffer bytes = Commit(std::vector<Durability>(3, GetParam()), 90);
  for (int64_t bit = checkpoint_ * 8; bit < ends_.back() * 8; bit += kTryEach) {
    Buffer flipped = bytes;
    flipped[static_cast<size_t>(bit / 8)] ^= std::byte{1} << (bit % 8);
    PutFileBytes(path_, flipped);
    // As the receipts that are intact have it.
    int64_t durable = 0;
    for (size_t i = 0; i < ends_.size(); ++i) {
      const int64_t begin = ends_[i] - format::kReceiptSize;
      const Bytes place = Bytes(flipped).subspan(static_cast<size_t>(begin));
      const bool shows = format::FindReceipt(place, begin).has_value();
      if (shows && GetParam() == Durability::kMachine) durable = static_cast<int64_t>(i) + 1;
    }
    const Snapshot snapshot = Open(Unowned(&other_boot_));
    const absl::StatusOr<Buffer> data = DataOf(snapshot);
    if (!data.ok() || snapshot.info().journal_damaged) {
      EXPECT_GT(durable, 0) << bit;
      EXPECT_FALSE(snapshot.Verify()->ok()) << bit;
    } else {
      EXPECT_GE(std::ssize(*data), durable * 90) << bit;
      EXPECT_TRUE(std::equal(data->begin(), data->end(), data_.begin())) << bit;
      EXPECT_EQ(std::ssize(*data) % 90, 0) << bit;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Durabilities, EveryBitTest,
                         testing::Values(Durability::kProcess, Durability::kMachine));

TEST_F(StrandedCommitsTest, WhatAPowerCutTookOfUnpromisedCommitsEndsTheJournal) {
  Buffer bytes = Commit(std::vector<Durability>(5, Durability::kProcess));
  Damage(bytes, 2);
  data_.resize(40);
  EXPECT_FALSE(Open(Unowned(&other_boot_)).info().journal_damaged);
  EXPECT_EQ(DataOf(Open(Unowned(&other_boot_))).value(), data_);
  EXPECT_TRUE(IsOk(OpenWriter(Unowned(&other_boot_))));
  EXPECT_EQ(DataOf(Open()).value(), data_);
}

TEST_F(StrandedCommitsTest, LostDurableCommitIsReportedAlsoAfterAPowerCut) {
  for (const size_t damaged : {size_t{0}, size_t{2}}) {
    ends_.clear();
    data_.clear();
    Buffer bytes = Commit({Durability::kProcess, Durability::kProcess, Durability::kMachine});
    Damage(bytes, damaged);
    EXPECT_EQ(Open(Unowned(&other_boot_)).info().stranded_commits,
              3 - static_cast<int64_t>(damaged));
    EXPECT_TRUE(absl::IsDataLoss(OpenWriter(Unowned(&other_boot_))));
    EXPECT_EQ(FileBytes(path_), bytes);
    ASSERT_EQ(std::remove(path_.c_str()), 0);
  }
}

TEST_F(StrandedCommitsTest, EmptyCommitMakesThoseBeforeItDurable) {
  absl::StatusOr<Frame> frame = Frame::Create(path_, PlainCopies(64));
  ASSERT_TRUE(IsOk(frame));
  int64_t end = 0;
  {
    auto writer = frame->OpenWriter();
    ASSERT_TRUE(IsOk(writer->Append(MakeNoise(20, 1))));
    const absl::StatusOr<Snapshot> made = writer->Commit(Durability::kProcess);
    ASSERT_TRUE(IsOk(made));
    ASSERT_TRUE(IsOk(writer->Commit(Durability::kMachine)));
    end = made->info().frame_size + made->info().journal_size;
  }
  ends_ = {end};
  Buffer bytes = FileBytes(path_);
  Damage(bytes, 0);
  EXPECT_EQ(Open(Unowned(&other_boot_)).info().stranded_commits, 1);
}

TEST_F(StrandedCommitsTest, DurableCommitWhoseReceiptIsOldMayHaveBeenCutShort) {
  Buffer bytes = Commit({Durability::kProcess, Durability::kProcess, Durability::kMachine});
  ForgetThatItIsDurable(bytes);
  Damage(bytes, 1);
  EXPECT_FALSE(Open(Unowned(&other_boot_)).info().journal_damaged);
  EXPECT_TRUE(IsOk(OpenWriter(Unowned(&other_boot_))));
}

// A durable commit is lost only if its record is: the receipt is written again after the sync.
TEST_F(StrandedCommitsTest, DurableCommitWithoutItsReceiptIsNotLost) {
  for (const Durability second : {Durability::kProcess, Durability::kMachine}) {
    ends_.clear();
    data_.clear();
    Buffer bytes = Commit({Durability::kMachine, second, Durability::kProcess});
    for (const int64_t end : ends_) bytes[static_cast<size_t>(end - 4)] ^= std::byte{1};
    Damage(bytes, 1);
    const Snapshot snapshot = Open(Unowned(&other_boot_));
    EXPECT_EQ(snapshot.info().journal_damaged, second == Durability::kMachine);
    EXPECT_EQ(DataOf(snapshot).value(), Buffer(data_.begin(), data_.begin() + 20));
    EXPECT_EQ(OpenWriter(Unowned(&other_boot_)).ok(), second == Durability::kProcess);
    ASSERT_EQ(std::remove(path_.c_str()), 0);
  }
}

TEST_F(StrandedCommitsTest, DamagedChunkTakesNoCommitAlongWhileTheMachineRuns) {
  Buffer bytes = Commit(std::vector<Durability>(3, Durability::kProcess), 64);
  bytes[static_cast<size_t>(checkpoint_ + 40)] ^= std::byte{1};
  PutFileBytes(path_, bytes);
  const Snapshot snapshot = Open();
  EXPECT_EQ(snapshot.info().nchunks, 3);
  Buffer chunk(64);
  EXPECT_TRUE(absl::IsDataLoss(snapshot.ReadChunk(0, chunk)));
  EXPECT_TRUE(IsOk(snapshot.ReadChunk(1, chunk)));
  // A power cut may leave a record without its chunks.
  EXPECT_EQ(Open(Unowned(&other_boot_)).info().nchunks, 0);
}

TEST_F(StrandedCommitsTest, ChunkThatClaimsAllThatFollowsHidesNoCommit) {
  Buffer bytes = Commit(std::vector<Durability>(3, Durability::kProcess), 64);
  // The third byte of the stored size in the chunk's header.
  bytes[static_cast<size_t>(checkpoint_ + 14)] ^= std::byte{0x7f};
  PutFileBytes(path_, bytes);
  const Snapshot snapshot = Open();
  EXPECT_EQ(snapshot.info().nchunks, 3);
  EXPECT_FALSE(snapshot.Verify()->ok());
}

TEST_F(StrandedCommitsTest, ManyZerosHideNoCommit) {
  Buffer bytes = Commit(std::vector<Durability>(3500, Durability::kProcess));
  std::fill(bytes.begin() + checkpoint_, bytes.begin() + ends_[3000], std::byte{0});
  ASSERT_GT(ends_[3000] - checkpoint_, 500'000);
  PutFileBytes(path_, bytes);
  EXPECT_EQ(Open().info().stranded_commits, 3500);
  EXPECT_TRUE(absl::IsDataLoss(OpenWriter()));
  EXPECT_EQ(FileBytes(path_), bytes);
}

TEST_F(StrandedCommitsTest, DamagedReceiptLosesNothing) {
  Buffer bytes = Commit(std::vector<Durability>(3, Durability::kProcess));
  bytes[static_cast<size_t>(ends_[0] - 20)] ^= std::byte{1};
  PutFileBytes(path_, bytes);
  EXPECT_EQ(DataOf(Open()).value(), data_);
  const absl::StatusOr<VerifyReport> report = Open().Verify();
  EXPECT_TRUE(report->ok());
  ASSERT_EQ(report->notes.size(), 1);
  EXPECT_TRUE(report->notes[0].starts_with("journal: no commit needs bytes")) << report->notes[0];
  EXPECT_TRUE(IsOk(OpenWriter()));
  EXPECT_EQ(DataOf(Open()).value(), data_);
}

// A state that was taken back may have been stored in the frame itself.
TEST_F(StrandedCommitsTest, CopyOfTheJournalThatLiesElsewhereIsNoJournal) {
  Buffer bytes = Commit(std::vector<Durability>(3, Durability::kMachine));
  const Buffer copy(bytes.begin() + ends_[0], bytes.begin() + ends_[2]);
  bytes.resize(static_cast<size_t>(ends_[0]));
  bytes.insert(bytes.end(), 100, std::byte{0x55});
  bytes.insert(bytes.end(), copy.begin(), copy.end());
  PutFileBytes(path_, bytes);
  data_.resize(20);
  EXPECT_FALSE(Open().info().journal_damaged);
  EXPECT_EQ(DataOf(Open()).value(), data_);
  EXPECT_TRUE(IsOk(OpenWriter()));
}

// The writer that confirmed the commits says so in this boot, and leaves the receipt that was
// there.
TEST_F(StrandedCommitsTest, WriterThatOpensMakesAllCommitsOfBeforeKnownAsDurable) {
  Buffer bytes = Commit(std::vector<Durability>(3, Durability::kProcess));
  ASSERT_TRUE(IsOk(OpenWriter()));
  Buffer after = FileBytes(path_);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.begin() + ends_[2], after.begin()));
  EXPECT_EQ(std::ssize(after), ends_[2] + format::kReceiptSize);
  EXPECT_EQ(DataOf(Open()).value(), data_);
  Damage(after, 0);
  EXPECT_EQ(Open(Unowned(&other_boot_)).info().stranded_commits, 3);
}

TEST_F(StrandedCommitsTest, ReaderOfADamagedJournalSeesThatItWasRepaired) {
  Buffer bytes = Commit(std::vector<Durability>(3, Durability::kProcess));
  Damage(bytes, 0);
  absl::StatusOr<Frame> reader = Frame::Open(path_);
  ASSERT_TRUE(IsOk(reader));
  ASSERT_TRUE(reader->snapshot().info().journal_damaged);
  ASSERT_TRUE(IsOk(Recover(path_, {.drop_stranded = true})));
  ASSERT_TRUE(IsOk(AppendTo(path_, MakeNoise(20, 9))));
  // The reader looks at most once a second.
  for (int looks = 0; reader->Refresh()->info().journal_damaged; ++looks) {
    ASSERT_LT(looks, 500);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(DataOf(reader->snapshot()).value(), MakeNoise(20, 9));
}

TEST_F(StrandedCommitsTest, ReaderPassesAReceiptThatComesLater) {
  Commit({Durability::kProcess});
  absl::StatusOr<Frame> reader = Frame::Open(path_);
  absl::StatusOr<Frame> frame = Frame::Open(path_);
  absl::StatusOr<Writer> writer = frame->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  const absl::StatusOr<Snapshot> passed = reader->Refresh();
  ASSERT_TRUE(IsOk(passed));
  EXPECT_EQ(passed->info().journal_size, ends_[0] - checkpoint_ + format::kReceiptSize);
  EXPECT_EQ(passed->info().generation, reader->snapshot().info().generation);
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(20, 9))));
  ASSERT_TRUE(IsOk(writer->Commit(Durability::kProcess)));
  EXPECT_EQ(reader->Refresh()->info().nbytes, 40);
}

}  // namespace
}  // namespace cairn::test
