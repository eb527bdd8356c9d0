// Finds the trailer and the stored index of a checkpoint, of any era.
#ifndef CAIRN_ENGINE_FRAME_OPEN_INDEX_LOADER_H_
#define CAIRN_ENGINE_FRAME_OPEN_INDEX_LOADER_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/chunk.h"
#include "engine/chunk/header.h"
#include "engine/format/frame_header.h"
#include "engine/frame/files/frame_view.h"
#include "engine/frame/index/committed_index.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// The bytes of the trailer that ends there, at most so many.
absl::StatusOr<Chunk> PinTrailer(const FrameView& region, int64_t end, int64_t most);

// How many chunks header and index agree on; with variable chunks the index alone says. kDataLoss.
absl::StatusOr<int64_t> AgreeOnCount(const format::FrameHeader& header, const chunk::Header& index);

struct FoundIndex {
  Chunk chunk;  // none in an empty frame
  int64_t nchunks = 0;
};

// The index chunk, which lies between the chunks and the trailer. Fills in checkpoint.index.
absl::StatusOr<FoundIndex> FindIndexChunk(const FrameView& region, Checkpoint& checkpoint);
// The state's chunks are now those of the index, and lie before it. `seal` if it has one.
absl::Status AttachIndex(FoundIndex found, std::optional<IndexSeal> seal, State& state);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_OPEN_INDEX_LOADER_H_
