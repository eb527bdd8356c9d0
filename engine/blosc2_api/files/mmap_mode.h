// How a program asks for a mapped file.
#ifndef CAIRN_ENGINE_BLOSC2_API_FILES_MMAP_MODE_H_
#define CAIRN_ENGINE_BLOSC2_API_FILES_MMAP_MODE_H_

#include <cstdint>
#include <optional>

#include "engine/blosc2_api/process/api.h"

namespace cairn::blosc2_api {

enum class MmapMode : uint8_t {
  kRead,         // "r"
  kUpdate,       // "r+"
  kCreate,       // "w+"
  kCopyOnWrite,  // "c": changes are kept in memory
};

// Returns the mode of the struct, or nothing if it has none of these.
std::optional<MmapMode> ModeOf(const blosc2_stdio_mmap& mapped);

// Returns true if the blosc2_stdio_mmap of the parameters is that of an open file.
inline bool IsOpen(const blosc2_io& io) {
  return static_cast<const blosc2_stdio_mmap*>(io.params)->addr != nullptr;
}

// Ends the mapping, and forgets the file.
void Unmap(blosc2_stdio_mmap& mapped);

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_FILES_MMAP_MODE_H_
