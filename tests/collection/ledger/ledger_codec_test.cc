#include "engine/collection/ledger/ledger_codec.h"

#include <cstdint>
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
  none[5] = std::byte{3};
  EXPECT_TRUE(Fails(ParseLedgerCommit(none), absl::StatusCode::kUnimplemented, "reads version 2"));
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
  table.past.insert(table.past.end(), 3, table.past[0]);
  EXPECT_TRUE(IsDamage(ParseTable(EncodeTable(table)).status(), "4 of 8, of which 3 are kept"));
  table.keep = 100;
  table.past.insert(table.past.end(), 9, table.past[0]);
  EXPECT_TRUE(IsDamage(ParseTable(EncodeTable(table)).status(), "13 of 8, of which 100 are kept"));
}

TEST(LedgerCodecTest, NewerVersionsAreTold) {
  std::vector<std::byte> layer = EncodeTable(Table());
  layer[5] = std::byte{3};
  EXPECT_TRUE(Fails(ParseTable(layer), absl::StatusCode::kUnimplemented, "version 3"));
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
      IsDamage(apply({.number = 8, .parts = {{.name = "/c", .position = {}}}}), "changes /c"));
}

}  // namespace
}  // namespace cairn::collection
