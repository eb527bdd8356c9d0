// The state that a new frame begins with, before anything is written.
#ifndef CAIRN_ENGINE_FRAME_STATE_INITIAL_STATE_H_
#define CAIRN_ENGINE_FRAME_STATE_INITIAL_STATE_H_

#include <memory>

#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// kInvalidArgument for options that no frame can have.
absl::StatusOr<StatePtr> MakeInitialState(const CreateOptions& options,
                                          std::shared_ptr<const FrameContext> env);

// How the frame wants its new chunks: as its header says.
CompressionOptions CompressionOf(const format::FrameHeader& header);

// Rounded down to complete items, but to no less than one.
int32_t WholeItems(int32_t chunksize, int32_t typesize);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STATE_INITIAL_STATE_H_
