// Matches the chunks of a state with those of a later one.
#ifndef CAIRN_ENGINE_FRAME_INDEX_CHUNK_DIFF_H_
#define CAIRN_ENGINE_FRAME_INDEX_CHUNK_DIFF_H_

#include <cstdint>
#include <span>
#include <vector>

namespace cairn::frame {

// Returns, for each chunk of `now`, the chunk of `since` with the same key, each at most once, or
// -1. Chunks that kept their number, from the front or from the end, cost one comparison. The
// others are sorted.
std::vector<int64_t> MatchChunks(std::span<const uint64_t> since, std::span<const uint64_t> now);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_INDEX_CHUNK_DIFF_H_
