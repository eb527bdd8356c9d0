#include "fuzz/chunk_layout.h"

#include <algorithm>
#include <cstdint>

#include "cairn/chunk.h"
#include "engine/base/endian.h"

namespace cairn::fuzz {
namespace {

// A hostile chunk may claim many, and few will do.
constexpr int32_t kMostBlocks = 4096;

}  // namespace

ChunkLayout::ChunkLayout(Bytes chunk) {
  const absl::StatusOr<ChunkInfo> info = InspectChunk(chunk);
  if (!info.ok() || info->memcpyed || info->special != SpecialValue::kNone) return;
  const size_t header = info->extended ? 32 : 16;
  for (int32_t i = 0; i < std::min(info->nblocks, kMostBlocks); ++i) {
    const size_t position = header + 4 * static_cast<size_t>(i);
    if (position + 4 > chunk.size()) return;
    positions.push_back(position);
    size_t at = LoadLe<uint32_t>(chunk.data() + position);
    // Nothing here tells if a block is split, so bytes that look like one more stream count as one.
    const int nstreams = info->split ? info->typesize : 1;
    for (int stream = 0; stream < nstreams && at < chunk.size() && chunk.size() - at > 4;
         ++stream) {
      sizes.push_back(at);
      const auto size = static_cast<int32_t>(LoadLe<uint32_t>(chunk.data() + at));
      at += 4;
      if (size > 0) {
        // The stream of a variable block goes up to the next one.
        const size_t most =
            std::min(info->vlblocks ? SIZE_MAX : static_cast<size_t>(size), chunk.size() - at);
        streams.push_back({.begin = at, .size = most});
        at += most;
      } else if (size < 0) {
        ++at;
      }
    }
  }
}

}  // namespace cairn::fuzz
