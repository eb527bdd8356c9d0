#include "engine/collection/ledger/ledger_history.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/status.h"

namespace cairn::collection {
namespace {

using Kind = PastEdit::Kind;

MemberEntry Entry(uint64_t id, uint64_t generation) {
  return {.id = id, .position = {.generation = generation, .hash = 100 + generation}};
}

// Three commits that add, change, replace and remove.
std::vector<LedgerCommit> Commits() {
  std::vector<LedgerCommit> commits(3);
  commits[0] = {.number = 1, .added = {{.name = "/a", .entry = Entry(1, 1)}}};
  commits[0].added.push_back({.name = "/b", .entry = Entry(2, 1)});
  commits[1] = {.number = 2, .removed = {"/a"}, .added = {{.name = "/a", .entry = Entry(3, 1)}}};
  commits[1].parts = {{.name = "/b", .position = Entry(2, 4).position, .synced = true}};
  commits[2] = {.number = 3, .removed = {"/a"}};
  commits[2].parts = {{.name = "/b", .position = Entry(2, 5).position}};
  return commits;
}

class LedgerHistoryTest : public testing::Test {
 protected:
  LedgerHistoryTest() {
    ledger_.table.keep = 9;
    for (const LedgerCommit& commit : Commits()) {
      tables_.push_back(ledger_.table);
      EXPECT_TRUE(IsOk(ApplyCommit(commit, ledger_.table)));
      ledger_.commits.push_back(std::make_shared<const LedgerCommit>(commit));
    }
  }

  Ledger ledger_;
  std::vector<LedgerTable> tables_;  // before each commit
};

TEST_F(LedgerHistoryTest, LeadsBackToEachCommit) {
  EXPECT_EQ(ledger_.table.oldest_kept(), 0u);
  for (const LedgerTable& expected : tables_) {
    const auto ledger = LedgerAt(ledger_, expected.number);
    ASSERT_TRUE(IsOk(ledger));
    EXPECT_EQ((*ledger)->table, expected);
    EXPECT_EQ((*ledger)->commits.size(), expected.number);
  }
}

TEST_F(LedgerHistoryTest, KeepsTheNewestCommits) {
  KeepPast(1, ledger_.table);
  EXPECT_EQ(ledger_.table.oldest_kept(), 2u);
  EXPECT_EQ(LedgerAt(ledger_, 2).value()->table.members, tables_[2].members);
  KeepPast(0, ledger_.table);
  EXPECT_EQ(ledger_.table.oldest_kept(), 3u);
}

TEST_F(LedgerHistoryTest, TellsSinceWhenAPositionIsListed) {
  const auto listed = GenerationsOf("/b", ledger_);
  ASSERT_EQ(listed.size(), 3u);
  EXPECT_EQ(listed[0].number, 1u);
  EXPECT_EQ(listed[0].generation, 1u);
  EXPECT_EQ(listed[1].number, 2u);
  EXPECT_EQ(listed[1].generation, 4u);
  EXPECT_EQ(listed[2].number, 3u);
  EXPECT_EQ(listed[2].generation, 5u);
  // The commits since the ledger's checkpoint tell it, too.
  KeepPast(0, ledger_.table);
  ASSERT_EQ(GenerationsOf("/b", ledger_).size(), 3u);
  EXPECT_EQ(GenerationsOf("/b", ledger_)[1].number, 2u);
  EXPECT_EQ(GenerationsOf("/b", ledger_)[1].generation, 4u);
  ledger_.commits.clear();
  EXPECT_EQ(GenerationsOf("/b", ledger_)[0].number, 3u) << "or before";
  EXPECT_EQ(GenerationsOf("/b", ledger_)[0].generation, 5u);
}

TEST_F(LedgerHistoryTest, TellsWhichFilesOlderCommitsHave) {
  const std::vector<RemovedMember> removed = RemovedMembers(ledger_.table);
  ASSERT_EQ(removed.size(), 2u);
  EXPECT_EQ(removed[0].id, 3u);
  EXPECT_EQ(removed[0].number, 3u);
  EXPECT_EQ(removed[1].id, 1u);
  EXPECT_EQ(removed[1].number, 2u);
}

TEST_F(LedgerHistoryTest, ListsEditsButNoCheckpoints) {
  const std::vector<CommitInfo> expected = {
      {.number = 0},
      {.number = 1, .added = {"/a", "/b"}},
      {.number = 2, .added = {"/a"}, .removed = {"/a"}, .changed = {"/b"}},
      {.number = 3, .removed = {"/a"}}};
  EXPECT_EQ(ListCommits(ledger_.table), expected);
}

TEST_F(LedgerHistoryTest, HistoryThatContradictsTheTableIsDamage) {
  for (const PastEdit& edit : {PastEdit{.name = "/c", .kind = Kind::kAdded},
                               PastEdit{.name = "/c", .kind = Kind::kChanged},
                               PastEdit{.name = "/c", .kind = Kind::kReplaced},
                               PastEdit{.name = "/b", .kind = Kind::kRemoved}}) {
    Ledger ledger = ledger_;
    ledger.table.past.back() =
        std::make_shared<const PastCommit>(PastCommit{.before = 2, .edits = {edit}});
    EXPECT_TRUE(Fails(LedgerAt(ledger, 2).status(), absl::StatusCode::kDataLoss,
                      "commit 3 has changed " + edit.name));
  }
}

// Applies commits to a ledger that keeps some of them.
class JoinedCommitsTest : public testing::Test {
 protected:
  JoinedCommitsTest() { ledger_.table.keep = 2; }

  void Apply(LedgerCommit commit) {
    commit.number = ledger_.table.number + 1;
    ASSERT_TRUE(IsOk(ApplyCommit(commit, ledger_.table)));
    ledger_.commits.push_back(std::make_shared<const LedgerCommit>(commit));
    // Readers of a checkpoint see the same.
    EXPECT_EQ(ParseTable(EncodeTable(ledger_.table)).value(), ledger_.table);
    EXPECT_EQ(ParseLedgerCommit(EncodeCommit(commit)).value(), commit);
  }
  void Add(const std::string& name, uint64_t id) {
    Apply({.added = {{.name = name, .entry = Entry(id, 1)}}});
  }
  void Change(const std::string& name, uint64_t generation) {
    Apply({.parts = {{.name = name, .position = Entry(0, generation).position, .synced = true}}});
  }
  void ListCheckpoint(const std::string& name, uint64_t generation) {
    Apply({.parts = {{.name = name, .position = Entry(0, generation).position}}});
  }
  void PutCopy(const std::string& name, uint64_t id) {
    Apply({.removed = {name}, .added = {{.name = name, .entry = Entry(id, 1), .replaces = true}}});
  }
  std::vector<uint64_t> Kept() const {
    std::vector<uint64_t> numbers;
    for (const CommitInfo& commit : ListCommits(ledger_.table)) numbers.push_back(commit.number);
    return numbers;
  }
  MemberTable MembersAt(uint64_t number) const {
    return LedgerAt(ledger_, number).value()->table.members;
  }

  Ledger ledger_;
};

TEST_F(JoinedCommitsTest, CommitsWithoutContentPushNoneOut) {
  Add("/a", 1);
  Add("/b", 2);
  const MemberTable second = ledger_.table.members;
  Change("/a", 2);
  const MemberTable third = ledger_.table.members;
  for (uint64_t i = 0; i < 20; ++i) {
    ListCheckpoint("/a", 3 + i);
    PutCopy("/b", 10 + i);
  }
  EXPECT_EQ(Kept(), (std::vector<uint64_t>{1, 2, 3, 43})) << "the newest is listed";
  EXPECT_EQ(ListCommits(ledger_.table).back(), (CommitInfo{.number = 43}));
  EXPECT_EQ(MembersAt(2), second);
  EXPECT_EQ(MembersAt(3), third);
  EXPECT_EQ(MembersAt(42), third) << "has the same content";
  EXPECT_EQ(LedgerAt(ledger_, 42).value()->table.number, 3);
  EXPECT_EQ(LedgerAt(ledger_, 42).value()->commits.size(), 3);
  EXPECT_EQ(ledger_.table.past.back()->edits.size(), 2) << "edits pile up";
  Change("/a", 50);
  EXPECT_EQ(Kept(), (std::vector<uint64_t>{2, 3, 44}));
  EXPECT_EQ(ListCommits(ledger_.table).back(), (CommitInfo{.number = 44, .changed = {"/a"}}));
  EXPECT_EQ(MembersAt(3), third);
  EXPECT_EQ(MembersAt(2), second);
}

TEST_F(JoinedCommitsTest, FilesOfCommitsThatAreKeptAreKnown) {
  Add("/a", 1);
  const auto removed = [&] {
    std::vector<uint64_t> ids;
    for (const RemovedMember& member : RemovedMembers(ledger_.table)) ids.push_back(member.id);
    return ids;
  };
  PutCopy("/a", 2);
  EXPECT_EQ(removed(), (std::vector<uint64_t>{1}));
  PutCopy("/a", 3);
  EXPECT_EQ(removed(), (std::vector<uint64_t>{1})) << "no commit that is kept has file 2";
  Apply({.removed = {"/a"}});
  EXPECT_EQ(removed(), (std::vector<uint64_t>{1}));
  EXPECT_EQ(RemovedMembers(ledger_.table)[0].number, 4);
  EXPECT_EQ(ListCommits(ledger_.table).back(), (CommitInfo{.number = 4, .removed = {"/a"}}));
  EXPECT_EQ(MembersAt(3).at("/a"), Entry(1, 1));
}

TEST_F(JoinedCommitsTest, EditsOfOneMemberAreJoined) {
  Add("/a", 1);
  Change("/a", 2);
  ListCheckpoint("/a", 3);
  Change("/a", 4);
  EXPECT_EQ(MembersAt(3).at("/a"), Entry(1, 2));
  EXPECT_EQ(GenerationsOf("/a", ledger_).back().number, 4);
  ListCheckpoint("/a", 5);
  PutCopy("/a", 7);
  Change("/a", 2);
  EXPECT_EQ(MembersAt(6).at("/a"), Entry(1, 4)) << "that of commit 4, in its own file";
  // The file of the copy is new since then.
  EXPECT_EQ(GenerationsOf("/a", ledger_).front().number, 7);
  ListCheckpoint("/a", 3);
  Apply({.removed = {"/a"}});
  EXPECT_EQ(MembersAt(8).at("/a"), Entry(7, 2));
  EXPECT_EQ(MembersAt(4).at("/a"), Entry(1, 4));
}

TEST_F(JoinedCommitsTest, CompactedMemberOfACommitWithContentIsNotListed) {
  Add("/a", 1);
  Add("/b", 2);
  Apply({.removed = {"/a"},
         .added = {{.name = "/a", .entry = Entry(3, 1), .replaces = true},
                   {.name = "/c", .entry = Entry(4, 1)}}});
  EXPECT_EQ(ListCommits(ledger_.table).back(), (CommitInfo{.number = 3, .added = {"/c"}}));
  EXPECT_EQ(MembersAt(2).at("/a"), Entry(1, 1));
  EXPECT_EQ(Kept(), (std::vector<uint64_t>{1, 2, 3}));
}

TEST_F(JoinedCommitsTest, FewerCommitsAreKeptWithoutContentInBetween) {
  Add("/a", 1);
  Change("/a", 2);
  ListCheckpoint("/a", 3);
  KeepPast(1, ledger_.table);
  EXPECT_EQ(Kept(), (std::vector<uint64_t>{1, 2, 3}));
  KeepPast(0, ledger_.table);
  EXPECT_EQ(Kept(), (std::vector<uint64_t>{3}));
  KeepPast(5, ledger_.table);
  Change("/a", 4);
  EXPECT_EQ(Kept(), (std::vector<uint64_t>{3, 4})) << "the oldest is named as it was";
}

}  // namespace
}  // namespace cairn::collection
