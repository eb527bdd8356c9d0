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
  const auto listed = GenerationsOf("/b", ledger_.table);
  ASSERT_EQ(listed.size(), 3u);
  EXPECT_EQ(listed[0].number, 1u);
  EXPECT_EQ(listed[0].generation, 1u);
  EXPECT_EQ(listed[1].number, 2u);
  EXPECT_EQ(listed[1].generation, 4u);
  EXPECT_EQ(listed[2].number, 3u);
  EXPECT_EQ(listed[2].generation, 5u);
  KeepPast(1, ledger_.table);
  EXPECT_EQ(GenerationsOf("/b", ledger_.table)[0].number, 2u) << "or before";
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
                               PastEdit{.name = "/b", .kind = Kind::kRemoved}}) {
    Ledger ledger = ledger_;
    ledger.table.past.back() = std::make_shared<const PastCommit>(PastCommit{edit});
    EXPECT_TRUE(Fails(LedgerAt(ledger, 2).status(), absl::StatusCode::kDataLoss,
                      "commit 3 has changed " + edit.name));
  }
}

}  // namespace
}  // namespace cairn::collection
