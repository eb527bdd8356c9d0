// Removes the objects of a collection that no state needs any more: see
// engine/frame/layout/object_garbage.h.
#ifndef CAIRN_ENGINE_COLLECTION_OBJECTS_COLLECT_OBJECTS_H_
#define CAIRN_ENGINE_COLLECTION_OBJECTS_COLLECT_OBJECTS_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/collection/ledger/ledger.h"
#include "engine/collection/members/site.h"

namespace cairn::collection {

// Returns true if nobody has looked for garbage for a quarter of the grace. Takes one request.
absl::StatusOr<bool> IsCollectionDue(const Site& site);

// Lists the objects, lets `follow` read the newest ledger, and removes the garbage that was listed
// a grace ago. Each member is opened.
absl::Status CollectObjects(const Site& site, const Ledger& ledger,
                            absl::FunctionRef<absl::Status()> follow);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_OBJECTS_COLLECT_OBJECTS_H_
