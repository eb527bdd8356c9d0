// Encodes the end of a checkpoint and its header, which describe the index and each other.
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

// Returns true if the entry has a stored chunk without a fingerprint in the table.
inline bool IsUncovered(const format::IndexEntry& entry) {
  return !format::IsSpecialEntry(entry.value) && entry.fingerprint == 0;
}

// Makes `header`, that of a contiguous frame, say that the index begins at `begin`. Errors:
// kResourceExhausted if chunks may have any size and the area before the index is too short for
// `nchunks` of them.
absl::Status SetIndexBegin(int64_t begin, int64_t nchunks, format::FrameHeader& header);

struct CheckpointTrailer {
  std::vector<std::byte> bytes;   // without what the table omits
  int64_t table_end = 0;          // position in `bytes` of what the table omits
  std::vector<std::byte> header;  // all of it
};

// Encodes trailer and header of a checkpoint whose trailer begins at `begin`. The frame's size in
// `header`, and what `seal` says of the header and of dead bytes, are filled in. The trailer holds
// the layers of the state, then `table`, then the seal. A frame without Cairn's layers has neither
// of these two: both are null. A sealed frame may lack the table alone.
// Errors: kResourceExhausted if there are too many layers, or if the trailer takes 2 GiB or more.
absl::StatusOr<CheckpointTrailer> EncodeCheckpointTrailer(const StagedState& staged,
                                                          format::FrameHeader header, int64_t begin,
                                                          const format::Seal* seal,
                                                          const format::NamedBytes* table);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_CHECKPOINT_CHECKPOINT_TRAILER_H_
