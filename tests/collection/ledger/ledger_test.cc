// The ledger knows which bytes the file of a member may lack.
#include "engine/collection/ledger/ledger.h"

#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace cairn::collection {
namespace {

FilePatch At(int64_t offset) { return {.offset = offset, .bytes = {std::byte{1}}}; }

// A commit of the member /m, which gets a byte at the offset.
std::shared_ptr<const LedgerCommit> Part(uint64_t generation, int64_t offset, bool synced = false) {
  LedgerCommit commit{.number = generation};
  commit.parts.push_back({.name = "/m",
                          .position = {.generation = generation},
                          .synced = synced,
                          .patches = {At(offset)}});
  return std::make_shared<const LedgerCommit>(std::move(commit));
}

TEST(LedgerTest, PatchesAfterTheCheckpointOfAMemberAreMissing) {
  Ledger ledger;
  ledger.commits = {Part(1, 10), Part(2, 20), Part(3, 30)};
  EXPECT_EQ(ledger.PatchesOf("/m", 1), (std::vector<FilePatch>{At(20), At(30)}));
  EXPECT_TRUE(ledger.PatchesOf("/other", 0).empty());
}

TEST(LedgerTest, PatchesBeforeASyncAreInTheFile) {
  Ledger ledger;
  ledger.commits = {Part(1, 10), Part(2, 20, true), Part(3, 30)};
  EXPECT_EQ(ledger.PatchesOf("/m", 0), (std::vector<FilePatch>{At(20), At(30)}));
}

TEST(LedgerTest, PatchesOfAnotherMemberThatHadTheNameAreVoid) {
  Ledger ledger;
  LedgerCommit replaces{.number = 2, .removed = {"/m"}};
  replaces.added.push_back({.name = "/m", .entry = {.id = 5}});
  ledger.commits = {Part(1, 10), std::make_shared<const LedgerCommit>(std::move(replaces)),
                    Part(3, 30)};
  EXPECT_EQ(ledger.PatchesOf("/m", 0), std::vector<FilePatch>{At(30)});
}

}  // namespace
}  // namespace cairn::collection
