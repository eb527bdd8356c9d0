// Tests how C-Blosc2 reads a frame with a journal, and one that Cairn recovered.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/recover.h"
#include "tests/interop/figures.h"
#include "tests/interop/frame_case.h"
#include "tests/interop/hand_over.h"
#include "tests/interop/peer_edits.h"
#include "tests/support/status.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::interop {
namespace {

constexpr uint64_t kSequences = 100;

// A committed state, and where the file must reach to hold it.
struct Milestone {
  FrameCase model;
  int64_t end = 0;
};

absl::Status EditOnce(Writer& writer, Random& random, FrameCase* c) {
  const int64_t nitems = std::ssize(c->content) / c->typesize();
  const uint64_t what = random() % 4;
  if (what == 0) return EditMetadataAtRandom(&writer, random, c);
  const int64_t start = what == 1 ? Between(random, 0, nitems - 1) : nitems;
  const int64_t count = Between(random, 1, what == 1 ? nitems - start : 1500);
  const Buffer items = MakeData(Pick(random, c->kinds), static_cast<size_t>(count * c->typesize()),
                                c->typesize(), random);
  c->content.resize(
      std::max(c->content.size(), static_cast<size_t>((start + count) * c->typesize())));
  std::ranges::copy(items, c->content.begin() + start * c->typesize());
  return start < nitems ? writer.WriteItems(start, items) : writer.Append(items);
}

class PeerRecoveryTest : public testing::Test {
 protected:
  ~PeerRecoveryTest() override {
    writer_.reset();
    for (const std::string& path : {path_, copy_, path_ + ".b2lock"}) {
      std::filesystem::remove(path);
    }
  }

  static FrameCase SimpleCase() {
    FrameCase c;
    c.kinds = std::span(kKinds);
    c.options.compression.typesize = 4;
    c.options.chunksize = 4000;
    c.metalayers["m"] = Buffer(20, std::byte{1});
    c.options.metalayers = {{.name = "m", .content = c.metalayers["m"]}};
    return c;
  }
  // A checkpoint of two complete chunks and more, and a writer that may continue.
  void Begin(FrameCase c, const WriterOptions& options = {}) {
    std::filesystem::remove(path_);
    c.options.file_system = Unowned(&files_);
    auto frame = Frame::Create(path_, c.options);
    ASSERT_TRUE(IsOk(frame));
    auto writer = frame->OpenWriter(options);
    ASSERT_TRUE(IsOk(writer));
    writer_.emplace(*std::move(writer));
    const size_t chunk = c.options.chunksize.nbytes().value_or(1000 * c.typesize());
    c.content = MakeData(DataKind::kText, 2 * chunk, c.typesize(), random_);
    const absl::Status appended = writer_->Append(c.content);
    ASSERT_TRUE(IsOk(appended));
    const absl::Status status = writer_->Checkpoint();
    ASSERT_TRUE(IsOk(status));
    c.options.file_system = nullptr;
    Note(c);
  }
  void Note(const FrameCase& c) {
    const auto frame = Frame::Open(path_);
    ASSERT_TRUE(IsOk(frame));
    const FrameInfo info = frame->snapshot().info();
    milestones_.push_back({.model = c, .end = info.frame_size + info.journal_size});
  }
  void Commit(FrameCase c, int64_t nedits) {
    for (int64_t i = 0; i < nedits; ++i) {
      const absl::Status edited = EditOnce(*writer_, random_, &c);
      ASSERT_TRUE(IsOk(edited));
    }
    const auto durability = random_() % 2 == 0 ? Durability::kMachine : Durability::kProcess;
    const auto committed = writer_->Commit(durability);
    ASSERT_TRUE(IsOk(committed));
    // If there are many dead bytes, a commit is a checkpoint.
    if (committed->info().journal_size == 0) milestones_.clear();
    Note(c);
  }
  // Copies what a machine finds whose writer was killed while edits were staged.
  void CopyOfDeadWriters() {
    FrameCase staged = last();
    const absl::Status edited = EditOnce(*writer_, random_, &staged);
    ASSERT_TRUE(IsOk(edited));
    std::filesystem::copy_file(path_, copy_, std::filesystem::copy_options::overwrite_existing);
  }
  // A random frame with some commits in its journal, left by a dead writer.
  void WriteJournal(uint64_t seed) {
    random_.seed(seed);
    writer_.reset();
    milestones_.clear();
    FrameCase c = MakeEditableFrameCase(random_);
    c.birth = Birth::kCreated;
    ASSERT_NO_FATAL_FAILURE(Begin(c));
    const int64_t ncommits = Between(random_, 1, 6);
    for (int64_t i = 0; i < ncommits || milestones_.size() < 2; ++i) {
      ASSERT_NO_FATAL_FAILURE(Commit(last(), Between(random_, 1, 3)));
    }
    CopyOfDeadWriters();
  }
  const FrameCase& first() const { return milestones_.front().model; }
  const FrameCase& last() const { return milestones_.back().model; }

  void ExpectCairnReads(const FrameCase& c) {
    const auto frame = Frame::Open(copy_);
    ASSERT_TRUE(IsOk(frame));
    ExpectHolds(frame->snapshot(), c);
  }
  void ExpectBothRead(const FrameCase& c) {
    ExpectCairnReads(c);
    ExpectPeerReadsFile(copy_, c, random_);
  }
  // Checkpoints the journal, in one of the ways there are.
  void Fold() {
    if (random_() % 2 == 0) {
      const auto report = Recover(copy_);
      ASSERT_TRUE(IsOk(report));
      EXPECT_EQ(report->commits > 0 || report->cut > 0, report->size_after != report->size_before);
      return;
    }
    auto frame = Frame::Open(copy_);
    ASSERT_TRUE(IsOk(frame));
    auto writer = frame->OpenWriter();
    ASSERT_TRUE(IsOk(writer));
    const absl::Status closed = HandOver(*writer);
    ASSERT_TRUE(IsOk(closed));
  }

  static constexpr DataKind kKinds[] = {DataKind::kText, DataKind::kRandom};
  const std::string path_ = FreshPath("recovery");
  const std::string copy_ = FreshPath("recovery-copy");
  test::UnsyncedFileSystem files_;
  Random random_{1};
  std::optional<Writer> writer_;
  std::vector<Milestone> milestones_;
};

TEST_F(PeerRecoveryTest, PeerSeesTheLastCheckpointAndAfterRecoveryEveryCommit) {
  for (uint64_t seed = 1; seed <= kSequences; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    ASSERT_NO_FATAL_FAILURE(WriteJournal(seed));
    ExpectPeerReadsFile(copy_, first(), random_);
    ExpectCairnReads(last());
    ASSERT_NO_FATAL_FAILURE(Fold());
    ExpectBothRead(last());
    if (HasFailure()) return;
  }
  Report("sequences", kSequences);
}

TEST_F(PeerRecoveryTest, TornRecordLeavesTheCommitsBeforeItToBoth) {
  for (uint64_t seed = 1001; seed <= 1000 + kSequences; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    ASSERT_NO_FATAL_FAILURE(WriteJournal(seed));
    const int64_t size = Between(random_, milestones_.front().end, milestones_.back().end);
    std::filesystem::resize_file(copy_, static_cast<uintmax_t>(size));
    // A commit is there without its receipt, too.
    constexpr int64_t kReceiptSize = 48;
    size_t whole = 0;
    while (whole + 1 < milestones_.size() && milestones_[whole + 1].end - kReceiptSize <= size) {
      ++whole;
    }
    SCOPED_TRACE(testing::Message() << "commits left: " << whole);
    ExpectPeerReadsFile(copy_, first(), random_);
    ASSERT_NO_FATAL_FAILURE(Fold());
    ExpectBothRead(milestones_[whole].model);
    if (HasFailure()) return;
  }
}

TEST_F(PeerRecoveryTest, IncompleteCommitIsNotRecovered) {
  ASSERT_NO_FATAL_FAILURE(WriteJournal(2001));
  {
    // The receipt is cut too, because the commit would count as damaged with it.
    constexpr int64_t kReceiptSize = 48;
    const int64_t end = milestones_.back().end - kReceiptSize;
    std::filesystem::resize_file(copy_, static_cast<uintmax_t>(end));
    std::fstream stream(copy_, std::ios::binary | std::ios::in | std::ios::out);
    stream.seekp(end - 8);
    stream.write("garbage!", 8);
  }
  ASSERT_NO_FATAL_FAILURE(Fold());
  ExpectBothRead(milestones_[milestones_.size() - 2].model);
}

TEST_F(PeerRecoveryTest, PeersEditOfTheHeaderAloneLeavesTheJournal) {
  ASSERT_NO_FATAL_FAILURE(Begin(SimpleCase()));
  FrameCase c = last();
  const Buffer items = MakeData(DataKind::kText, 10000, 4, random_);
  c.content.insert(c.content.end(), items.begin(), items.end());
  c.vlmetalayers["v"] = Buffer(7, std::byte{7});
  ASSERT_TRUE(IsOk(writer_->Append(items)));
  ASSERT_TRUE(IsOk(writer_->SetVlmetalayer("v", c.vlmetalayers["v"])));
  ASSERT_TRUE(IsOk(writer_->Commit()));
  ASSERT_NO_FATAL_FAILURE(Note(c));
  ASSERT_NO_FATAL_FAILURE(CopyOfDeadWriters());
  c.metalayers["m"] = Buffer(20, std::byte{2});
  {
    auto peer = PeerFrame::Open(copy_);
    ASSERT_TRUE(peer.has_value());
    ASSERT_TRUE(peer->UpdateMetalayer("m", c.metalayers["m"]));
  }
  {
    const auto frame = Frame::Open(copy_);
    ASSERT_TRUE(IsOk(frame));
    EXPECT_FALSE(frame->snapshot().info().sealed);
    EXPECT_GT(frame->snapshot().info().journal_size, 0);
    ExpectHolds(frame->snapshot(), c);
  }
  ASSERT_NO_FATAL_FAILURE(Fold());
  ExpectBothRead(c);
  EXPECT_TRUE(Frame::Open(copy_)->snapshot().info().sealed);
}

// A hazard that docs/guarantees.md names: recover first.
TEST_F(PeerRecoveryTest, PeersAppendDropsTheJournal) {
  ASSERT_NO_FATAL_FAILURE(Begin(SimpleCase()));
  ASSERT_NO_FATAL_FAILURE(Commit(last(), 3));
  ASSERT_NO_FATAL_FAILURE(CopyOfDeadWriters());
  FrameCase c = first();
  const Buffer chunk = MakeData(DataKind::kText, 4000, 4, random_);
  c.content.insert(c.content.end(), chunk.begin(), chunk.end());
  {
    auto peer = PeerFrame::Open(copy_);
    ASSERT_TRUE(peer.has_value());
    ASSERT_TRUE(peer->Append(chunk));
  }
  ExpectBothRead(c);
  EXPECT_EQ(Frame::Open(copy_)->snapshot().info().journal_size, 0);
}

uint64_t LockCounter(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::array<char, 16> bytes = {};
  stream.read(bytes.data(), bytes.size());
  uint64_t counter = 0;
  std::memcpy(&counter, bytes.data() + 8, sizeof(counter));
  return counter;
}

TEST_F(PeerRecoveryTest, WriterHoldsTheLockFileAndALockingPeerWaits) {
  const std::string lock_path = path_ + ".b2lock";
  FrameCase c = SimpleCase();
  ASSERT_NO_FATAL_FAILURE(Begin(c, {.make_lock_file = true}));
  EXPECT_EQ(LockCounter(lock_path), 1);
  c = last();
  const Buffer chunk = MakeData(DataKind::kText, 4000, 4, random_);
  ASSERT_TRUE(IsOk(writer_->Append(chunk)));
  ASSERT_TRUE(IsOk(writer_->Commit()));
  std::atomic<bool> done = false;
  bool appended = false;
  std::thread other([&] {
    auto peer = PeerFrame::OpenLocking(path_);
    appended = peer.has_value() && peer->Append(chunk);
    done = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_FALSE(done);
  EXPECT_EQ(LockCounter(lock_path), 1);
  const absl::Status closed = HandOver(*writer_);
  writer_.reset();
  other.join();
  ASSERT_TRUE(IsOk(closed));
  EXPECT_TRUE(appended);
  EXPECT_EQ(LockCounter(lock_path), 2);
  // On top of what was committed: the peer looked again when it had the lock.
  for (int i = 0; i < 2; ++i) c.content.insert(c.content.end(), chunk.begin(), chunk.end());
  std::filesystem::copy_file(path_, copy_, std::filesystem::copy_options::overwrite_existing);
  ExpectBothRead(c);
}

}  // namespace
}  // namespace cairn::interop
