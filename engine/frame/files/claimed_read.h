// Reads whose size only a server, or what it has sent, claims.
#ifndef CAIRN_ENGINE_FRAME_FILES_CLAIMED_READ_H_
#define CAIRN_ENGINE_FRAME_FILES_CLAIMED_READ_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"

namespace cairn::frame {

// Returns true if memory for so many bytes must not be taken before they have come: the file is far
// away, and its size is what a server says.
bool IsClaim(const File& file, int64_t size);

// Bytes [offset, offset + size) of the file. Of a claim they are read part by part, so that memory
// is at most a few times what has come. Errors: those of File::ReadAt.
absl::StatusOr<std::vector<std::byte>> ReadAsItComes(const File& file, int64_t offset,
                                                     int64_t size);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_FILES_CLAIMED_READ_H_
