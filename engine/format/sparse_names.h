// The names of the files of a sparse frame (README_SFRAME_FORMAT of C-Blosc2).
#ifndef CAIRN_ENGINE_FORMAT_SPARSE_NAMES_H_
#define CAIRN_ENGINE_FORMAT_SPARSE_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cairn::format {

// The file with header, index and trailer.
inline constexpr std::string_view kIndexFileName = "chunks.b2frame";
// File systems take names of up to this many bytes.
inline constexpr size_t kMaxNameSize = 255;
// Returns the beginning of temporary names of a base: the base, or as much of it as leaves space
// for the rest.
std::string_view TemporaryStemOf(std::string_view base);
// Returns true for the name of a file that waits for the name, or lost it: that stem, 16
// hexadecimal digits and ".tmp".
bool IsTemporaryNameOf(std::string_view base, std::string_view name);
// Returns true for the temporary name of an index.
inline bool IsOtherIndexName(std::string_view name) {
  return IsTemporaryNameOf(kIndexFileName, name);
}
// The lock file that C-Blosc2 makes next to the index when asked to.
inline constexpr std::string_view kLockFileName = ".b2lock";
// Numbers have eight hexadecimal digits.
inline constexpr int64_t kMaxChunkFileNumber = 0xFFFFFFFF;

// Returns the file name of a stored chunk, such as "0000001A.chunk".
std::string ChunkFileName(int64_t number);
// Returns the number of a chunk file's name, or nothing for any other name.
std::optional<int64_t> ParseChunkFileName(std::string_view name);

}  // namespace cairn::format

#endif  // CAIRN_ENGINE_FORMAT_SPARSE_NAMES_H_
