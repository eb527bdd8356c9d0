// Makes the ledger of a collection and its members agree again.
#ifndef CAIRN_ENGINE_COLLECTION_WRITE_COLLECTION_RECOVER_H_
#define CAIRN_ENGINE_COLLECTION_WRITE_COLLECTION_RECOVER_H_

#include <string>

#include "absl/status/statusor.h"

#include "cairn/collection.h"
#include "engine/collection/ledger/ledger_codec.h"
#include "engine/collection/members/site.h"

namespace cairn::collection {

// Makes the frame at `path` complete and durable in the newest state that it holds by itself, and
// returns the position of that state. Errors: those of Frame::OpenWriter; kFailedPrecondition for a
// link, a directory and a file with two names.
absl::StatusOr<Position> MakeComplete(const std::string& path, const Site& site);

// Returns true if the status of MakeComplete says that the file cannot be that of a member, and not
// that it cannot be looked at for the moment.
bool IsNoMember(const absl::Status& status);
// Adds the frames in the directory that the table does not have to it, and to the report. Errors:
// those of MakeComplete for which IsNoMember is false.
absl::Status AdoptUnlisted(const Site& site, LedgerTable& table, CollectionRecovery& report);

// See Collection::Recover.
absl::StatusOr<CollectionRecovery> RecoverCollection(const std::string& path,
                                                     const CollectionOptions& options);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_WRITE_COLLECTION_RECOVER_H_
