// Reads whose size a server, or its data, only claims.
#ifndef CAIRN_ENGINE_FRAME_FILES_CLAIMED_READ_H_
#define CAIRN_ENGINE_FRAME_FILES_CLAIMED_READ_H_

#include <cstdint>

#include "absl/status/statusor.h"

#include "cairn/chunk.h"
#include "cairn/file_system.h"

namespace cairn::frame {

// Returns true if memory for this many bytes must not be taken before they have arrived: the file
// is far away, and its size is only the word of a server.
bool IsClaim(const File& file, int64_t size);

// Returns bytes [offset, offset + size) of the file with their owner. A claim is read part by part,
// so that the memory is at most a few times the bytes that have arrived. Errors: those of
// File::ReadAt.
absl::StatusOr<Chunk> ReadAsItComes(const File& file, int64_t offset, int64_t size);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_FILES_CLAIMED_READ_H_
