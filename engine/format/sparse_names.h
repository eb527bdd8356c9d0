// The names of the files of a sparse frame (README_SFRAME_FORMAT of C-Blosc2).
#ifndef CAIRN_ENGINE_FORMAT_SPARSE_NAMES_H_
#define CAIRN_ENGINE_FORMAT_SPARSE_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cairn::format {

// Header, index and trailer.
inline constexpr std::string_view kIndexFileName = "chunks.b2frame";
// Bytes of a name that file systems take.
inline constexpr size_t kMaxNameSize = 255;
// What temporary names of a base begin with: the base, or as much of it as leaves them space.
std::string_view TemporaryStemOf(std::string_view base);
// Of what waits for the name, or lost it: that stem, 16 hexadecimal digits and ".tmp".
bool IsTemporaryNameOf(std::string_view base, std::string_view name);
// Such an index.
inline bool IsOtherIndexName(std::string_view name) {
  return IsTemporaryNameOf(kIndexFileName, name);
}
// The lock that C-Blosc2 makes beside the index when asked to.
inline constexpr std::string_view kLockFileName = ".b2lock";
// Numbers have eight hexadecimal digits.
inline constexpr int64_t kMaxChunkFileNumber = 0xFFFFFFFF;

// The file of a stored chunk: "0000001A.chunk".
std::string ChunkFileName(int64_t number);
// The other way round; nothing for any other name.
std::optional<int64_t> ParseChunkFileName(std::string_view name);

}  // namespace cairn::format

#endif  // CAIRN_ENGINE_FORMAT_SPARSE_NAMES_H_
