// Loads frames of formats older than today's, which can be read but not written.
#ifndef CAIRN_ENGINE_FRAME_OPEN_LEGACY_LOADER_H_
#define CAIRN_ENGINE_FRAME_OPEN_LEGACY_LOADER_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/frame/files/frame_file.h"
#include "engine/frame/state/frame_context.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// Returns the era of the frame that begins at the source. Errors: kInvalidArgument if it is not a
// Blosc2 frame.
absl::StatusOr<Era> FindEra(const FrameFile& source);

// Loads a frame of an `era` before kCurrent.
absl::StatusOr<StatePtr> LoadLegacy(const FrameFile& source, Era era,
                                    std::shared_ptr<const FrameContext> env);

// Errors: kFailedPrecondition for a frame of an era that is only read.
absl::Status CheckWritable(const State& state);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_OPEN_LEGACY_LOADER_H_
