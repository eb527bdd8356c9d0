// Checkpoints that are made during commits.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/frame/api/handle_access.h"
#include "tests/support/bytes.h"
#include "tests/support/edited_frame.h"
#include "tests/support/files.h"
#include "tests/support/frame_repair.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {
namespace {

constexpr int64_t kChunks = 6000;  // three pages

// Counts the syncs of the thread that made it.
class WatchedFiles final : public UnsyncedFileSystem {
 public:
  absl::StatusOr<std::unique_ptr<File>> WrapFile(std::unique_ptr<File> file, const std::string&,
                                                 FileMode) override {
    return std::make_unique<WatchedFile>(std::move(file), *this);
  }
  int64_t syncs() const { return syncs_; }

 private:
  class WatchedFile final : public UnsyncedFile {
   public:
    WatchedFile(std::unique_ptr<File> base, WatchedFiles& files)
        : UnsyncedFile(std::move(base)), files_(files) {}
    absl::Status Sync(SyncMode /*mode*/) override {
      if (std::this_thread::get_id() == files_.thread_) ++files_.syncs_;
      return absl::OkStatus();
    }

   private:
    WatchedFiles& files_;
  };

  const std::thread::id thread_ = std::this_thread::get_id();
  int64_t syncs_ = 0;
};

class BackgroundCheckpointTest : public EditedFrameTest {
 protected:
  BackgroundCheckpointTest() : EditedFrameTest(kChunks) {}
  // A writer whose checkpoints are gradual.
  Writer OpenWriter(bool use_thread = false) {
    has_thread_ = use_thread;
    return EditedFrameTest::OpenWriter({.least_edits = 1 << 12,
                                        .least_gradual = 1000,
                                        .use_thread = use_thread,
                                        .least_free = int64_t{64} << 10},
                                       Unowned(&files_));
  }
  void Update(Writer& writer) { EditedFrameTest::Update(writer, AnyChunk()); }
  // Commits of a few edits, until another checkpoint is the frame's, which was made during them.
  void CommitUntilCheckpoint(Writer& writer) {
    const Buffer before = HeaderOf(path_);
    for (int64_t i = 0; HeaderOf(path_) == before; ++i) {
      ASSERT_LT(i, 40'000);
      CommitSomething(writer);
    }
    // The other thread may take so long to sync that the journal becomes too long for waiting. A
    // commit makes a checkpoint at once then.
    EXPECT_TRUE(has_thread_ || Inherits(Read()));
  }
  void CommitSomething(Writer& writer, Durability durability = Durability::kProcess) {
    for (uint64_t left = random_() % 3; left > 0; --left) Update(writer);
    Append(writer);
    ASSERT_TRUE(IsOk(writer.Commit(durability)));
  }
  // Until the first shrinking checkpoint; what the one before took is returned.
  int64_t CommitUntilCheckpointBelow(Writer& writer) {
    DeleteMost(writer);
    int64_t before = 0;
    for (Snapshot newest = Read(); !IsBelow(newest); newest = Read()) {
      before = newest.info().frame_size;
      syncs_before_ = files_.syncs();
      CommitUntilCheckpoint(writer);
    }
    return before;
  }
  void DeleteMost(Writer& writer) {
    constexpr int64_t kDeleted = kChunks * 3 / 4;
    ASSERT_TRUE(IsOk(writer.DeleteChunks(0, kDeleted)));
    data_.erase(data_.begin(), data_.begin() + kDeleted * kSmallChunk);
    ASSERT_TRUE(IsOk(writer.Commit(Durability::kProcess)));
  }
  // Returns true if the checkpoint has a journal of its own, though it was made during commits.
  static bool IsBelow(const Snapshot& snapshot) {
    const frame::Checkpoint& checkpoint = *frame::HandleAccess::StateOf(snapshot).checkpoint;
    if (!Inherits(snapshot)) return false;
    return checkpoint.seal->previous_end == 0;
  }
  static Buffer HeaderOf(const std::string& path) {
    Buffer bytes(64);
    std::ifstream(path).read(reinterpret_cast<char*>(bytes.data()), 64);
    return bytes;
  }

  WatchedFiles files_;
  bool has_thread_ = false;
  int64_t syncs_before_ = 0;
};

TEST_F(BackgroundCheckpointTest, LeadsToTheCommitsThatWereMadeBesideIt) {
  Writer writer = OpenWriter();
  for (int i = 0; i < 3; ++i) {
    CommitUntilCheckpoint(writer);
    ExpectHolds(Read(), data_);
    for (int j = 0; j < 100; ++j) {
      Update(writer);
      ASSERT_TRUE(IsOk(writer.Commit(Durability::kProcess)));
    }
    ExpectHolds(Read(), data_);
  }
  ASSERT_TRUE(IsOk(writer.Close()));
  ExpectHolds(Read(), data_);
}

TEST_F(BackgroundCheckpointTest, IsSyncedByAnotherThreadThanCommits) {
  Writer writer = OpenWriter(true);
  const int64_t before = files_.syncs();
  for (int i = 0; i < 2; ++i) CommitUntilCheckpoint(writer);
  EXPECT_EQ(files_.syncs(), before);
  ASSERT_TRUE(IsOk(writer.Close()));
  EXPECT_GT(files_.syncs(), before);
  ExpectHolds(Read(), data_);
}

TEST_F(BackgroundCheckpointTest, ShrinksTheFrameBesideCommitsWhereMuchIsFree) {
  Writer writer = OpenWriter();
  const int64_t before = CommitUntilCheckpointBelow(writer);
  EXPECT_LT(Read().info().frame_size, before);
  ExpectHolds(Read(), data_);
  for (int j = 0; j < 100; ++j) CommitSomething(writer);
  ExpectHolds(Read(), data_);
  ASSERT_TRUE(IsOk(writer.Close()));
  auto frame = Frame::Open(path_);
  ASSERT_TRUE(IsOk(frame));
  EXPECT_TRUE(frame->snapshot().Verify()->ok());
  ExpectHolds(frame->snapshot(), data_);
}

// The one sync is that of its header.
TEST_F(BackgroundCheckpointTest, ShrinksTheFrameWithOneSyncInACommit) {
  Writer writer = OpenWriter(true);
  CommitUntilCheckpointBelow(writer);
  EXPECT_EQ(files_.syncs(), syncs_before_ + 1);
  ExpectHolds(Read(), data_);
}

// Wherever it stops, what was committed is there, for readers and for the next writer.
TEST_F(BackgroundCheckpointTest, ThatShrinksMayBeLeftInAnyStep) {
  int64_t below = 0;
  for (int64_t life = 0; life < 20; ++life) {
    Writer writer = OpenWriter(life % 2 == 1);
    if (life == 0) DeleteMost(writer);
    const int64_t commits = 300 + static_cast<int64_t>(random_() % 400);
    for (int64_t i = 0; i < commits; ++i) {
      for (int j = 0; j < 10; ++j) Update(writer);
      CommitSomething(writer);
    }
    const Buffer committed = data_;
    Update(writer);  // and it ends
    data_ = committed;
    ExpectHolds(Read(), data_);
    below += IsBelow(Read()) ? 1 : 0;
  }
  EXPECT_GT(below, 2);
}

// None of these is a shrinking checkpoint, but when much is free one is made.
TEST_F(BackgroundCheckpointTest, FileStaysSmallHoweverManyAreMade) {
  Writer writer = OpenWriter();
  int64_t gradual = 0;
  for (int i = 0; i < 10; ++i) {
    const Buffer before = HeaderOf(path_);
    while (HeaderOf(path_) == before) {
      for (int j = 0; j < 20; ++j) Update(writer);
      ASSERT_TRUE(IsOk(writer.Commit(Durability::kProcess)));
    }
    gradual += Inherits(Read()) ? 1 : 0;
  }
  EXPECT_GT(gradual, 2);
  EXPECT_LT(std::filesystem::file_size(path_), 2 * std::size(data_) + (8 << 20))
      << "each of them takes 2 MiB with its journal";
  ExpectHolds(Read(), data_);
}

TEST_F(BackgroundCheckpointTest, ReadersFollowTheJournalAcrossIt) {
  Writer writer = OpenWriter(true);
  auto frame = Frame::Open(path_);
  ASSERT_TRUE(IsOk(frame));
  bool inherited = false;
  for (int64_t i = 0; i < 12'000; ++i) {
    CommitSomething(writer, i % 100 == 0 ? Durability::kMachine : Durability::kProcess);
    if (i % 97 != 0) continue;
    const auto snapshot = frame->Refresh();
    ASSERT_TRUE(IsOk(snapshot));
    ASSERT_EQ(snapshot->info().nbytes, std::ssize(data_));
    inherited = inherited || Inherits(*snapshot);
    if (i % 970 == 0) ExpectHolds(*snapshot, data_);
  }
  EXPECT_TRUE(inherited);
  ExpectHolds(*frame->Refresh(), data_);
}

// The old bytes of the vlmetalayers are overwritten by then.
TEST_F(BackgroundCheckpointTest, VlmetalayersStayWhatTheyAre) {
  Writer writer = OpenWriter();
  const Buffer content = MakeNoise(3000, 5);
  ASSERT_TRUE(IsOk(writer.SetVlmetalayer("kept", content)));
  ASSERT_TRUE(IsOk(writer.Checkpoint()));
  ASSERT_TRUE(IsOk(writer.SetVlmetalayer("later", content)));
  DeleteMost(writer);
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(IsOk(writer.SetVlmetalayer("last", content)));
    CommitUntilCheckpoint(writer);
    for (const std::string_view name : {"kept", "later", "last"}) {
      EXPECT_EQ(writer.StagedSnapshot()->GetVlmetalayer(name).value(), content) << name;
    }
  }
}

// Wherever it stops, and whatever comes then.
TEST_F(BackgroundCheckpointTest, MayBeLeftInAnyStep) {
  int64_t inherited = 0;
  for (int64_t life = 0; life < 20; ++life) {
    Writer writer = OpenWriter(life % 2 == 1);
    const auto commits = static_cast<int64_t>(random_() % 1500);
    for (int64_t i = 0; i < commits; ++i) CommitSomething(writer);
    const Buffer committed = data_;
    switch (random_() % 5) {
      case 0:
        Update(writer);
        writer.Rollback();
        data_ = committed;
        CommitSomething(writer);
        break;
      case 1:
        ASSERT_TRUE(IsOk(writer.Suspend()));
        ASSERT_TRUE(IsOk(writer.Resume()));
        CommitSomething(writer);
        break;
      case 2: {
        Update(writer);
        auto staged = writer.StagedSnapshot();
        ASSERT_TRUE(IsOk(staged));
        const Buffer seen = data_;
        writer.Rollback();
        data_ = committed;
        for (int i = 0; i < 100; ++i) CommitSomething(writer);
        ExpectHolds(*staged, seen);
        break;
      }
      case 3:
        ASSERT_TRUE(IsOk(writer.Checkpoint()));
        break;
      default:
        Update(writer);  // and it ends
        data_ = committed;
    }
    const Snapshot now = Read();
    inherited += Inherits(now) ? 1 : 0;
    ExpectHolds(now, data_);
  }
  EXPECT_GT(inherited, 4);
}

// In whatever step of a checkpoint the rollback comes.
TEST_F(BackgroundCheckpointTest, LeavesWhatAStagedSnapshotReadsAfterTheRollback) {
  struct Staged {
    Snapshot snapshot;
    int64_t nchunk;
    Buffer items;
  };
  std::deque<Staged> staged;
  Writer writer = OpenWriter();
  bool inherited = false;
  for (int i = 0; i < 12'000; ++i) {
    CommitSomething(writer);
    if (i % 100 == 0) inherited = inherited || Inherits(Read());
    if (i % 5 != 0 || i / 1000 % 2 == 0) continue;
    const auto nchunk = static_cast<int64_t>(random_() % kChunks);
    const Buffer items = MakeNoise(kSmallChunk, random_());
    ASSERT_TRUE(IsOk(writer.UpdateChunk(nchunk, items)));
    auto snapshot = writer.StagedSnapshot();
    ASSERT_TRUE(IsOk(snapshot));
    writer.Rollback();
    staged.push_back({*std::move(snapshot), nchunk, items});
    if (staged.size() <= 300) continue;
    Buffer read(kSmallChunk);
    ASSERT_TRUE(IsOk(staged.front().snapshot.ReadChunk(staged.front().nchunk, read))) << i;
    ASSERT_EQ(read, staged.front().items) << i;
    staged.pop_front();
  }
  EXPECT_TRUE(inherited);
}

// A reader of the checkpoint before sees also what was committed beside the next one.
TEST_F(BackgroundCheckpointTest, KeepsWhatReadersOfTheCheckpointBeforeFollowedTo) {
  Writer writer = OpenWriter();
  auto frame = Frame::Open(path_);
  ASSERT_TRUE(IsOk(frame));
  const Buffer header = HeaderOf(path_);
  Snapshot seen = frame->snapshot();
  const auto commit = [&](int64_t nchunk) {
    EditedFrameTest::Update(writer, nchunk);
    ASSERT_TRUE(IsOk(writer.Commit(Durability::kProcess)));
  };
  Buffer expected;
  for (int64_t i = 0; HeaderOf(path_) == header; ++i) {
    ASSERT_LT(i, 40'000);
    const Buffer before = data_;
    auto snapshot = frame->Refresh();
    ASSERT_TRUE(IsOk(snapshot));
    seen = *snapshot;
    expected = before;
    commit(i % 8);
  }
  for (int i = 0; i < 100; ++i) commit(i % 8);
  ASSERT_TRUE(IsOk(writer.Checkpoint()));
  for (int i = 0; i < 6000; ++i) commit(100 + i % 4000);
  ASSERT_TRUE(IsOk(writer.Checkpoint()));
  for (int i = 0; i < 6000; ++i) commit(100 + i % 4000);
  ExpectHolds(seen, expected);
}

TEST_F(BackgroundCheckpointTest, ThatShrinksKeepsWhatReadersFollowedTo) {
  Writer writer = OpenWriter();
  DeleteMost(writer);
  auto frame = Frame::Open(path_);
  ASSERT_TRUE(IsOk(frame));
  struct Seen {
    Snapshot snapshot;
    Buffer data;
  };
  std::optional<Seen> last;
  std::vector<Seen> held;
  Buffer header = HeaderOf(path_);
  for (int64_t i = 0; held.size() < 3; ++i) {
    ASSERT_LT(i, 40'000);
    for (int j = 0; j < 5; ++j) Update(writer);
    CommitSomething(writer);
    if (HeaderOf(path_) != header && IsBelow(Read())) held.push_back(*std::move(last));
    header = HeaderOf(path_);
    last = {*frame->Refresh(), data_};
    for (const Seen& seen : held) {
      if (i % 500 == 0) ExpectHolds(seen.snapshot, seen.data);
    }
  }
  for (const Seen& seen : held) ExpectHolds(seen.snapshot, seen.data);
  ExpectHolds(Read(), data_);
}

TEST_F(BackgroundCheckpointTest, DamagedTrailerHidesNoCommit) {
  Writer writer = OpenWriter();
  CommitUntilCheckpoint(writer);
  for (int i = 0; i < 10; ++i) CommitSomething(writer, Durability::kMachine);
  const Snapshot newest = Read();
  const Extent trailer = frame::HandleAccess::StateOf(newest).checkpoint->trailer;
  Buffer bytes = FileBytes(path_);
  for (const int64_t at :
       {trailer.begin + 3, trailer.begin + 40, trailer.end - 100, trailer.end - 5}) {
    Buffer damaged = bytes;
    damaged[static_cast<size_t>(at)] ^= std::byte{0x10};
    PutFileBytes(path_, damaged);
    const auto frame = Frame::Open(path_);
    const bool told = !frame.ok() || frame->snapshot().info().journal_damaged;
    EXPECT_TRUE(told || frame->snapshot().info().nbytes == std::ssize(data_)) << "byte " << at;
  }
  PutFileBytes(path_, bytes);
  ExpectHolds(Read(), data_);
}

TEST_F(BackgroundCheckpointTest, JournalThatIsSaidToGoOnFarAwayIsDamage) {
  Writer writer = OpenWriter();
  CommitUntilCheckpoint(writer);
  Buffer bytes = FileBytes(path_);
  EditSeal(bytes, [](format::Seal& seal) { seal.journal->begin = INT64_MAX - 10; });
  PutFileBytes(path_, bytes);
  EXPECT_TRUE(absl::IsDataLoss(Frame::Open(path_).status()));
}

}  // namespace
}  // namespace cairn::test
