// The end of a checkpoint, and its header: what they say of the index and of each other.
#ifndef CAIRN_ENGINE_FRAME_CHECKPOINT_CHECKPOINT_TRAILER_H_
#define CAIRN_ENGINE_FRAME_CHECKPOINT_CHECKPOINT_TRAILER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

#include "engine/format/frame_header.h"
#include "engine/format/index_entry.h"
#include "engine/format/seal.h"
#include "engine/format/trailer.h"
#include "engine/frame/stage/staged_state.h"

namespace cairn::frame {

// Whether an entry has a stored chunk that the table has no fingerprint of.
inline bool IsUncovered(const format::IndexEntry& entry) {
  return !format::IsSpecialEntry(entry.value) && entry.fingerprint == 0;
}

// The index of a contiguous frame of `header.nbytes` begins there. kResourceExhausted where the
// header cannot say that of so many chunks.
absl::Status SetIndexBegin(int64_t begin, int64_t nchunks, format::FrameHeader& header);

struct CheckpointTrailer {
  std::vector<std::byte> bytes;   // without what the table omits
  int64_t table_end = 0;          // in `bytes`: there is what the table omits
  std::vector<std::byte> header;  // all of it
};

// Of a checkpoint whose trailer begins at `begin`. `header` lacks the frame's size, and `seal` what
// it says of the header; without it neither of Cairn's layers is there. `table`, which may be null,
// comes last but for the seal.
absl::StatusOr<CheckpointTrailer> EncodeCheckpointTrailer(const StagedState& staged,
                                                          format::FrameHeader header, int64_t begin,
                                                          const format::Seal* seal,
                                                          const format::NamedBytes* table);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_CHECKPOINT_CHECKPOINT_TRAILER_H_
