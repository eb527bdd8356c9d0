// Summaries of the journal, which readers begin after.
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/frame/replay/summary.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/summarized_frame.h"

namespace cairn::test {
namespace {

class JournalSummarizerTest : public SummarizedFrameTest {};

TEST_F(JournalSummarizerTest, SayWhatTheCommitsDid) {
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

TEST_F(JournalSummarizerTest, HoldMetadata) {
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

TEST_F(JournalSummarizerTest, LeaveReadersAsTheyAreWhateverTheNextWriterDoes) {
  std::vector<std::pair<Snapshot, Buffer>> seen;
  for (int life = 0; life < 30; ++life) {
    Writer writer = OpenWriter(life % 2 == 0);
    CommitMany(writer, static_cast<int64_t>(random_() % 60));
    const Buffer committed = data_;
    seen.emplace_back(Read(), data_);
    if (life % 3 == 0) Update(writer, AnyChunk());  // and it ends
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

TEST_F(JournalSummarizerTest, AreFollowedByTheSameCommitsAsBefore) {
  Writer writer = OpenWriter(true);
  auto frame = Frame::Open(path_);
  ASSERT_TRUE(IsOk(frame));
  int64_t skipping = 0;
  int64_t inheriting = 0;  // of these, after a checkpoint that was made during commits
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
TEST_F(JournalSummarizerTest, AreThereForTheFirstReadersOfACheckpointMadeBesideCommits) {
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
TEST_F(JournalSummarizerTest, AreFollowedByTheCommitsOfOtherWriters) {
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

TEST_F(JournalSummarizerTest, AreBelievedByDurableReadersOnceASyncCoversThem) {
  Writer writer = OpenWriter();
  CommitMany(writer, 100, Durability::kProcess);
  EXPECT_FALSE(SkipsCommits(Read({.durable_only = true})));
  CommitMany(writer, 2, Durability::kMachine);  // the second one says what the first one synced
  const Snapshot durable = Read({.durable_only = true});
  EXPECT_TRUE(SkipsCommits(durable));
  ExpectHolds(durable, data_);
}

// Replay finds the same, or what the older one does.
TEST_F(JournalSummarizerTest, AreNotMissedWhereTheyOrTheAnchorAreDamaged) {
  Writer writer = OpenWriter();
  CommitMany(writer, 300, Durability::kMachine);
  const Snapshot before = Read();
  EXPECT_TRUE(SkipsCommits(before));
  const frame::State& state = frame::HandleAccess::StateOf(before);
  const auto tables = state.chunks.summary()->tables();
  FlipByte(tables.back().place.position + 1);
  EXPECT_EQ(ContentOf(Read()), data_);
  FlipByte(frame::AnchorOf(state).slot(0) + 3);
  EXPECT_EQ(ContentOf(Read()), data_);
  FlipByte(frame::AnchorOf(state).slot(1) + 3);
  EXPECT_FALSE(SkipsCommits(Read()));
  EXPECT_EQ(ContentOf(Read()), data_);
}

// No state needs what is summed up. A writer, which has to know what became of all space, does.
TEST_F(JournalSummarizerTest, LetReadersPassDamagedCommits) {
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
