// Opens a member of a collection in the state that the ledger lists.
#ifndef CAIRN_ENGINE_COLLECTION_MEMBERS_MEMBER_READER_H_
#define CAIRN_ENGINE_COLLECTION_MEMBERS_MEMBER_READER_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "cairn/snapshot.h"
#include "engine/collection/ledger/file_patch.h"
#include "engine/collection/ledger/ledger_codec.h"

namespace cairn::collection {

// Returns the position of a state.
Position PositionOf(const Snapshot& snapshot);

// Returns the patches of the member's commits after a generation.
using PatchesAfter = std::function<std::vector<FilePatch>(uint64_t generation)>;

// Opens the frame at `path` at the position. What the file lacks is taken from the patches.
// Errors: kNotFound if nothing exists there; kDataLoss if the frame does not hold that state.
absl::StatusOr<Snapshot> OpenMemberAt(const std::string& path, const OpenOptions& options,
                                      const Position& position, const PatchesAfter& patches);

// Returns the state at the position, which the frame of `newest` holds. Errors: kDataLoss if it
// does not.
absl::StatusOr<Snapshot> FindPosition(const Snapshot& newest, const Position& position);

// Returns true if the frame has commits that follow the position. Checkpoints, which change
// nothing, may follow it, and so may a file that another library wrote.
absl::StatusOr<bool> IsAhead(const Snapshot& newest, const Position& position);
// Returns what is wrong with a member that is ahead.
absl::Status IsAheadError(const Snapshot& newest, const Position& position);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_MEMBERS_MEMBER_READER_H_
