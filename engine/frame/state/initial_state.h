// Makes the state that a new frame begins with, before anything is written.
#ifndef CAIRN_ENGINE_FRAME_STATE_INITIAL_STATE_H_
#define CAIRN_ENGINE_FRAME_STATE_INITIAL_STATE_H_

#include <memory>

#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// Errors: kInvalidArgument for options that no frame can have.
absl::StatusOr<StatePtr> MakeInitialState(const CreateOptions& options,
                                          std::shared_ptr<const FrameContext> env);

// Returns the compression options for new chunks of the frame, as its header gives them.
CompressionOptions CompressionOf(const format::FrameHeader& header);

// Rounds a chunk size down to complete items, but to at least one.
int32_t WholeItems(int32_t chunksize, int32_t typesize);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STATE_INITIAL_STATE_H_
