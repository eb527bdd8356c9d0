#include "engine/collection/objects/checkpoint_policy.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/base/random.h"

namespace cairn::collection {

namespace {

// A reader that opens the collection sends a request for each commit since the ledger's checkpoint.
// Of the writers that find this many, about one in `kOneOf` writes a checkpoint; at twice as many,
// every writer does.
constexpr size_t kManyCommits = 128;
constexpr uint64_t kOneOf = 4;
// A writer that closes writes a checkpoint after this many commits, if no more members have changed
// than there are commits. So it puts at most two objects for each commit, and whoever opens gets 16
// records at most, as long as writers do not stay open. A program that opens, changes ten members
// and closes takes 14 to 29 requests then, and 34 for the checkpoint.
constexpr size_t kManyToClose = 16;
// The bytes of commits are read by each reader, too. More than eight tables are worth a checkpoint.
constexpr int64_t kMaxCommitBytes = 4 << 20;
constexpr int64_t kTableEntryBytes = 64;  // of a table, about

}  // namespace

std::set<std::string> Touched(const Ledger& ledger) {
  std::set<std::string> touched;
  const auto add = [&](const std::string& name) {
    if (ledger.table.members.contains(name)) touched.insert(name);
  };
  for (const auto& commit : ledger.commits) {
    for (const MemberPart& part : commit->parts) add(part.name);
  }
  return touched;
}

bool IsLong(const Ledger& ledger) {
  const auto members = static_cast<int64_t>(ledger.table.members.size());
  if (ledger.commit_bytes > std::max(kMaxCommitBytes, 8 * kTableEntryBytes * members)) return true;
  const size_t commits = ledger.commits.size() + ledger.dropped_commits;
  return commits > 2 * kManyCommits || (commits > kManyCommits && RandomNumber() % kOneOf == 0);
}

bool IsWorthClosing(const Ledger& ledger) {
  const size_t commits = ledger.commits.size() + ledger.dropped_commits;
  return commits >= kManyToClose && !ledger.commits.empty() && Touched(ledger).size() <= commits;
}

}  // namespace cairn::collection
