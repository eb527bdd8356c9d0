// Makes new frames of committed states while writers may continue.
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

// The place and the form of a copy.
struct CopyTarget {
  FrameLocation location;
  Layout layout = Layout::kContiguous;
  bool overwrite = false;
};

// Checks that the state can be copied as it is. Errors: kDataLoss for damage that hides a part of
// it; kUnimplemented for a frame of an older era.
absl::Status CheckCopyable(const State& state);

// Makes a frame of the chunks that `fill` stores in a sink, after a header of `header_len` bytes.
// It gets the generation of `source`, and appears under its name when it is complete and durable. A
// failure leaves nothing. Errors: kAlreadyExists if the target exists and must not be overwritten.
absl::Status PublishCopy(const State& source, int64_t header_len, const CopyTarget& target,
                         absl::FunctionRef<absl::StatusOr<StagedState>(ChunkSink&)> fill);

// Copies the state without a dead byte, sealed. Chunks are checked, but not recompressed. Errors:
// kDataLoss for damage; kCancelled if `progress` returns false.
absl::Status CopyFrame(const State& state, const CopyTarget& target, ChunkProgress progress);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_COPY_FRAME_COPY_H_
