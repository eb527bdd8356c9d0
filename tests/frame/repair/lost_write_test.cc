// A single page of a file is an older version of itself, or zeros: a disk lost a write that it had
// acknowledged, or a copy mixed two moments. What opens is the newest state, or something tells.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/recover.h"
#include "engine/base/bytes.h"
#include "engine/format/frame_header.h"
#include "engine/format/journal.h"
#include "tests/support/bytes.h"
#include "tests/support/files.h"
#include "tests/support/frames.h"
#include "tests/support/other_boot.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"

namespace cairn::test {
namespace {

constexpr int32_t kLostChunk = 1024;
constexpr int64_t kLostChunks = 24;

class LostWriteTest : public testing::Test {
 protected:
  // A frame whose chunks are stored as they are.
  void Create() {
    ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(kLostChunk), data_)));
    frame_ = std::make_unique<Frame>(Frame::Open(path_).value());
  }
  void Begin(const WriterOptions& options = {}) {
    absl::StatusOr<Writer> writer = frame_->OpenWriter(options);
    ASSERT_TRUE(IsOk(writer));
    writer_ = std::make_unique<Writer>(*std::move(writer));
  }
  // Replaces chunks, and commits.
  void Commit(int64_t first, int64_t count = 1, Durability durability = Durability::kMachine) {
    for (int64_t i = first; i < first + count; ++i) {
      const Buffer chunk = MakeNoise(kLostChunk, ++noise_);
      ASSERT_TRUE(IsOk(writer_->UpdateChunk(i % kLostChunks, chunk)));
      std::ranges::copy(chunk, data_.begin() + i % kLostChunks * kLostChunk);
    }
    const absl::StatusOr<Snapshot> made = writer_->Commit(durability);
    ASSERT_TRUE(IsOk(made));
    Note(*made);
  }
  void Checkpoint() {
    ASSERT_TRUE(IsOk(writer_->Checkpoint()));
    Note(frame_->snapshot());
  }
  void Note(const Snapshot& made) {
    generation_ = made.info().generation;
    ends_[generation_] = made.info().frame_size + made.info().journal_size;
    versions_.push_back(FileBytes(path_));
  }
  // The header as it was before the last `flips` that changed it.
  Buffer OlderHeader(int flips) const {
    Buffer header(versions_.back().begin(), versions_.back().begin() + kPage);
    for (auto it = versions_.rbegin(); it != versions_.rend() && flips > 0; ++it) {
      const Bytes older = Bytes(*it).first(kHeader);
      if (std::ranges::equal(older, Bytes(header).first(kHeader))) continue;
      header.assign(it->begin(), it->begin() + kPage);
      --flips;
    }
    EXPECT_EQ(flips, 0);
    return header;
  }
  // Puts the newest file back, with that first page.
  void LoseHeader(int flips) {
    Buffer file = FileBytes(path_);
    const Buffer header = OlderHeader(flips);
    std::ranges::copy(Bytes(header).first(kHeader), file.begin());
    PutFileBytes(path_, file);
  }
  // A writer that died earlier would not have said how the journals ended.
  void LoseRecordsOfTheirEnds() {
    Buffer file = FileBytes(path_);
    for (size_t at = 0; at + format::kEndedSize <= file.size(); ++at) {
      const auto record = std::span(file).subspan(at, format::kEndedSize);
      if (format::FindEnded(record, static_cast<int64_t>(at)).has_value()) {
        std::ranges::fill(record, std::byte{0});
      }
    }
    PutFileBytes(path_, file);
  }
  // As the header says; 0 where it cannot be read.
  static int64_t FrameSizeOf(const Buffer& file) {
    const auto header = format::ParseFrameHeader(file);
    return header.ok() ? header->frame_size : 0;
  }
  void ExpectTold(int64_t commits) {
    const Buffer before = FileBytes(path_);
    absl::StatusOr<Frame> frame = Frame::Open(path_);
    ASSERT_TRUE(IsOk(frame));
    const Snapshot snapshot = frame->snapshot();
    EXPECT_EQ(snapshot.info().generation, generation_);
    EXPECT_EQ(ContentOf(snapshot), data_);
    EXPECT_TRUE(snapshot.info().journal_damaged);
    EXPECT_EQ(snapshot.info().stranded_commits, commits);
    const absl::StatusOr<VerifyReport> report = snapshot.Verify();
    ASSERT_TRUE(IsOk(report));
    ASSERT_EQ(report->findings.size(), 1);
    EXPECT_EQ(report->findings[0].section, "header");
    const std::string part = std::to_string(commits) + " commits depend on it";
    EXPECT_TRUE(IsDamage(frame->OpenWriter(), part));
    EXPECT_TRUE(IsDamage(frame->Compact().status(), part));
    const absl::StatusOr<RecoveryReport> dry = Recover(path_, {.dry_run = true});
    ASSERT_TRUE(IsOk(dry));
    EXPECT_TRUE(dry->header_restored);
    EXPECT_EQ(dry->generation, generation_);
    EXPECT_EQ(dry->stranded_commits, 0);
    EXPECT_EQ(FileBytes(path_), before);
  }
  void ExpectRecovers() {
    const absl::StatusOr<RecoveryReport> done = Recover(path_);
    ASSERT_TRUE(IsOk(done));
    EXPECT_TRUE(done->header_restored);
    EXPECT_EQ(done->stranded_commits, 0);
    absl::StatusOr<Frame> frame = Frame::Open(path_);
    ASSERT_TRUE(IsOk(frame));
    ExpectHolds(frame->snapshot(), data_);
    EXPECT_TRUE(IsOk(frame->OpenWriter()));
  }

  static constexpr size_t kPage = 4096;
  static constexpr size_t kHeader = 87;
  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
  Buffer data_ = MakeNoise(kLostChunk * kLostChunks, 1);
  uint64_t noise_ = 1;
  uint64_t generation_ = 0;
  std::map<uint64_t, int64_t> ends_;  // of commits, by generation
  std::vector<Buffer> versions_;      // of the file
  std::unique_ptr<Frame> frame_;
  std::unique_ptr<Writer> writer_;
};

TEST_F(LostWriteTest, OfAHeaderIsToldAndRecoverKeepsAllCommits) {
  Create();
  Begin();
  for (int64_t i = 0; i < 5; ++i) Commit(i);
  Checkpoint();
  for (int64_t i = 0; i < 26; ++i) Commit(i);
  writer_.reset();
  LoseHeader(1);
  ExpectTold(27);
  ExpectRecovers();
}

TEST_F(LostWriteTest, OfAHeaderThatAReaderHoldsIsTold) {
  Create();
  Begin();
  for (int64_t i = 0; i < 5; ++i) Commit(i);
  const absl::StatusOr<Frame> reader = Frame::Open(path_);
  ASSERT_TRUE(IsOk(reader));
  const Snapshot old = reader->snapshot();
  const Buffer content = data_;
  Checkpoint();
  for (int64_t i = 0; i < 8; ++i) Commit(i);
  EXPECT_EQ(ContentOf(old), content);
  writer_.reset();
  LoseHeader(1);
  ExpectTold(9);
  ExpectRecovers();
}

TEST_F(LostWriteTest, OfSeveralHeadersIsToldAndRecoverFindsTheNewest) {
  Create();
  Begin();
  for (int64_t i = 0; i < 3; ++i) {
    Commit(i, 3);
    Checkpoint();
  }
  Commit(9);
  writer_.reset();
  LoseHeader(3);
  ExpectTold(6);
  ExpectRecovers();
}

TEST_F(LostWriteTest, OfAHeaderIsToldInAFrameThatKeepsItsHistory) {
  Create();
  Begin(kKeepAll);
  for (int64_t i = 0; i < 3; ++i) {
    Commit(i, 3);
    Checkpoint();
  }
  Commit(9);
  writer_.reset();
  LoseHeader(2);
  ExpectTold(4);
  ExpectRecovers();
}

TEST_F(LostWriteTest, OfAHeaderIsToldAfterAWriterThatDiedAtOnce) {
  Create();
  Begin();
  Commit(0, 3);
  Checkpoint();
  writer_.reset();
  Begin();
  Commit(3);
  writer_.reset();
  LoseHeader(1);
  ExpectTold(2);
  ExpectRecovers();
}

// A writer that owes the syncs of opening commits before the header is durable that it found.
TEST_F(LostWriteTest, OfAHeaderIsToldByCommitsAfterItThatNoPowerCutTook) {
  OtherBoot other_boot;
  for (const Durability durability : {Durability::kProcess, Durability::kMachine}) {
    std::remove(path_.c_str());
    Create();
    Begin();
    Commit(0, 3);
    Checkpoint();
    ASSERT_TRUE(IsOk(writer_->Close()));
    Begin({.opening = Durability::kProcess});
    Commit(3, 1, durability);
    writer_.reset();
    LoseRecordsOfTheirEnds();
    LoseHeader(1);
    ExpectTold(2);
    const bool is_durable = durability == Durability::kMachine;
    absl::StatusOr<Frame> frame = Frame::Open(path_, {.file_system = Unowned(&other_boot)});
    ASSERT_TRUE(IsOk(frame));
    EXPECT_EQ(frame->snapshot().info().journal_damaged, is_durable);
    EXPECT_EQ(frame->OpenWriter().ok(), !is_durable);
  }
}

// The writer died in between.
TEST_F(LostWriteTest, OfAHeaderIsToldByACommitAfterItThatLacksItsReceipt) {
  for (const Durability opening : {Durability::kProcess, Durability::kMachine}) {
    std::remove(path_.c_str());
    Create();
    Begin();
    Commit(0, 3);
    Checkpoint();
    ASSERT_TRUE(IsOk(writer_->Close()));
    Begin({.opening = opening});
    Commit(3, 1, Durability::kProcess);
    writer_.reset();
    Buffer file = FileBytes(path_);
    std::fill_n(file.begin() + ends_[generation_] - format::kReceiptSize, format::kReceiptSize,
                std::byte{0});
    PutFileBytes(path_, file);
    LoseRecordsOfTheirEnds();
    LoseHeader(1);
    if (opening == Durability::kMachine) {
      ExpectTold(2);
      ExpectRecovers();
    } else {
      // A power cut may leave that, and nothing was promised.
      EXPECT_FALSE(Frame::Open(path_)->snapshot().info().journal_damaged);
    }
  }
}

TEST_F(LostWriteTest, RecoverOfAHeaderCutsNoCommitThatCannotBeRead) {
  Create();
  Begin();
  Commit(0);
  Checkpoint();
  for (int64_t i = 0; i < 3; ++i) Commit(i);
  writer_.reset();
  LoseHeader(1);
  Buffer file = FileBytes(path_);
  file[static_cast<size_t>(ends_[generation_ - 2] - format::kReceiptSize - 10)] ^= std::byte{4};
  PutFileBytes(path_, file);
  EXPECT_TRUE(IsDamage(Recover(path_), "3 commits after generation"));
  EXPECT_EQ(FileBytes(path_), file);
}

TEST_F(LostWriteTest, OfATrailerIsNotMendedByGoingBackUnasked) {
  Create();
  Begin(kKeepAll);
  Commit(0, 3);
  Checkpoint();
  Commit(3, 2);
  const uint64_t older = generation_;
  Checkpoint();
  Commit(5);
  writer_.reset();
  Buffer file = FileBytes(path_);
  const auto trailer = static_cast<ptrdiff_t>(FrameSizeOf(file));
  std::fill(file.begin() + trailer - 300, file.begin() + trailer, std::byte{0});
  PutFileBytes(path_, file);
  EXPECT_TRUE(absl::IsDataLoss(Frame::Open(path_).status()));
  for (const bool dry_run : {true, false}) {
    EXPECT_TRUE(IsDamage(Recover(path_, {.dry_run = dry_run}),
                         "only a recovery that drops stranded commits"));
    EXPECT_EQ(FileBytes(path_), file);
  }
  for (const bool dry_run : {true, false}) {
    const auto report = Recover(path_, {.dry_run = dry_run, .drop_stranded = true});
    ASSERT_TRUE(IsOk(report));
    EXPECT_TRUE(report->header_restored);
    EXPECT_EQ(report->missing_checkpoint_end, trailer);
    EXPECT_GE(report->stranded_commits, 1);
    EXPECT_EQ(report->generation, older);
    EXPECT_EQ(FileBytes(path_) == file, dry_run);
  }
}

TEST_F(LostWriteTest, OfATrailerAndAllThatFollowsItIsToldByRecover) {
  Create();
  Begin(kKeepAll);
  Commit(0, 3);
  Checkpoint();
  Commit(3, 2);
  const uint64_t older = generation_;
  const auto mark = static_cast<ptrdiff_t>(ends_[older]);
  Checkpoint();
  writer_.reset();
  Buffer file = FileBytes(path_);
  const int64_t missing = FrameSizeOf(file);
  std::fill(file.begin() + mark, file.end(), std::byte{0});
  PutFileBytes(path_, file);
  for (const bool dry_run : {true, false}) {
    EXPECT_TRUE(IsDamage(Recover(path_, {.dry_run = dry_run}), "may be newer"));
    EXPECT_EQ(FileBytes(path_), file);
  }
  for (const bool dry_run : {true, false}) {
    const absl::StatusOr<RecoveryReport> report =
        Recover(path_, {.dry_run = dry_run, .drop_stranded = true});
    ASSERT_TRUE(IsOk(report));
    EXPECT_EQ(report->missing_checkpoint_end, missing);
    EXPECT_EQ(report->generation, older);
  }
}

TEST_F(LostWriteTest, OfTheEndOfTheFileIsNoReasonToCutTheRestOff) {
  Create();
  Begin();
  Commit(0, 3);
  Checkpoint();
  Commit(3, 2);
  Checkpoint();
  writer_.reset();
  const Buffer whole = FileBytes(path_);
  const int64_t trailer_end = FrameSizeOf(whole);
  for (int64_t cut = 1; cut < trailer_end - 200; cut += 97) {
    const Buffer file = ToVector(Bytes(whole).first(static_cast<size_t>(trailer_end - cut)));
    PutFileBytes(path_, file);
    for (const bool dry_run : {true, false}) {
      EXPECT_FALSE(Recover(path_, {.dry_run = dry_run}).ok()) << cut;
      EXPECT_EQ(FileBytes(path_), file) << cut;
    }
  }
}

TEST_F(LostWriteTest, OfTheMagicLeavesNoCheckpointMissing) {
  Create();
  Begin();
  Commit(0);
  writer_.reset();
  Buffer file = FileBytes(path_);
  std::fill_n(file.begin(), 16, std::byte{0});
  PutFileBytes(path_, file);
  const absl::StatusOr<RecoveryReport> report = Recover(path_);
  ASSERT_TRUE(IsOk(report));
  EXPECT_TRUE(report->header_restored);
  EXPECT_EQ(report->missing_checkpoint_end, 0);
}

// They lie where no writer of this file put them.
TEST_F(LostWriteTest, RecordsOfAFrameThatAChunkHoldsTellNothing) {
  Create();
  Begin();
  for (int64_t i = 0; i < 9; ++i) Commit(i);
  writer_.reset();
  const Buffer inner = FileBytes(path_);
  const std::string outer = dir_.Path("outer");
  ASSERT_TRUE(IsOk(WriteFrame(outer, PlainCopies(kLostChunk), MakeNoise(kLostChunk, 2))));
  Buffer file = FileBytes(outer);
  const Buffer head = MakeNoise(100, 3);
  file.insert(file.end(), head.begin(), head.end());
  file.insert(file.end(), inner.begin(), inner.end());
  std::fill_n(file.begin(), 16, std::byte{0});
  PutFileBytes(outer, file);
  const absl::StatusOr<RecoveryReport> report = Recover(outer);
  ASSERT_TRUE(IsOk(report));
  EXPECT_TRUE(report->header_restored);
  EXPECT_EQ(report->stranded_commits, 0);
}

// How a search over pages ends.
struct Tally {
  int64_t images = 0;
  int64_t newest = 0;
  int64_t told = 0;
  int64_t untold = 0;  // the commits at the end of the journal, all of them in that page
};

class LostPageTest : public LostWriteTest, public testing::WithParamInterface<size_t> {
 protected:
  // Updates that use space again, checkpoints that lie above and below, and a journal at the end.
  void Live() {
    Create();
    Begin();
    for (int64_t i = 0; i < 40; ++i) {
      Commit(5 * i, 1 + i % 3);
      if (i % 9 == 8) Checkpoint();
    }
    writer_.reset();
    newest_ = FileBytes(path_);
  }
  void Examine(const Buffer& image, size_t begin, size_t end) {
    PutFileBytes(path_, image);
    ++tally_.images;
    absl::StatusOr<Frame> frame = Frame::Open(path_);
    const bool is_told = !frame.ok() || frame->snapshot().info().journal_damaged ||
                         !frame->snapshot().Verify()->ok();
    const uint64_t opened = frame.ok() ? frame->snapshot().info().generation : 0;
    if (is_told) {
      ++tally_.told;
    } else if (opened == generation_) {
      EXPECT_EQ(ContentOf(frame->snapshot()), data_);
      ++tally_.newest;
    } else {
      // Nothing but that page ever held what is missing.
      EXPECT_GE(ends_[opened + 1], static_cast<int64_t>(begin));
      EXPECT_LE(ends_[generation_], static_cast<int64_t>(end));
      ++tally_.untold;
      return;
    }
    if (!frame.ok() || frame->snapshot().info().journal_damaged) {
      EXPECT_FALSE(frame.ok() && frame->OpenWriter().ok()) << "page at " << begin;
      EXPECT_EQ(FileBytes(path_), image);
    }
    EXPECT_TRUE(IsOkOrRefusal(Recover(path_, {.dry_run = true}).status()));
    EXPECT_EQ(FileBytes(path_), image);
    const absl::StatusOr<RecoveryReport> done = Recover(path_);
    if (!done.ok()) {
      EXPECT_EQ(FileBytes(path_), image);
      return;
    }
    const absl::StatusOr<Frame> recovered = Frame::Open(path_);
    ASSERT_TRUE(IsOk(recovered));
    if (recovered->snapshot().info().generation >= generation_) return;
    // The newest trailer was lost, and with it all that would tell it from one that never was.
    EXPECT_FALSE(frame.ok());
    EXPECT_EQ(done->missing_checkpoint_end, FrameSizeOf(image)) << "page at " << begin;
    EXPECT_LE(ends_[generation_], static_cast<int64_t>(end)) << "page at " << begin;
    ++tally_.untold;
  }

  Buffer newest_;
  Tally tally_;
};

TEST_P(LostPageTest, WhereverItLiesIsToldOrHeldTheLastCommits) {
  Live();
  const size_t page = GetParam();
  for (size_t begin = 0; begin < newest_.size(); begin += page) {
    const size_t end = std::min(begin + page, newest_.size());
    std::set<Buffer> older = {Buffer(end - begin)};
    for (const Buffer& version : versions_) {
      Buffer bytes(version.begin() + static_cast<ptrdiff_t>(std::min(begin, version.size())),
                   version.begin() + static_cast<ptrdiff_t>(std::min(end, version.size())));
      bytes.resize(end - begin);
      older.insert(std::move(bytes));
    }
    for (const Buffer& bytes : older) {
      Buffer image = newest_;
      std::ranges::copy(bytes, image.begin() + static_cast<ptrdiff_t>(begin));
      if (image != newest_) Examine(image, begin, end);
    }
  }
  EXPECT_GT(tally_.told, 0);
  RecordProperty("images", static_cast<int>(tally_.images));
  RecordProperty("told", static_cast<int>(tally_.told));
  RecordProperty("untold", static_cast<int>(tally_.untold));
}

INSTANTIATE_TEST_SUITE_P(Sizes, LostPageTest, testing::Values(512, 4096, 65536));

}  // namespace
}  // namespace cairn::test
