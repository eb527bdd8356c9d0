#include "fuzz/peer_defects.h"

#include <algorithm>

#include "absl/functional/function_ref.h"

#include "cairn/chunk.h"
#include "engine/base/endian.h"

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

// Returns true if it holds for the size of a whole block, or of the last one.
bool IsSoForABlock(const ChunkInfo& info, absl::FunctionRef<bool(int32_t size)> holds) {
  if (info.nbytes == 0) return false;
  const int32_t last = info.nbytes % info.blocksize;
  return (info.nbytes >= info.blocksize && holds(info.blocksize)) || (last > 0 && holds(last));
}

// Blocks that are not a multiple of eight items were not bitshuffled until version 3; C-Blosc2
// knows this of version 2 alone, and leaves unwritten there what lies behind the items of others.
bool IsBitshuffledOtherwise(const ChunkInfo& info) {
  if (info.version > 3 || info.vlblocks || !Has(info, Filter::kBitShuffle)) return false;
  return IsSoForABlock(info, [&](int32_t size) {
    const bool by_eights = size / info.typesize % 8 == 0;
    return info.version == 2 ? by_eights && size % info.typesize != 0 : !by_eights;
  });
}

// The old BYTEDELTA leaves unwritten what lies behind the channels of a block.
bool LeavesBytesUnwritten(const ChunkInfo& info) {
  return !info.vlblocks && std::ranges::any_of(info.filters, [&](const FilterStage& stage) {
    if (stage.filter != Filter::kByteDeltaBuggy) return false;
    const int32_t channels = stage.meta != 0 ? stage.meta : info.typesize;
    return IsSoForABlock(info, [=](int32_t size) { return size % channels != 0; });
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
  if (info->special == SpecialValue::kUninit) return true;
  if (IsBitshuffledOtherwise(*info)) return true;
  if (IsCutOtherwiseThanItSays(chunk, *info)) return true;
  if (IsTakenAsSplit(*info) || LeavesBytesUnwritten(*info)) return true;
  // Variable blocks are each coded for themselves, and decoded against the first.
  return info->vlblocks && Has(*info, Filter::kDelta);
}

}  // namespace cairn::fuzz
