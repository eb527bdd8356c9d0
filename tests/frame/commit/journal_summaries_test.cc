// Summaries of the journal, which readers begin after.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "engine/frame/api/handle_access.h"
#include "engine/frame/commit/frame_writer.h"
#include "engine/frame/journal/summary.h"
#include "engine/frame/state/frame_context.h"
#include "tests/support/bytes.h"
#include "tests/support/files.h"
#include "tests/support/frames.h"
#include "tests/support/opened_core.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {
namespace {

constexpr int32_t kItemsOfChunk = 64;
constexpr int64_t kManyChunks = 400;
constexpr int64_t kEditsOfSummary = 40;

class JournalSummariesTest : public testing::Test {
 protected:
  void SetUp() override {
    data_ = MakeNoise(kManyChunks * kItemsOfChunk, 1);
    ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(kItemsOfChunk), data_)));
  }
  Writer OpenWriter(bool gradual = false, int64_t edits_of_summary = kEditsOfSummary) {
    auto env = std::make_shared<frame::FrameContext>(OpenOptions{.file_system = &files_});
    env->checkpoints = {.least_gradual = gradual ? 1 : INT64_MAX,
                        .use_thread = false,
                        .least_summarized = 1,
                        .edits_of_summary = edits_of_summary};
    if (gradual) env->checkpoints.least_edits = 300;
    auto core = OpenCore(path_, env);
    EXPECT_TRUE(IsOk(core));
    auto writer = frame::OpenWriter(*core, {});
    EXPECT_TRUE(IsOk(writer));
    return frame::HandleAccess::Make(*std::move(writer));
  }
  Snapshot Read(const OpenOptions& options = {}) const {
    auto frame = Frame::Open(path_, options);
    EXPECT_TRUE(IsOk(frame));
    return frame->snapshot();
  }
  static bool SkipsCommits(const Snapshot& snapshot) {
    return frame::HandleAccess::StateOf(snapshot).chunks.summary() != nullptr;
  }
  static bool Inherits(const Snapshot& snapshot) {
    const frame::Checkpoint& checkpoint = *frame::HandleAccess::StateOf(snapshot).checkpoint;
    return checkpoint.seal_holds && checkpoint.seal->journal.has_value();
  }
  int64_t Chunks() const { return std::ssize(data_) / kItemsOfChunk; }
  auto At(int64_t nchunk) { return data_.begin() + nchunk * kItemsOfChunk; }

  void Update(Writer& writer) {
    const auto nchunk = static_cast<int64_t>(random_() % static_cast<uint64_t>(Chunks()));
    const Buffer items = MakeNoise(kItemsOfChunk, random_());
    ASSERT_TRUE(IsOk(writer.UpdateChunk(nchunk, items)));
    std::ranges::copy(items, At(nchunk));
  }
  void Insert(Writer& writer) {
    const auto nchunk = static_cast<int64_t>(random_() % static_cast<uint64_t>(Chunks()));
    const Buffer items = MakeNoise(kItemsOfChunk, random_());
    ASSERT_TRUE(IsOk(writer.InsertChunk(nchunk, items)));
    data_.insert(At(nchunk), items.begin(), items.end());
  }
  void Delete(Writer& writer) {
    const auto nchunk = static_cast<int64_t>(random_() % static_cast<uint64_t>(Chunks() - 2));
    const auto count = static_cast<int64_t>(1 + random_() % 2);
    ASSERT_TRUE(IsOk(writer.DeleteChunks(nchunk, count)));
    data_.erase(At(nchunk), At(nchunk + count));
  }
  void Append(Writer& writer) {
    const Buffer items = MakeNoise(static_cast<int64_t>(1 + random_() % 100), random_());
    ASSERT_TRUE(IsOk(writer.Append(items)));
    data_.insert(data_.end(), items.begin(), items.end());
  }
  void CommitSomething(Writer& writer, Durability durability = Durability::kProcess) {
    for (uint64_t left = 1 + random_() % 3; left > 0; --left) {
      switch (random_() % 5) {
        case 0:
          Update(writer);
          break;
        case 1:
          Insert(writer);
          break;
        case 2:
          Delete(writer);
          break;
        default:
          Append(writer);
      }
    }
    ASSERT_TRUE(IsOk(writer.Commit(durability)));
  }
  void CommitMany(Writer& writer, int64_t commits, Durability durability = Durability::kProcess) {
    for (int64_t i = 0; i < commits; ++i) CommitSomething(writer, durability);
  }
  void FlipByte(int64_t at) const {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    const auto byte = static_cast<char>(file.get() ^ 1);
    file.seekp(at);
    file.put(byte);
  }

  const TempDir dir_;
  std::string path_ = dir_.Path("f");
  UnsyncedFileSystem files_;
  Buffer data_;
  std::mt19937_64 random_{7};
};

TEST_F(JournalSummariesTest, SayWhatTheCommitsDid) {
  Writer writer = OpenWriter();
  EXPECT_FALSE(SkipsCommits(Read()));
  for (int i = 0; i < 40; ++i) {
    CommitMany(writer, 11);
    ExpectHolds(Read(), data_);
  }
  EXPECT_TRUE(SkipsCommits(Read()));
  ASSERT_TRUE(IsOk(writer.Checkpoint()));
  EXPECT_FALSE(SkipsCommits(Read()));
  ExpectHolds(Read(), data_);
}

TEST_F(JournalSummariesTest, HoldMetadata) {
  {
    Writer writer = OpenWriter();
    ASSERT_TRUE(IsOk(writer.SetVlmetalayer("first", MakeNoise(20, 1))));
    ASSERT_TRUE(IsOk(writer.SetVlmetalayer("second", MakeNoise(20, 2))));
    ASSERT_TRUE(IsOk(writer.Checkpoint()));
  }
  Writer writer = OpenWriter();
  ASSERT_TRUE(IsOk(writer.DeleteVlmetalayer("first")));
  ASSERT_TRUE(IsOk(writer.SetVlmetalayer("third", MakeNoise(20, 3))));
  CommitMany(writer, 100);
  const Snapshot snapshot = Read();
  EXPECT_TRUE(SkipsCommits(snapshot));
  EXPECT_FALSE(snapshot.GetVlmetalayer("first").ok());
  EXPECT_EQ(snapshot.GetVlmetalayer("second").value(), MakeNoise(20, 2));
  EXPECT_EQ(snapshot.GetVlmetalayer("third").value(), MakeNoise(20, 3));
}

TEST_F(JournalSummariesTest, LeaveReadersAsTheyAreWhateverTheNextWriterDoes) {
  std::vector<std::pair<Snapshot, Buffer>> seen;
  for (int life = 0; life < 30; ++life) {
    Writer writer = OpenWriter(life % 2 == 0);
    CommitMany(writer, static_cast<int64_t>(random_() % 60));
    const Buffer committed = data_;
    seen.emplace_back(Read(), data_);
    if (life % 3 == 0) Update(writer);  // and it ends
    if (life % 5 == 0) {
      writer.Rollback();
      data_ = committed;
      CommitSomething(writer);
    } else if (life % 7 == 0) {
      data_ = committed;
      writer.Rollback();
      ASSERT_TRUE(IsOk(writer.Suspend()));
      ASSERT_TRUE(IsOk(writer.Resume()));
      CommitMany(writer, 30);
    } else {
      data_ = committed;
    }
    ExpectHolds(Read(), data_);
    for (const auto& [snapshot, data] : seen) ExpectHolds(snapshot, data);
    if (seen.size() > 3) seen.erase(seen.begin());
  }
}

TEST_F(JournalSummariesTest, AreFollowedByTheSameCommitsAsBefore) {
  Writer writer = OpenWriter(true);
  auto frame = Frame::Open(path_);
  ASSERT_TRUE(IsOk(frame));
  int64_t skipping = 0;
  int64_t inheriting = 0;  // of these, after a checkpoint that was made beside commits
  for (int i = 0; i < 50; ++i) {
    CommitMany(writer, 20, i % 3 == 0 ? Durability::kMachine : Durability::kProcess);
    const auto snapshot = frame->Refresh();
    ASSERT_TRUE(IsOk(snapshot));
    ExpectHolds(*snapshot, data_);
    const Snapshot opened = Read();
    ExpectHolds(opened, data_);
    skipping += SkipsCommits(opened) ? 1 : 0;
    inheriting += SkipsCommits(opened) && Inherits(opened) ? 1 : 0;
    EXPECT_EQ(opened.info().generation, snapshot->info().generation);
  }
  EXPECT_GT(skipping, 20);
  EXPECT_GT(inheriting, 5);
}

// From the header of the checkpoint on, which is not durable yet.
TEST_F(JournalSummariesTest, AreThereForTheFirstReadersOfACheckpointMadeBesideCommits) {
  constexpr int64_t kFew = 8;
  constexpr int64_t kMostOfCommit = 12;
  Writer writer = OpenWriter(true, kFew);
  int64_t inheriting = 0;
  uint64_t checkpoint = 0;
  for (int i = 0; i < 1500; ++i) {
    CommitSomething(writer);
    const Snapshot opened = Read();
    const frame::State& state = frame::HandleAccess::StateOf(opened);
    EXPECT_TRUE(SkipsCommits(opened) || state.journal->edits < kFew + 2 * kMostOfCommit) << i;
    const uint64_t generation = state.checkpoint->seal->generation;
    inheriting += generation != checkpoint && SkipsCommits(opened) ? 1 : 0;
    checkpoint = generation;
    if (i % 10 == 0) ExpectHolds(opened, data_);
  }
  EXPECT_GT(inheriting, 3);
}

// Whatever checkpoint the summary is for that the journal ends with.
TEST_F(JournalSummariesTest, AreFollowedByTheCommitsOfOtherWriters) {
  constexpr int64_t kFew = 4;
  Writer writer = OpenWriter(true, kFew);
  for (int i = 0; i < 60; ++i) {
    CommitMany(writer, static_cast<int64_t>(1 + random_() % 20));
    ASSERT_TRUE(IsOk(writer.Suspend()));
    {
      auto frame = Frame::Open(path_);
      ASSERT_TRUE(IsOk(frame));
      auto other = frame->OpenWriter();
      ASSERT_TRUE(IsOk(other));
      Update(*other);
      ASSERT_TRUE(IsOk(other->Commit(Durability::kProcess)));
    }
    ASSERT_TRUE(IsOk(writer.Resume()));
    CommitSomething(writer);
    ExpectHolds(Read(), data_);
  }
}

TEST_F(JournalSummariesTest, AreBelievedByDurableReadersOnceASyncCoversThem) {
  Writer writer = OpenWriter();
  CommitMany(writer, 100, Durability::kProcess);
  EXPECT_FALSE(SkipsCommits(Read({.durable_only = true})));
  CommitMany(writer, 2, Durability::kMachine);  // the second one says what the first one synced
  const Snapshot durable = Read({.durable_only = true});
  EXPECT_TRUE(SkipsCommits(durable));
  ExpectHolds(durable, data_);
}

// Replay finds the same, or what the older one does.
TEST_F(JournalSummariesTest, AreNotMissedWhereTheyOrTheAnchorAreDamaged) {
  Writer writer = OpenWriter();
  CommitMany(writer, 300, Durability::kMachine);
  const Snapshot before = Read();
  EXPECT_TRUE(SkipsCommits(before));
  const frame::State& state = frame::HandleAccess::StateOf(before);
  const auto tables = state.chunks.summary()->tables();
  FlipByte(tables.back().place.position + 1);
  ExpectHolds(Read(), data_);
  FlipByte(frame::AnchorOf(state).slot(0) + 3);
  ExpectHolds(Read(), data_);
  FlipByte(frame::AnchorOf(state).slot(1) + 3);
  EXPECT_FALSE(SkipsCommits(Read()));
  ExpectHolds(Read(), data_);
}

// No state needs what is summed up. A writer, which has to know what became of all space, does.
TEST_F(JournalSummariesTest, LetReadersPassDamagedCommits) {
  Writer writer = OpenWriter();
  CommitMany(writer, 300, Durability::kMachine);
  ASSERT_TRUE(IsOk(writer.Suspend()));
  FlipByte(frame::AnchorOf(frame::HandleAccess::StateOf(Read())).position + 400);
  const Snapshot snapshot = Read();
  EXPECT_TRUE(SkipsCommits(snapshot));
  EXPECT_EQ(snapshot.info().nbytes, std::ssize(data_));
  EXPECT_FALSE(snapshot.info().journal_damaged);
}

}  // namespace
}  // namespace cairn::test
