// Increments of collections: what leads from one state of all members to another one.
#ifndef CAIRN_ENGINE_COLLECTION_COLLECTION_INCREMENT_H_
#define CAIRN_ENGINE_COLLECTION_COLLECTION_INCREMENT_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/copy.h"
#include "engine/collection/collection_core.h"

namespace cairn::collection {

// Returns a hash of the names of all members, their kinds and their contents.
absl::StatusOr<uint64_t> ContentHashOf(const View& view);

// Errors: kFailedPrecondition if the view is not that of an increment.
absl::StatusOr<IncrementInfo> IncrementInfoOf(const View& increment);

// Checks that the view is a state of a collection. What is stored for a member of an increment may
// be a change of it, which no reader must take for its content. Errors: kFailedPrecondition.
absl::Status CheckIsNoIncrement(const View& view);

// Makes the state that the increment leads to, in one commit. Returns false if the collection has
// it already.
absl::StatusOr<bool> ApplyIncrement(CollectionCore& core, const View& increment,
                                    const CollectionWriterOptions& options);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_COLLECTION_INCREMENT_H_
