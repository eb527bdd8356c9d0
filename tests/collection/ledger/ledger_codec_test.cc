#include "engine/collection/ledger/ledger_codec.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/status.h"

namespace cairn::collection {
namespace {

LedgerTable Table() {
  LedgerTable table = {.number = 7};
  table.members["/a"] = {.id = 1, .position = {.generation = 2, .hash = 3, .checkpoint = true}};
  table.members["/g/b"] = {.id = 4, .kind = MemberKind::kOther, .position = {.generation = 5}};
  return table;
}

LedgerCommit Commit() {
  LedgerCommit commit = {.number = 8, .removed = {"/a"}};
  commit.added.push_back({.name = "/a", .entry = {.id = 9, .position = {.generation = 1}}});
  commit.parts.push_back(
      {.name = "/g/b", .position = {.generation = 6, .hash = 10}, .synced = true});
  commit.parts[0].patches.push_back({.offset = 100, .bytes = {std::byte{1}, std::byte{2}}});
  return commit;
}

ObjectCopies Copies() {
  return {{.member = "/a", .id = 9, .number = 1, .bytes = {std::byte{1}, std::byte{2}}},
          {.member = "/g/b", .id = 4, .kind = ObjectCopy::Kind::kChunk, .number = 0xFFFFFFFF}};
}
LedgerCommit CommitWithCopies() {
  LedgerCommit commit = Commit();
  commit.copies = Copies();
  return commit;
}

// The table after that commit, with the one before.
LedgerTable KeptTable() {
  LedgerTable table = Table();
  table.keep = 3;
  EXPECT_TRUE(IsOk(ApplyCommit(Commit(), table)));
  return table;
}

TEST(LedgerCodecTest, LayersAreReadAsTheyWereWritten) {
  EXPECT_EQ(ParseTable(EncodeTable(Table())).value(), Table());
  EXPECT_EQ(ParseTable(EncodeTable({})).value(), LedgerTable());
  EXPECT_EQ(ParseTable(EncodeTable(KeptTable())).value(), KeptTable());
  EXPECT_EQ(ParseLedgerCommit(EncodeCommit(Commit())).value(), Commit());
  EXPECT_EQ(ParseLedgerCommit(EncodeCommit(CommitWithCopies())).value(), CommitWithCopies());
  EXPECT_EQ(ParseCopies(EncodeCopies(Copies())).value(), Copies());
  EXPECT_EQ(ParseCopies(EncodeCopies({})).value(), ObjectCopies());
}

TEST(LedgerCodecTest, DamagedCopiesAreRefused) {
  for (const bool alone : {true, false}) {
    std::vector<std::byte> layer =
        alone ? EncodeCopies(Copies()) : EncodeCommit(CommitWithCopies());
    const auto parse = [&](Bytes bytes) {
      return alone ? ParseCopies(bytes).status() : ParseLedgerCommit(bytes).status();
    };
    for (size_t size = 0; size < layer.size(); ++size) {
      EXPECT_TRUE(IsDamage(parse(Bytes(layer).first(size)), "cairn.")) << size;
    }
    layer.push_back(std::byte{0});
    EXPECT_TRUE(IsDamage(parse(layer), "size")) << "one byte too many";
  }
  ObjectCopies wrong = Copies();
  wrong[0].kind = static_cast<ObjectCopy::Kind>(2);
  EXPECT_TRUE(IsDamage(ParseCopies(EncodeCopies(wrong)).status(), "kind"));
  wrong[0] = Copies()[0];
  wrong[1].number = uint64_t{1} << 32;
  EXPECT_TRUE(IsDamage(ParseCopies(EncodeCopies(wrong)).status(), "number"));
  std::vector<std::byte> none = EncodeCommit(Commit());
  none[5] = std::byte{2};  // the version
  EXPECT_TRUE(IsDamage(ParseLedgerCommit(none).status(), "copies"));
  none[5] = std::byte{4};
  EXPECT_TRUE(Fails(ParseLedgerCommit(none), absl::StatusCode::kUnimplemented, "reads version 3"));
}

TEST(LedgerCodecTest, ReplacedMembersAreTold) {
  LedgerCommit replacing = Commit();
  replacing.added[0].replaces = true;
  EXPECT_EQ(ParseLedgerCommit(EncodeCommit(replacing)).value(), replacing);
}

// Writes the table as version 2 has it: without the numbers of past commits.
std::vector<std::byte> EncodeOldTable(const LedgerTable& table) {
  const size_t members = EncodeTable({.number = table.number, .members = table.members}).size();
  const std::vector<std::byte> now = EncodeTable(table);
  size_t at = members + 8 + 4;
  std::vector<std::byte> old(now.begin(), now.begin() + static_cast<ptrdiff_t>(at));
  for (const auto& commit : table.past) {
    LedgerTable one = {.number = table.number, .keep = 1, .past = {commit}};
    const size_t size = EncodeTable(one).size() - EncodeTable({.keep = 1}).size();
    old.insert(old.end(), now.begin() + static_cast<ptrdiff_t>(at + 8),
               now.begin() + static_cast<ptrdiff_t>(at + size));
    at += size;
  }
  old[5] = std::byte{2};
  const auto size = static_cast<uint32_t>(old.size() - 5);
  for (size_t i = 0; i < 4; ++i) old[1 + i] = static_cast<std::byte>(size >> (24 - 8 * i));
  return old;
}

TEST(LedgerCodecTest, TablesOfTheOlderVersionAreRead) {
  EXPECT_EQ(ParseTable(EncodeOldTable(KeptTable())).value(), KeptTable());
  // Commits that change no content have numbers of their own there.
  LedgerTable table = KeptTable();
  for (uint64_t i = 9; i <= 10; ++i) {
    PastCommit listed = {.before = i - 1};
    listed.edits.push_back({.name = "/a", .kind = PastEdit::Kind::kCheckpointed});
    listed.edits[0].before.position.generation = i;
    table.past.push_back(std::make_shared<const PastCommit>(listed));
    table.number = i;
  }
  const LedgerTable read = ParseTable(EncodeOldTable(table)).value();
  ASSERT_EQ(read.past.size(), 2);
  EXPECT_EQ(*read.past[0], *KeptTable().past[0]);
  EXPECT_EQ(*read.past[1], *table.past[1]) << "leads back to commit 8";
  EXPECT_EQ(read.number, 10);
  // Such a table knows no copies.
  PastCommit copied = {.before = 10};
  copied.edits.push_back({.name = "/a", .kind = PastEdit::Kind::kReplaced});
  table.past.assign(1, std::make_shared<const PastCommit>(copied));
  table.number = 11;
  EXPECT_TRUE(IsDamage(ParseTable(EncodeOldTable(table)).status(), "unknown: 4"));
}

TEST(LedgerCodecTest, PastCommitsThatAreOutOfOrderAreRefused) {
  LedgerTable table = KeptTable();
  PastCommit next = *table.past[0];
  table.number = 20;
  for (const uint64_t before : {7u, 6u, 20u, 21u}) {
    next.before = before;
    table.past.resize(1);
    table.past.push_back(std::make_shared<const PastCommit>(next));
    EXPECT_TRUE(IsDamage(ParseTable(EncodeTable(table)).status(), "number of a past commit"));
  }
  // Only the newest may change no content.
  next.before = 9;
  table.past.resize(1);
  table.past.push_back(std::make_shared<const PastCommit>(PastCommit{.before = 8}));
  EXPECT_TRUE(IsOk(ParseTable(EncodeTable(table))));
  table.past.push_back(std::make_shared<const PastCommit>(next));
  EXPECT_TRUE(IsDamage(ParseTable(EncodeTable(table)).status(), "number of a past commit"));
}

TEST(LedgerCodecTest, CutAndLongLayersAreRefused) {
  for (std::vector<std::byte> layer : {EncodeTable(Table()), EncodeCommit(Commit())}) {
    const auto parse = [&](Bytes bytes) {
      return layer.size() < 100 ? ParseTable(bytes).status() : ParseLedgerCommit(bytes).status();
    };
    for (size_t size = 0; size < layer.size(); ++size) {
      EXPECT_TRUE(IsDamage(parse(Bytes(layer).first(size)), "cairn.")) << size;
    }
    layer.push_back(std::byte{0});
    EXPECT_TRUE(IsDamage(parse(layer), "size")) << "one byte too many";
  }
}

TEST(LedgerCodecTest, DamagedHistoryIsRefused) {
  const std::vector<std::byte> layer = EncodeTable(KeptTable());
  for (size_t size = 0; size < layer.size(); ++size) {
    EXPECT_TRUE(IsDamage(ParseTable(Bytes(layer).first(size)).status(), "cairn.")) << size;
  }
  LedgerTable table = KeptTable();
  PastCommit past = *table.past[0];
  table.past.clear();
  for (past.before = 4; past.before < 8; ++past.before) {
    table.past.push_back(std::make_shared<const PastCommit>(past));
  }
  EXPECT_TRUE(IsDamage(ParseTable(EncodeTable(table)).status(), "4 of 8, of which 3 are kept"));
  table.keep = 100;
  table.past.insert(table.past.end(), 9, table.past[0]);
  EXPECT_TRUE(IsDamage(ParseTable(EncodeTable(table)).status(), "13 of 8, of which 100 are kept"));
}

TEST(LedgerCodecTest, NewerVersionsAreTold) {
  std::vector<std::byte> layer = EncodeTable(Table());
  layer[5] = std::byte{4};
  EXPECT_TRUE(Fails(ParseTable(layer), absl::StatusCode::kUnimplemented, "version 4"));
  layer = EncodeCommit(Commit());
  layer[5] = std::byte{4};
  EXPECT_TRUE(Fails(ParseLedgerCommit(layer), absl::StatusCode::kUnimplemented, "version 4"));
}

TEST(LedgerCodecTest, CommitChangesTheTable) {
  LedgerTable table = Table();
  ASSERT_TRUE(IsOk(ApplyCommit(Commit(), table)));
  EXPECT_EQ(table.number, 8u);
  EXPECT_EQ(table.members.at("/a").id, 9u);
  EXPECT_EQ(table.members.at("/g/b").position.generation, 6u);
  EXPECT_EQ(table.members.at("/g/b").id, 4u) << "the file stays";
}

TEST(LedgerCodecTest, CommitsThatDoNotFitAreDamage) {
  const auto apply = [](LedgerCommit commit) {
    LedgerTable table = Table();
    return ApplyCommit(commit, table);
  };
  EXPECT_TRUE(IsDamage(apply({.number = 9}), "commit 9 follows commit 7"));
  EXPECT_TRUE(IsDamage(apply({.number = 8, .removed = {"/c"}}), "removes /c"));
  EXPECT_TRUE(IsDamage(apply({.number = 8, .added = {{.name = "/a", .entry = {}}}}), "adds /a"));
  EXPECT_TRUE(
      IsDamage(apply({.number = 8, .added = {{.name = "/c", .entry = {}, .replaces = true}}}),
               "replaces /c, which it does not remove"));
  EXPECT_TRUE(
      IsDamage(apply({.number = 8, .parts = {{.name = "/c", .position = {}}}}), "changes /c"));
}

}  // namespace
}  // namespace cairn::collection
