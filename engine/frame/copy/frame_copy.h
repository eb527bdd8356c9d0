// New frames made of committed states beside the writer.
#ifndef CAIRN_ENGINE_FRAME_COPY_FRAME_COPY_H_
#define CAIRN_ENGINE_FRAME_COPY_FRAME_COPY_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/frame/checkpoint/committed_frame.h"
#include "engine/frame/files/frame_location.h"
#include "engine/frame/stage/chunk_sink.h"
#include "engine/frame/stage/staged_state.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// Where a copy goes.
struct CopyTarget {
  FrameLocation location;
  Layout layout = Layout::kContiguous;
  bool overwrite = false;
};

// Whether the state can be copied as it is. kDataLoss for damage that hides a part of it;
// kUnimplemented for a frame of an older era.
absl::Status CheckCopyable(const State& state);

// Makes a frame of what `fill` stores in a sink, after a header of `header_len` bytes. It gets the
// generation of `source`, and appears under its name when it is complete and durable.
// kAlreadyExists. A failure leaves nothing.
absl::Status PublishCopy(const State& source, int64_t header_len, const CopyTarget& target,
                         absl::FunctionRef<absl::StatusOr<StagedState>(ChunkSink&)> fill);

// Copies the state without a dead byte, sealed. Chunks are checked, not coded again. kDataLoss for
// damage; kCancelled when `progress` says stop.
absl::Status CopyFrame(const State& state, const CopyTarget& target, ChunkProgress progress);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_COPY_FRAME_COPY_H_
