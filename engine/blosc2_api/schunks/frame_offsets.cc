// The index of a frame, as C-Blosc2 stores it.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "cairn/frame_info.h"
#include "cairn/snapshot.h"
#include "engine/base/status.h"
#include "engine/blosc2_api/files/frame_store.h"
#include "engine/blosc2_api/process/api.h"
#include "engine/blosc2_api/process/codes.h"

namespace cairn::blosc2_api {

namespace {

// Returns the entry of a chunk that the index itself stands for: a byte that says the value, in
// front of zeros.
int64_t SpecialEntry(SpecialValue special) {
  const uint64_t kind = uint64_t{0x80} | static_cast<uint8_t>(special);
  return static_cast<int64_t>(kind << 56);
}

absl::StatusOr<std::vector<int64_t>> OffsetsOf(blosc2_frame_s& frame) {
  CAIRN_ASSIGN_OR_RETURN(const Snapshot snapshot, frame.State());
  std::vector<int64_t> offsets;
  for (int64_t i = 0; i < snapshot.info().nchunks; ++i) {
    CAIRN_ASSIGN_OR_RETURN(const ChunkEntry entry, snapshot.GetEntry(i));
    if (entry.offset.has_value()) {
      offsets.push_back(*entry.offset - snapshot.info().header_len);
    } else {
      offsets.push_back(entry.file.has_value() ? *entry.file : SpecialEntry(entry.special));
    }
  }
  return offsets;
}

}  // namespace

}  // namespace cairn::blosc2_api

int64_t* blosc2_frame_get_offsets(blosc2_schunk* schunk) {
  namespace api = cairn::blosc2_api;
  if (schunk->frame == nullptr) {
    api::Failed(BLOSC2_ERROR_INVALID_PARAM, "offsets: the super-chunk has no frame");
    return nullptr;
  }
  const auto offsets = api::OffsetsOf(*schunk->frame);
  if (!offsets.ok()) {
    api::CodeOf(offsets.status());
    return nullptr;
  }
  auto* const copy = static_cast<int64_t*>(std::malloc(offsets->size() * sizeof(int64_t) + 1));
  if (copy != nullptr) std::ranges::copy(*offsets, copy);
  return copy;
}
