// Whether a batch can be what it says.
#ifndef CAIRN_ENGINE_FRAME_BATCH_CHECK_H_
#define CAIRN_ENGINE_FRAME_BATCH_CHECK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/frame/frame_source.h"
#include "engine/frame/record_finder.h"
#include "engine/frame/replay.h"
#include "engine/frame/state.h"

namespace cairn::frame {

// Names of vlmetalayers.
using LayerNames = std::unordered_set<std::string>;

// Whether each edit fits the state that it meets, the chunks lie between the batch before and this
// one's record, and the totals are those of the result. `tail` is the one that the batch makes.
// `names` are those of the state before, once a batch needed them, and then of the one behind.
absl::Status CheckBatch(const State& before, const FollowingBatch& following, const Tail& tail,
                        std::optional<LayerNames>& names);

// Whether the stored chunks of a batch that passed CheckBatch, so that all of them are no longer
// than it, are what their fingerprints say, by bytes that `finder` saw or the file shows. Those
// that are need no second look when they are read.
absl::StatusOr<bool> HasWholeChunks(const State& before, const FollowingBatch& following,
                                    const FrameSource& source, const RecordFinder& finder);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_BATCH_CHECK_H_
