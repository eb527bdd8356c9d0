// Frees disk space inside a file, and tells whether that was done.
#ifndef CAIRN_ENGINE_FRAME_FILES_HOLES_H_
#define CAIRN_ENGINE_FRAME_FILES_HOLES_H_

#include <cstdint>

#include "absl/status/status.h"

#include "cairn/file_system.h"
#include "engine/base/extent.h"

namespace cairn::frame {

// Frees the whole pages of these bytes, which become zero. A full disk may lack the room to note
// that; they keep their space then.
absl::Status PunchPages(const Extent& bytes, File& file);

// Returns true if a part of the file may lie in holes. Disk space was reserved up to `reserved`,
// perhaps past the end of the file.
bool MayHaveHoles(const File& file, int64_t reserved);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_FILES_HOLES_H_
