// Loads the parts behind the chunks of a checkpoint: the index, the trailer, and the seal in it.
#ifndef CAIRN_ENGINE_FRAME_OPEN_CHECKPOINT_END_H_
#define CAIRN_ENGINE_FRAME_OPEN_CHECKPOINT_END_H_

#include <optional>

#include "absl/status/statusor.h"

#include "cairn/chunk.h"
#include "engine/format/trailer.h"
#include "engine/frame/open/checkpoint_parts.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

struct CheckpointEnd {
  Chunk trailer_bytes;
  format::Trailer trailer;
  FoundIndex index;
  std::optional<IndexSeal> seal;  // seals the index, if it has one
};

// Fills in the facts about the end of a checkpoint whose header is known. One of two parts may be
// damaged in the middle of an intact frame:
// - A trailer that cannot be parsed gives `trailer_damage`, and the layers that are left of it.
// - If a sealed index cannot be parsed, each entry is an error when it is asked for.
//
// Errors: kDataLoss for any other damage.
absl::StatusOr<CheckpointEnd> LoadCheckpointEnd(const FrameView& region, Checkpoint& checkpoint);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_OPEN_CHECKPOINT_END_H_
