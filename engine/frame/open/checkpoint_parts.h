// The parts of a stored checkpoint, of any era: header, trailer, seal and index.
#ifndef CAIRN_ENGINE_FRAME_OPEN_CHECKPOINT_PARTS_H_
#define CAIRN_ENGINE_FRAME_OPEN_CHECKPOINT_PARTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/chunk.h"
#include "engine/chunk/header.h"
#include "engine/format/frame_header.h"
#include "engine/format/seal.h"
#include "engine/format/trailer.h"
#include "engine/frame/files/frame_file.h"
#include "engine/frame/index/committed_index.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// The bytes of the header, which has `least` or more; the first `fixed` ones give its length.
absl::StatusOr<std::vector<std::byte>> ReadHeaderBytes(const FrameFile& source, int64_t fixed,
                                                       int64_t least);

// Fails unless the header's frame_size leaves space for header and trailer, and lies in the file.
absl::Status CheckFrameSize(const format::FrameHeader& header, int64_t least_trailer,
                            int64_t available);

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

// Fills in what `trailer` says of the seal of a checkpoint of `nchunks` chunks, whose header is
// known. The result seals the index; empty where chunks cannot be checked. kDataLoss when the
// header is not the sealed one. A trailer that is not gives `trailer_damage`: chunks can still be
// read, unchecked. A trailer that another Blosc2 wrote has no fingerprint: the frame is then not
// sealed, which is no damage.
absl::StatusOr<std::optional<IndexSeal>> CheckSeal(const format::Trailer& trailer,
                                                   const Chunk& trailer_chunk, int64_t nchunks,
                                                   Checkpoint& checkpoint);

// kDataLoss unless the trailer is what was written.
absl::Status CheckTrailerFingerprint(const format::Trailer& trailer, Bytes trailer_bytes);

// The seal in a trailer, wherever its frame is and whether or not its fingerprint is right.
// kDataLoss.
absl::StatusOr<format::Seal> SealOf(const format::Trailer& trailer, Bytes trailer_bytes);

// The vlmetalayers in a trailer of these bytes, without Cairn's own.
std::vector<VlMetalayer> VlMetalayersOf(const format::Trailer& trailer, const Chunk& bytes);

// The header that a frame had when its trailer ended at `end`, as the seal in there copied it.
absl::StatusOr<std::vector<std::byte>> HeaderOfTrailerAt(const FrameFile& source, int64_t end);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_OPEN_CHECKPOINT_PARTS_H_
