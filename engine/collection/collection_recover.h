// Makes the ledger of a collection and its members agree again.
#ifndef CAIRN_ENGINE_COLLECTION_COLLECTION_RECOVER_H_
#define CAIRN_ENGINE_COLLECTION_COLLECTION_RECOVER_H_

#include <string>

#include "absl/status/statusor.h"

#include "cairn/collection.h"
#include "engine/collection/ledger_codec.h"
#include "engine/collection/site.h"

namespace cairn::collection {

// Makes the frame at `path` complete and durable in the newest state that it holds by itself, and
// returns the position of that state. Errors: those of Frame::OpenWriter.
absl::StatusOr<Position> MakeComplete(const std::string& path, const Site& site);

// See Collection::Recover.
absl::StatusOr<CollectionRecovery> RecoverCollection(const std::string& path,
                                                     const CollectionOptions& options);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_COLLECTION_RECOVER_H_
