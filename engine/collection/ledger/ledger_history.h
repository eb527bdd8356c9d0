// Older commits of a collection. The ledger's table tells what the last commits have changed, so it
// leads back from each state to the one before. See CollectionWriterOptions::keep_commits.
#ifndef CAIRN_ENGINE_COLLECTION_LEDGER_LEDGER_HISTORY_H_
#define CAIRN_ENGINE_COLLECTION_LEDGER_LEDGER_HISTORY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/collection.h"
#include "engine/collection/ledger/collection_locks.h"
#include "engine/collection/ledger/ledger.h"
#include "engine/collection/ledger/ledger_codec.h"

namespace cairn::collection {

// Describes the commits that are kept, the oldest first. The newest may change no content.
std::vector<CommitInfo> ListCommits(const LedgerTable& table);

// Returns the state after a commit that is kept, or after the one before if `number` is that of a
// commit that changed no content. Errors: kDataLoss if the table contradicts itself.
absl::StatusOr<std::shared_ptr<const Ledger>> LedgerAt(const Ledger& newest, uint64_t number);

// Returns the generations of a member that are listed since the oldest commit that is kept, or
// since the ledger's checkpoint if that is older, and since which commit, in order.
std::vector<ListedGeneration> GenerationsOf(std::string_view member, const Ledger& ledger);

struct RemovedMember {
  std::string name;
  uint64_t id = 0;      // of its file
  uint64_t number = 0;  // of a commit that does not have it, nor does any newer one
};
// Returns the files that only older commits have.
std::vector<RemovedMember> RemovedMembers(const LedgerTable& table);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_LEDGER_LEDGER_HISTORY_H_
