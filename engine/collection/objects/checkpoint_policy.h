// Says when the ledger of a collection in an object store gets a checkpoint, and which members do.
#ifndef CAIRN_ENGINE_COLLECTION_OBJECTS_CHECKPOINT_POLICY_H_
#define CAIRN_ENGINE_COLLECTION_OBJECTS_CHECKPOINT_POLICY_H_

#include <set>
#include <string>

#include "engine/collection/ledger/ledger.h"

namespace cairn::collection {

// Returns the members that commits since the last checkpoint have changed, and that are still
// there.
std::set<std::string> Touched(const Ledger& ledger);
// Returns true if a commit should be followed by a checkpoint.
bool IsLong(const Ledger& ledger);
// Returns true if a writer that closes should write a checkpoint.
bool IsWorthClosing(const Ledger& ledger);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_OBJECTS_CHECKPOINT_POLICY_H_
