// Reads the parts of a stored checkpoint of any era: header, trailer, seal and index.
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

// Returns the bytes of the header, which has `least` or more. The first `fixed` ones give its
// length.
absl::StatusOr<std::vector<std::byte>> ReadHeaderBytes(const FrameFile& source, int64_t fixed,
                                                       int64_t least);

// Fails unless the header's frame_size leaves space for header and trailer, and lies in the file.
absl::Status CheckFrameSize(const format::FrameHeader& header, int64_t least_trailer,
                            int64_t available);

// Returns the bytes of the trailer that ends at `end`, at most `most`.
absl::StatusOr<Chunk> PinTrailer(const FrameView& region, int64_t end, int64_t most);

// Returns the number of chunks on which header and index agree. With variable chunks the index
// alone tells it. Errors: kDataLoss if they differ.
absl::StatusOr<int64_t> AgreeOnCount(const format::FrameHeader& header, const chunk::Header& index);

struct FoundIndex {
  Chunk chunk;  // empty in an empty frame
  int64_t nchunks = 0;
};

// Returns the index chunk, which lies between the chunks and the trailer. Fills in
// checkpoint.index.
absl::StatusOr<FoundIndex> FindIndexChunk(const FrameView& region, Checkpoint& checkpoint);
// Gives the state the chunks of the index, which lie before it. `seal` is that of the index, if it
// has one.
absl::Status AttachIndex(FoundIndex found, std::optional<IndexSeal> seal, State& state);

// Fills in the facts that `trailer` holds about the seal of a checkpoint of `nchunks` chunks, whose
// header is known. The result seals the index, or is empty if chunks cannot be checked. A trailer
// that is not the sealed one gives `trailer_damage`: chunks can still be read, but unchecked. A
// trailer that another Blosc2 wrote has no fingerprint. The frame is then not sealed, which is not
// damage. Errors: kDataLoss if the header is not the sealed one.
absl::StatusOr<std::optional<IndexSeal>> CheckSeal(const format::Trailer& trailer,
                                                   const Chunk& trailer_chunk, int64_t nchunks,
                                                   Checkpoint& checkpoint);

// Errors: kDataLoss if the trailer does not match its fingerprint.
absl::Status CheckTrailerFingerprint(const format::Trailer& trailer, Bytes trailer_bytes);

// Returns the seal in a trailer, wherever its frame is and whether or not its fingerprint is right.
// Errors: kDataLoss if there is none that can be parsed.
absl::StatusOr<format::Seal> SealOf(const format::Trailer& trailer, Bytes trailer_bytes);

// Returns the vlmetalayers in a trailer of these bytes, without Cairn's own.
std::vector<VlMetalayer> VlMetalayersOf(const format::Trailer& trailer, const Chunk& bytes);

// Returns the header that a frame had when its trailer ended at `end`, from its copy in the seal.
absl::StatusOr<std::vector<std::byte>> HeaderOfTrailerAt(const FrameFile& source, int64_t end);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_OPEN_CHECKPOINT_PARTS_H_
