#include "fuzz/peer_defects.h"

#include <algorithm>

#include "cairn/chunk.h"
#include "fuzz/lz4_streams.h"

namespace cairn::fuzz {
namespace {

bool Has(const ChunkInfo& info, Filter filter) {
  return std::ranges::find(info.filters, filter, &FilterStage::filter) != info.filters.end();
}

}  // namespace

bool PeerIsKnownToDiffer(Bytes chunk) {
  const absl::StatusOr<ChunkInfo> info = InspectChunk(chunk);
  if (!info.ok()) return true;
  // Undefined: what an old bitshuffled block holds behind its items, and uninitialised values.
  if (info->version <= 3 && Has(*info, Filter::kBitShuffle)) return true;
  if (info->special == SpecialValue::kUninit) return true;
  return RepeatsAtNoDistance(chunk);
}

}  // namespace cairn::fuzz
