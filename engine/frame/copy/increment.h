// Writes increments: frames that hold the changes between two states of another frame.
#ifndef CAIRN_ENGINE_FRAME_COPY_INCREMENT_H_
#define CAIRN_ENGINE_FRAME_COPY_INCREMENT_H_

#include "absl/status/status.h"

#include "engine/frame/copy/frame_copy.h"

namespace cairn::frame {

// Writes the chunks that `now` has and `since` has not, stored and checked, with the data that
// IncrementApplier needs to make `now` of `since`. Errors: kFailedPrecondition if `since`
// cannot become `now`; otherwise those of CopyFrame.
absl::Status WriteIncrement(const State& since, const State& now, const CopyTarget& target,
                            ChunkProgress progress);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_COPY_INCREMENT_H_
