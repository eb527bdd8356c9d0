// The vlmetalayers in which a salvaged frame tells people and programs what it lacks.
#ifndef CAIRN_ENGINE_FRAME_REPAIR_CHUNK_LIST_H_
#define CAIRN_ENGINE_FRAME_REPAIR_CHUNK_LIST_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::frame {

// Chunks whose data is lost.
inline constexpr std::string_view kLostLayer = "lost_chunks";
// Chunks that decode, but that no fingerprint proves to be unchanged.
inline constexpr std::string_view kUnprovenLayer = "unproven_chunks";
// Metalayers that no seal proves to be unchanged.
inline constexpr std::string_view kUnprovenMetalayersLayer = "unproven_metalayers";

// Vlmetalayers whose newest content is lost; see SalvageReport::lost_metalayers.
inline constexpr std::string_view kLostMetalayersLayer = "lost_metalayers";

// Returns numbers in ascending order, such as "3, 7-9".
std::string ChunkList(std::span<const int64_t> chunks);
// Encodes a text in msgpack, as python-blosc2 stores its metadata.
std::vector<std::byte> EncodeText(std::string_view text);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPAIR_CHUNK_LIST_H_
