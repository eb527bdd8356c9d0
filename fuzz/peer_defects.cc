#include "fuzz/peer_defects.h"

#include <algorithm>

#include "cairn/chunk.h"
#include "engine/base/endian.h"
#include "fuzz/lz4_streams.h"

namespace cairn::fuzz {
namespace {

bool Has(const ChunkInfo& info, Filter filter) {
  return std::ranges::find(info.filters, filter, &FilterStage::filter) != info.filters.end();
}

// C-Blosc 1.x did not split these blocks, whatever the flags say.
bool IsTakenAsSplit(const ChunkInfo& info) {
  return info.version <= 2 && info.split &&
         (info.typesize > 16 || info.blocksize / info.typesize < 128);
}

// The old BYTEDELTA leaves unwritten what lies behind the channels of a block.
bool LeavesBytesUnwritten(const ChunkInfo& info) {
  return !info.vlblocks && std::ranges::any_of(info.filters, [&](const FilterStage& stage) {
    if (stage.filter != Filter::kByteDeltaBuggy) return false;
    const int32_t channels = stage.meta != 0 ? stage.meta : info.typesize;
    return info.blocksize % channels != 0 || info.nbytes % info.blocksize % channels != 0;
  });
}

// The first chunk of a context of C-Blosc2 was cut into whole items, whatever its header says.
bool IsCutOtherwiseThanItSays(Bytes chunk, const ChunkInfo& info) {
  if (info.vlblocks || info.memcpyed || info.special != SpecialValue::kNone) return false;
  constexpr size_t kBlocksize = 8;
  const int64_t said = LoadLe<uint32_t>(&chunk[kBlocksize]);
  return std::min<int64_t>(said, info.nbytes) != std::min(info.blocksize, info.nbytes);
}

}  // namespace

bool PeerIsKnownToDiffer(Bytes chunk) {
  const absl::StatusOr<ChunkInfo> info = InspectChunk(chunk);
  if (!info.ok()) return true;
  // Undefined: what an old bitshuffled block holds behind its items, and uninitialised values.
  if (info->version <= 3 && Has(*info, Filter::kBitShuffle)) return true;
  if (info->special == SpecialValue::kUninit) return true;
  if (IsCutOtherwiseThanItSays(chunk, *info)) return true;
  if (IsTakenAsSplit(*info) || LeavesBytesUnwritten(*info)) return true;
  // Variable blocks are each coded for themselves, and decoded against the first.
  if (info->vlblocks && Has(*info, Filter::kDelta)) return true;
  return RepeatsAtNoDistance(chunk);
}

}  // namespace cairn::fuzz
